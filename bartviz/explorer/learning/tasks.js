// What a learner may learn: texts with the answers, drawn at random, and for each word of an answer the place in the
// text that it comes from.

const MARKS = ["<s>", "</s>"];
export const BEGIN = 0;
export const END = 1;
const LETTERS = [..."abcdefgh"];
const SHORTEST = 4,
  LONGEST = 7;
const KEPT_BACK = 10; // one text in ten is never learned from

/** @typedef {{ words: string[], answer: string[], places: number[] }} Example places: where each word of the answer is */

const drawn = (random, list) => list[random.below(list.length)];

/** @returns {string[]} */
const letters = (random) =>
  Array.from({ length: SHORTEST + random.below(LONGEST - SHORTEST + 1) }, () => drawn(random, LETTERS));

/** The places of a text, in the order of the answer. @returns {Example} */
const ordered = (words, places) => ({ words, answer: places.map((place) => words[place]), places });

const placesOf = (words) => words.map((_, place) => place);
const reversed = (words) => ordered(words, placesOf(words).reverse());
const sorted = (words) =>
  ordered(
    words,
    placesOf(words).sort((a, b) => LETTERS.indexOf(words[a]) - LETTERS.indexOf(words[b]) || a - b),
  );

// Forty words of German. Nouns with their gender, which decides the article: the subject's, and the object's.
const ARTICLES = { m: ["der", "den"], f: ["die", "die"], n: ["das", "das"] };
const NOUNS = {
  hund: ["dog", "m"],
  vogel: ["bird", "m"],
  mann: ["man", "m"],
  lehrer: ["teacher", "m"],
  arzt: ["doctor", "m"],
  fisch: ["fish", "m"],
  katze: ["cat", "f"],
  frau: ["woman", "f"],
  kuh: ["cow", "f"],
  maus: ["mouse", "f"],
  pferd: ["horse", "n"],
  kind: ["child", "n"],
  schaf: ["sheep", "n"],
  huhn: ["hen", "n"],
};
const VERBS = {
  sieht: "sees",
  hört: "hears",
  sucht: "seeks",
  findet: "finds",
  liebt: "loves",
  ruft: "calls",
  fragt: "asks",
  kennt: "knows",
  malt: "paints",
  wäscht: "washes",
};
const ADJECTIVES = { kleine: "small", alte: "old", junge: "young", gute: "good" };
const ADVERBS = { heute: "today", oft: "often", jetzt: "now", hier: "here" };
const ENGLISH = {
  der: "the",
  die: "the",
  das: "the",
  den: "the",
  ...Object.fromEntries(Object.entries(NOUNS).map(([german, [english]]) => [german, english])),
  ...VERBS,
  ...ADJECTIVES,
  ...Object.fromEntries(Object.entries(ADJECTIVES).map(([german, english]) => [`${german}n`, english])),
  ...ADVERBS,
};

/** A sentence of German: an adverb comes first and draws the verb before the subject, which English leaves behind it. */
function sentence(random) {
  const group = (object) => {
    const noun = drawn(random, Object.keys(NOUNS)),
      gender = NOUNS[noun][1],
      adjective =
        random.share() < 0.3 ? [drawn(random, Object.keys(ADJECTIVES)) + (object && gender === "m" ? "n" : "")] : [];
    return [ARTICLES[gender][object], ...adjective, noun];
  };
  const subject = group(0),
    verb = drawn(random, Object.keys(VERBS)),
    adverb = random.share() < 0.5 ? [drawn(random, Object.keys(ADVERBS))] : [];
  return adverb.length ? [...adverb, verb, ...subject, ...group(1)] : [...subject, verb, ...group(1)];
}

/** The translation of a sentence of these words; in any other order the words one by one. */
function translated(words) {
  const places = placesOf(words);
  if (words[0] in ADVERBS && words[1] in VERBS) {
    const object = places.find(
      (place) => place > 2 && Object.values(ARTICLES).some((pair) => pair.includes(words[place])),
    );
    if (object) places.splice(object - 1, 0, ...places.splice(1, 1));
  }
  return { words, answer: places.map((place) => ENGLISH[words[place]]), places };
}

const german = Object.keys(ENGLISH),
  english = [...new Set(Object.values(ENGLISH))];

/**
 * @typedef {{ source: string[], target: string[], most: number, draw: (random: any) => string[],
 *   solved: (words: string[]) => Example, split: (text: string) => string[], joined: (words: string[]) => string,
 *   first: string[] }} Task most: words of a text at most; first: the text that is shown first
 */

const spelled = { source: [...MARKS, ...LETTERS], target: [...MARKS, ...LETTERS], most: LONGEST, draw: letters };
const signs = { split: (text) => [...text.toLowerCase().replace(/\s/g, "")], joined: (words) => words.join("") };

/** @type {{ [name: string]: Task }} */
export const TASKS = {
  reverse: { ...spelled, ...signs, solved: reversed, first: [..."abcdefg"] },
  sort: { ...spelled, ...signs, solved: sorted, first: [..."gbecahd"] },
  translate: {
    source: [...MARKS, ...german],
    target: [...MARKS, ...english],
    most: 8,
    draw: sentence,
    solved: translated,
    split: (text) =>
      text
        .toLowerCase()
        .split(/[^\p{L}]+/u)
        .filter(Boolean),
    joined: (words) => words.join(" "),
    first: ["heute", "sieht", "der", "kleine", "hund", "die", "katze"],
  },
};

/** Whether a text is kept back from learning, by a hash of its letters (FNV-1a): always the same texts. */
export function keptBack(words) {
  let hash = 0x811c9dc5;
  for (const sign of words.join(" ")) hash = Math.imul(hash ^ sign.codePointAt(0), 0x01000193);
  return ((hash ^ (hash >>> 13)) >>> 0) % KEPT_BACK === 0;
}

/** An example to learn from, or one that is kept back. */
export function example(task, random, kept) {
  for (;;) {
    const words = task.draw(random);
    if (keptBack(words) === kept) return task.solved(words);
  }
}

/** Examples of one length as ids, one after another: what is read on both sides, and what is to be written. */
export function partOf(task, examples) {
  const ids = (words, list) => list.map((word) => words.indexOf(word));
  const rows = (make) => Uint8Array.from(examples.flatMap(make));
  return {
    texts: examples.length,
    source: rows(({ words }) => [...ids(task.source, words), END]),
    read: rows(({ answer }) => [BEGIN, ...ids(task.target, answer)]),
    write: rows(({ answer }) => [...ids(task.target, answer), END]),
  };
}

/** Examples in groups of one length, so that none has to be filled up. @param {Example[]} examples */
export function byLength(examples) {
  const groups = new Map();
  for (const one of examples) groups.set(one.words.length, [...(groups.get(one.words.length) ?? []), one]);
  return /** @type {Example[][]} */ ([...groups.values()]);
}

/** A batch to learn from, in parts of one length. */
export const batch = (task, random, texts) =>
  byLength(Array.from({ length: texts }, () => example(task, random, false))).map((examples) => partOf(task, examples));
