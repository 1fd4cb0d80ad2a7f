// The models of a tokenizer.json: a word -> tokens of the vocabulary, as places in the word.

/** @import { Found } from "./types.js" */
/** @import { Text } from "./normalizers.js" */

/** Byte-pair encoding (Sennrich et al. 2016): pairs are merged in the order in which they were learned. */
export class Bpe {
  static of({ vocab, merges, unk_token: unknown, fuse_unk: fuses, byte_fallback: bytes }) {
    return new Bpe(new Map(Object.entries(vocab)), merges, unknown, fuses, bytes);
  }

  constructor(vocabulary, merges, unknown, fuses, bytes) {
    this.vocabulary = vocabulary;
    this.unknown = unknown ? vocabulary.get(unknown) : null;
    this.fuses = fuses;
    this.bytes = bytes;
    this.ranks = new Map(merges.map((merge, rank) => [Array.isArray(merge) ? merge.join(" ") : merge, rank]));
    /** @type {Map<string, Found[]>} */
    this.kept = new Map();
  }

  entries() {
    return this.vocabulary.entries();
  }

  /**
   * @param {Text} word
   * @returns {Found[]}
   */
  tokens(word) {
    const text = word.toString(),
      known = this.kept.get(text);
    if (known) return known;
    const found = this.merged(word.signs);
    if (this.kept.size < 10_000) this.kept.set(text, found);
    return found;
  }

  /** @param {string[]} signs */
  merged(signs) {
    const parts = signs.map((name, i) => ({ name, from: i, to: i + 1 }));
    for (;;) {
      let best = Infinity,
        at = -1;
      for (let i = 0; i + 1 < parts.length; i++) {
        const rank = this.ranks.get(`${parts[i].name} ${parts[i + 1].name}`) ?? Infinity;
        if (rank < best) [best, at] = [rank, i];
      }
      if (at < 0) break;
      const [a, b] = parts.splice(at, 2);
      parts.splice(at, 0, { name: a.name + b.name, from: a.from, to: b.to });
    }
    return parts.flatMap(({ name, from, to }) => {
      const id = this.vocabulary.get(name) ?? this.unknown;
      return id === null || id === undefined ? [] : [{ id, from, to }];
    });
  }
}

/** WordPiece: the longest piece of the vocabulary that a word begins with, and so on (Wu et al. 2016). */
export class WordPiece {
  static of({ vocab, unk_token: unknown, continuing_subword_prefix: prefix, max_input_chars_per_word: most }) {
    return new WordPiece(new Map(Object.entries(vocab)), unknown, prefix, most);
  }

  constructor(vocabulary, unknown, prefix, most) {
    this.vocabulary = vocabulary;
    this.unknown = vocabulary.get(unknown);
    this.prefix = prefix;
    this.most = most;
  }

  entries() {
    return this.vocabulary.entries();
  }

  /**
   * @param {Text} word
   * @returns {Found[]}
   */
  tokens({ signs }) {
    const whole = [{ id: this.unknown, from: 0, to: signs.length }];
    if (signs.length > this.most) return whole;
    const found = [];
    for (let from = 0; from < signs.length;) {
      let to = signs.length,
        id;
      for (; to > from; to--) {
        id = this.vocabulary.get((from ? this.prefix : "") + signs.slice(from, to).join(""));
        if (id !== undefined) break;
      }
      if (id === undefined) return whole;
      found.push({ id, from, to });
      from = to;
    }
    return found;
  }
}

/** SentencePiece's unigram model: the most probable way to part a word (Kudo 2018), by Viterbi's algorithm. */
export class Unigram {
  /** @param {any} spec */
  static of({ vocab, unk_id: unknown, byte_fallback: bytes }, literal) {
    return new Unigram(vocab, unknown, bytes, literal);
  }

  /** Sums of scores: the library that reads a tokenizer.json has double precision. */
  sum(a, b) {
    return a + b;
  }

  constructor(pieces, unknown, bytes, literal) {
    this.pieces = pieces;
    this.unknown = unknown;
    this.bytes = bytes;
    this.literal = literal;
    this.ids = new Map(pieces.map(([name], id) => [name, id]));
    this.least = Math.min(...pieces.filter((_, id) => id !== unknown).map(([, score]) => score)) - 10;
    this.longest = pieces.reduce((most, [name]) => Math.max(most, [...name].length), 0);
  }

  entries() {
    return this.ids.entries();
  }

  /**
   * @param {Text} word
   * @param {boolean} typed
   * @returns {Found[]}
   */
  tokens({ signs }, typed) {
    const n = signs.length;
    const best = Array.from({ length: n + 1 }, () => ({ score: -Infinity, from: 0, id: -1 }));
    best[0].score = 0;
    for (let from = 0; from < n; from++) {
      let single = false,
        name = "";
      for (let to = from + 1; to <= Math.min(n, from + this.longest); to++) {
        name += signs[to - 1];
        const id = this.ids.get(name);
        if (id === undefined || (!typed && this.literal.has(name))) continue;
        const score = this.sum(best[from].score, this.pieces[id][1]);
        if (score > best[to].score) best[to] = { score, from, id };
        single ||= to === from + 1;
      }
      const score = this.sum(best[from].score, this.least);
      if (!single && score > best[from + 1].score) best[from + 1] = { score, from, id: this.unknown };
    }
    /** @type {Found[]} */
    const found = [];
    for (let to = n; to > 0; to = best[to].from) found.unshift({ id: best[to].id, from: best[to].from, to });
    return this.fused(found, signs);
  }

  /** Neighbouring unknown signs as one token, or each as its bytes. */
  fused(found, signs) {
    const joined = [];
    for (const one of found) {
      const before = joined.at(-1);
      if (one.id === this.unknown && before?.id === this.unknown) before.to = one.to;
      else joined.push({ ...one });
    }
    if (!this.bytes) return joined;
    return joined.flatMap((one) => {
      if (one.id !== this.unknown) return [one];
      const codes = new TextEncoder().encode(signs.slice(one.from, one.to).join(""));
      const ids = Array.from(codes, (byte) => this.ids.get(`<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`));
      return ids.includes(undefined) ? [one] : ids.map((id) => ({ id, from: one.from, to: one.to }));
    });
  }
}

/** The unigram model as SentencePiece's own library runs it, whose pieces have other numbers in a vocabulary (Marian). */
export class SentencePiece extends Unigram {
  /** @param {any} spec */
  static of({ vocab, unk_id: unknown, ids, unknown: outside }, literal) {
    return new SentencePiece(vocab, unknown, literal, new Map(Object.entries(ids)), outside);
  }

  constructor(pieces, unknown, literal, numbers, outside) {
    super(pieces, unknown, false, literal);
    this.numbers = numbers;
    this.outside = outside;
  }

  entries() {
    return this.numbers.entries();
  }

  sum(a, b) {
    return Math.fround(a + b);
  }

  /**
   * @param {Text} word
   * @returns {Found[]}
   */
  tokens(word) {
    return super.tokens(word, false).map(({ from, to }) => {
      const id = this.numbers.get(word.signs.slice(from, to).join("")) ?? this.outside;
      return { id, from, to };
    });
  }
}
