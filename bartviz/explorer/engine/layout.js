// Text as a reader sees it: clusters, words, and labels without invisible signs, as bartviz/text has them. Spans count
// code points.

/** @import { Span } from "./types.js" */
import { CLUSTERS } from "./normalizers.js";

/* eslint-disable no-control-regex, no-misleading-character-class -- these are the very signs that are looked for */
/** White space as Python's `str.strip` takes it. */
const BLANK = /^[\p{White_Space}\x1c-\x1f]$/v;
const UNSEEN = /^[\p{White_Space}\x1c-\x1f\p{Cc}\p{Cf}]+$/v;
const WORD_SIGN = /^[[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]--[\u200c\u200d]]/v;
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Bopomofo}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Tibetan}]/v;
const JOINING =
  /^[\p{sc=Arabic}\p{sc=Syriac}\p{sc=Mongolian}\p{sc=Devanagari}\p{sc=Bengali}\p{sc=Gurmukhi}\p{sc=Gujarati}\p{sc=Oriya}\p{sc=Tamil}\p{sc=Telugu}\p{sc=Kannada}\p{sc=Malayalam}\p{sc=Sinhala}]/v;
const EMOJI = /^\p{Extended_Pictographic}[^\p{Cn}\p{Co}]*(?<![\u200d\p{Cn}])$/v;
const HIDDEN = /[[\p{C}\p{Z}\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]--[ ]]/gv;
/* eslint-enable no-control-regex, no-misleading-character-class */
const SIGNS = { "\t": "⇥", "\n": "↵", "\r": "␍", "\u00a0": "⍽" };
const NAMES = {
  "\u00ad": "SHY",
  "\u034f": "CGJ",
  "\u061c": "ALM",
  "\u200b": "ZWSP",
  "\u200c": "ZWNJ",
  "\u200d": "ZWJ",
  "\u200e": "LRM",
  "\u200f": "RLM",
  "\u202a": "LRE",
  "\u202b": "RLE",
  "\u202c": "PDF",
  "\u202d": "LRO",
  "\u202e": "RLO",
  "\u2060": "WJ",
  "\u2066": "LRI",
  "\u2067": "RLI",
  "\u2068": "FSI",
  "\u2069": "PDI",
  "\ufeff": "BOM",
};

/** The boundaries of the clusters and words of a text. */
export class Layout {
  /** @param {string} text */
  constructor(text) {
    this.signs = [...text];
    this.clusters = [0];
    for (const cluster of clustersOf(text)) this.clusters.push(this.clusters.at(-1) + [...cluster].length);
    /** @type {Span[]} */
    this.words = [...this.parted()];
  }

  /** Signs from `from` to `to`. */
  text(from, to) {
    return this.signs.slice(from, to).join("");
  }

  /** Runs of letters and digits, with the apostrophes within them, and every other visible cluster alone. */
  *parted() {
    const { signs, clusters } = this;
    let start = -1;
    for (let i = 0; i + 1 < clusters.length; i++) {
      const [begin, end] = [clusters[i], clusters[i + 1]];
      const letter = WORD_SIGN.test(signs[begin]);
      const joins =
        end === begin + 1 && "'’".includes(signs[begin]) && end < signs.length && WORD_SIGN.test(signs[end]);
      if (start >= 0 && !letter && !joins) {
        yield /** @type {Span} */ ([start, begin]);
        start = -1;
      }
      if (letter) {
        if (start < 0) start = begin;
      } else if (start < 0 && !signs.slice(begin, end).every(isBlank)) yield /** @type {Span} */ ([begin, end]);
    }
    if (start >= 0) yield /** @type {Span} */ ([start, signs.length]);
  }

  /**
   * The span widened to whole clusters; an empty one to the cluster around it.
   * @param {Span} span
   * @returns {Span}
   */
  whole([start, end]) {
    const { clusters } = this;
    const first = Math.max(after(clusters, start) - 1, 0);
    const last = Math.max(after(clusters, Math.max(end - 1, start)), first + 1);
    return [clusters[first], clusters[Math.min(last, clusters.length - 1)]];
  }

  /**
   * The first and last index of the words that the span touches; null if it touches white space alone.
   * @param {Span} span
   */
  wordsAt([start, end]) {
    const { words } = this;
    const from = words.findIndex(([, stop]) => stop > start);
    let to = words.length;
    while (to > 0 && words[to - 1][0] >= end) to--;
    return from < 0 || to - 1 < from ? null : [from, to - 1];
  }

  /** Whether a word may end before this sign without a space: Chinese, Japanese, Thai, ... */
  unspaced(at) {
    return this.signs.slice(Math.max(at - 1, 0), at + 1).some((sign) => UNSPACED.test(sign));
  }
}

/** How many of the rising numbers are at most `value`. */
function after(numbers, value) {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export const clustersOf = (text) => Array.from(CLUSTERS.segment(text), ({ segment }) => segment);
export const isBlank = (sign) => BLANK.test(sign);
/** Whether a text is not empty but entirely invisible. */
export const isInvisible = (text) => UNSEEN.test(text);

/** The text without white space around it, as Python strips it. */
export function stripped(text) {
  const signs = [...text];
  let [from, to] = [0, signs.length];
  while (from < to && isBlank(signs[from])) from++;
  while (to > from && isBlank(signs[to - 1])) to--;
  return signs.slice(from, to).join("");
}

/** The text with everything made visible: spaces alone, line ends, signs without width, and marks without a letter. */
export function visible(text) {
  if (text && /^ +$/.test(text)) return "␣".repeat(text.length);
  return clustersOf(text).map(shown).join("");
}

function shown(cluster) {
  if (EMOJI.test(cluster)) return fewMarks(cluster);
  if (JOINING.test(cluster) && !cluster.replaceAll(/[\u200c\u200d]/g, "").match(HIDDEN)) return fewMarks(cluster);
  return fewMarks(cluster.replaceAll(HIDDEN, named));
}

const named = (sign) =>
  SIGNS[sign] ?? `‹${NAMES[sign] ?? `U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`}›`;

/** A lone mark on a dotted circle; of many marks the first four and the number of the others. */
function fewMarks(cluster) {
  const whole = /^\p{M}/v.test(cluster) ? `◌${cluster}` : cluster;
  return whole.replaceAll(/(\p{M}{4})(\p{M}+)/gv, (_, few, more) => `${few}‹+${[...more].length}›`);
}
