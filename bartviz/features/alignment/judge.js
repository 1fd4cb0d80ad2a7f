// Two lines of words, side by side: a word says its weights, and two are linked by clicking one of each line. Text reaches
// the page only through textContent. data is UTF-8 JSON: {sides: [source, output], weights: [output][source], numbered,
// sure: [[i, j]], possible: [[i, j]], found: [[i, j]], shares: [the weight of each found link, as text], labels: {both,
// source, output, begin, then, linked, unlinked}}; a side is {first: the number of its first word, words, colors, says},
// links count words as the text does, and in labels {source} and {output} are words.

import { component } from "../../browser/shared/ready.js";

const MANY = 18; // words of a line that are written larger than those of a longer one
const SIDES = /** @type {const} */ (["source", "output"]);

/** An element of a drawing with these attributes. */
function drawn(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

/** What a click on a word does: {chosen} is the word that waits for its partner, {link} the pair that is switched. */
export function clicked(chosen, side, index) {
  if (!chosen || chosen.side === side) {
    const again = chosen && chosen.index === index;
    return { chosen: again ? null : { side, index }, link: null };
  }
  return { chosen: null, link: side === "output" ? [chosen.index, index] : [index, chosen.index] };
}

/** The links after one is switched: a link that is there goes, sure or possible, and one that is not comes as sure. */
export function switched({ sure, possible }, [i, j]) {
  const others = (links) => links.filter(([a, b]) => a !== i || b !== j);
  const there = [...sure, ...possible].some(([a, b]) => a === i && b === j);
  return { sure: there ? others(sure) : [...sure, [i, j]], possible: others(possible), there };
}

/** Where an arrow key leads from a word. */
export function neighbour({ side, index }, key, counts) {
  if (key === "ArrowUp" || key === "ArrowDown") {
    const next = index + (key === "ArrowDown" ? 1 : -1);
    return next < 0 || next >= counts[side] ? null : { side, index: next };
  }
  const other = { ArrowLeft: "source", ArrowRight: "output" }[key];
  return other && other !== side ? { side: other, index: Math.min(index, counts[other] - 1) } : null;
}

/** The end of each link at which its number stands: that of the output, where the link is the only one there, else that
 * of the source; undefined where others are at both. */
export function numberedEnds(links) {
  const alone = (at, word) => links.filter((link) => link[at] === word).length === 1;
  return links.map(([i, j]) => (alone(1, j) ? "output" : alone(0, i) ? "source" : undefined));
}

const LETTER_WIDE = 0.62; // of the size of type: how wide a letter is
const AROUND_LINE = 8; // and all that is between the letters of both words of a line

/** How wide a line with the longest word of each side is, as a multiple of the size of its type. */
export function acrossLine(sides) {
  const longest = sides.map(({ words }) => Math.max(0, ...words.map((word) => word.length)));
  return AROUND_LINE + LETTER_WIDE * longest.reduce((sum, letters) => sum + letters, 0);
}

class View {
  constructor(root) {
    this.data = null;
    /** @type {(link: number[]) => void} */
    this.toggle = () => {};
    this.links = { sure: [], possible: [] };
    this.words = null;
    this.written = "";
    this.root = root;
    this.svg = root.querySelector("svg");
    this.live = root.querySelector(".live");
    this.chosen = null; // the word that waits for its partner
    this.pointed = null; // the word under a mouse
    this.told = "";
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(root);
  }

  receive(data, toggle) {
    const words = JSON.stringify([data.sides, data.numbered, data.labels]);
    Object.assign(this, { data, toggle, links: { sure: data.sure, possible: data.possible } });
    this.lines = { source: data.sides[0], output: data.sides[1] };
    if (words !== this.written) this.write();
    this.written = words;
    this.draw();
  }

  write() {
    this.root.setAttribute("aria-label", this.data.labels.both);
    const longest = Math.max(...this.data.sides.map(({ words }) => words.length));
    this.root.classList.toggle("many", longest > MANY);
    this.root.style.setProperty("--lines", String(longest));
    this.root.style.setProperty("--letters", String(acrossLine(this.data.sides)));
    this.chosen = null;
    this.words = {};
    for (const side of SIDES) {
      const line = this.root.querySelector(`.side.${side}`);
      line.setAttribute("aria-label", this.data.labels[side]);
      this.root.querySelector(`.name.${side}`).textContent = this.data.labels[side];
      const { first, words, colors } = this.lines[side];
      this.words[side] = words.map((text, index) => {
        const word = Object.assign(document.createElement("button"), { type: "button", textContent: text });
        word.tabIndex = index ? -1 : 0;
        if (colors[index] >= 0) word.style.setProperty("--word", `var(--bv-word${colors[index]})`);
        if (this.data.numbered) word.dataset.number = String(first + index);
        word.onclick = () => this.click(side, index);
        word.onkeydown = (event) => this.key(event, { side, index });
        word.onpointerenter = (event) => event.pointerType === "mouse" && this.point({ side, index });
        word.onpointerleave = () => this.point(null);
        return word;
      });
      line.replaceChildren(...this.words[side]);
    }
    this.say(this.data.labels.begin);
  }

  point(place) {
    this.pointed = place;
    this.tell();
    this.draw();
  }

  click(side, index) {
    const { chosen, link: places } = clicked(this.chosen, side, index);
    const { labels } = this.data;
    this.chosen = chosen;
    if (places) {
      /** @type {[number, number]} */
      const link = [places[0] + this.lines.source.first, places[1] + this.lines.output.first];
      const { there, ...links } = switched(this.links, link);
      this.links = links;
      this.pointed = null;
      this.say(there ? labels.unlinked : labels.linked, places);
      this.toggle(link);
    } else this.say(labels.begin);
    this.draw();
  }

  key(event, place) {
    if (event.key === "Escape" && this.chosen) this.click(this.chosen.side, this.chosen.index);
    const next = neighbour(place, event.key, { source: this.words.source.length, output: this.words.output.length });
    if (!next) return;
    event.preventDefault();
    for (const word of this.words[next.side]) word.tabIndex = -1;
    const word = this.words[next.side][next.index];
    word.tabIndex = 0;
    word.focus();
  }

  /** @param {number[]} words the places of a word of the source and of one of the output */
  say(text, words = []) {
    const [i, j] = words;
    const values = { source: this.lines.source.words[i], output: this.lines.output.words[j] };
    this.told = text.replace(/{(\w+)}/g, (whole, name) => values[name] ?? whole);
    this.tell();
  }

  /** The weights of the word that is pointed at or chosen, else what was said last. */
  tell() {
    const word = this.pointed ?? this.chosen;
    const said = word ? this.lines[word.side].says[word.index] : this.told;
    const waits = word && this.chosen?.side === word.side && this.chosen.index === word.index;
    this.live.textContent = waits ? `${said} ${this.data.labels.then}` : said;
  }

  /** The weight between a word and the one that is pointed at or chosen, on the other side; 0 if none is. */
  weight(side, index) {
    const word = this.pointed ?? this.chosen;
    if (!word || word.side === side) return 0;
    return side === "source" ? this.data.weights[word.index][index] : this.data.weights[index][word.index];
  }

  draw() {
    const frame = this.root.getBoundingClientRect();
    if (!frame.width || !this.words) return;
    for (const side of SIDES)
      this.words[side].forEach((word, index) => {
        word.setAttribute("aria-pressed", String(this.chosen?.side === side && this.chosen.index === index));
        word.style.setProperty("--bv-weight", String(this.weight(side, index)));
      });
    this.svg.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
    const end = (side, index) => {
      const box = this.words[side][index].getBoundingClientRect();
      return [(side === "source" ? box.right + 4 : box.left - 4) - frame.left, box.top + box.height / 2 - frame.top];
    };
    /** Whether a link is not one of the word that is pointed at or chosen. */
    const away = ([i, j]) => {
      const of = this.pointed ?? this.chosen;
      return of && of.index !== (of.side === "source" ? i - this.lines.source.first : j - this.lines.output.first);
    };
    const curve =
      (name) =>
      ([i, j]) => {
        const [source, output] = [i - this.lines.source.first, j - this.lines.output.first];
        const [a, b] = end("source", source),
          [c, d] = end("output", output),
          middle = (a + c) / 2;
        const path = drawn("path", {
          d: `M${a},${b} C${middle},${b} ${middle},${d} ${c},${d}`,
          class: away([i, j]) ? `${name} away` : name,
        });
        if (name === "found") path.setAttribute("stroke-width", String(2 + 6 * this.data.weights[output][source]));
        return path;
      };
    const ends = numberedEnds(this.data.found);
    const number = (link, index) => {
      const side = ends[index];
      if (!side) return [];
      const [x, y] = end(
        side,
        side === "source" ? link[0] - this.lines.source.first : link[1] - this.lines.output.first,
      );
      const text = drawn("text", {
        x,
        y,
        "text-anchor": side === "source" ? "start" : "end",
        class: away(link) ? "away" : "",
      });
      text.textContent = this.data.shares[index];
      return [text];
    };
    const sure = new Set(this.links.sure.map(String));
    const possible = this.links.possible.filter((link) => !sure.has(String(link)));
    this.svg.replaceChildren(
      ...this.data.found.map(curve("found")),
      ...possible.map(curve("possible")),
      ...this.links.sure.map(curve("sure")),
      ...this.data.found.flatMap(number),
    );
  }

  end() {
    this.observer.disconnect();
  }
}

export default component(".judge", View, (view, { data, setTriggerValue }) =>
  view.receive(JSON.parse(new TextDecoder().decode(data)), (link) => setTriggerValue("toggle", link)),
);
