// The pre-tokenizers of a tokenizer.json: a text -> the words that its model splits further.

/** @import { Text } from "./normalizers.js" */
import { SPACE, utf8 } from "./normalizers.js";
import { LETTER, NUMBER, PUNCTUATION } from "./unicode.js";

/**
 * @param {any} spec
 * @returns {(text: Text) => Text[]}
 */
export function preTokenizer(spec) {
  if (!spec) return (text) => (text.length ? [text] : []);
  const make = SPLITTERS[spec.type];
  if (!make) throw new Error(`The page does not know the pre-tokenizer ${spec.type}.`);
  return make(spec);
}

const OTHER = `(?![${LETTER}${NUMBER}])\\P{White_Space}`;
// GPT-2's (Radford et al. 2019, section 2.2).
const WORDS = new RegExp(
  [`'(?:s|t|re|ve|m|ll|d)`, ` ?${LETTER}+`, ` ?${NUMBER}+`, ` ?(?:${OTHER})+`].join("|") +
    String.raw`|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+`,
  "gv",
);

const SPLITTERS = {
  Sequence: ({ pretokenizers }) => {
    const all = pretokenizers.map(preTokenizer);
    return (text) => all.reduce((parts, one) => parts.flatMap(one), [text]);
  },
  BertPreTokenizer: () => (text) => {
    const words = [];
    let from = 0;
    const end = (i) => i > from && words.push(text.slice(from, i));
    text.signs.forEach((sign, i) => {
      const space = SPACE.test(sign);
      if (!space && !PUNCTUATION.test(sign)) return;
      end(i);
      if (!space) words.push(text.slice(i, i + 1));
      from = i + 1;
    });
    end(text.length);
    return words;
  },
  ByteLevel:
    ({ add_prefix_space: prefix, use_regex: splits = true }) =>
    (text) => {
      const whole = prefix && text.length && text.signs[0] !== " " ? text.after(" ") : text;
      const parts = splits ? whole.parts(WORDS).map(({ from, to }) => whole.slice(from, to)) : [whole];
      return parts.filter((part) => part.length).map((part) => part.map(bytes));
    },
  Metaspace: ({ replacement: mark, prepend_scheme: scheme = "always", split = true }) => {
    const spaces = / /gu;
    return (text) => {
      if (!text.length) return [];
      let marked = text.parts(spaces).length ? text.map((sign) => (sign === " " ? mark : sign)) : text;
      const wants = scheme === "always" || (scheme === "first" && text.first);
      if (wants && marked.signs[0] !== mark) marked = marked.after(mark);
      if (!split) return [marked];
      const words = [];
      let from = 0;
      for (let i = 1; i <= marked.length; i++)
        if (i === marked.length || marked.signs[i] === mark) {
          words.push(marked.slice(from, i));
          from = i;
        }
      return words;
    };
  },
  WhitespaceSplit: () => (text) =>
    text
      .parts(/\p{White_Space}+/gu)
      .filter(({ matched }) => !matched)
      .map(({ from, to }) => text.slice(from, to)),
  Digits:
    ({ individual_digits: single }) =>
    (text) =>
      text.parts(single ? /\p{N}/gu : /\p{N}+/gu).map(({ from, to }) => text.slice(from, to)),
};

/** The sign for each byte: itself if printable, else one from U+0100 on. */
export const BYTES = (() => {
  const printable = (byte) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(printable(byte) ? byte : next++));
})();

const bytes = (sign) => Array.from(utf8.encode(sign), (byte) => BYTES[byte]);
