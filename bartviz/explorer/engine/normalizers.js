// The normalizers of a tokenizer.json, on texts that know where each sign came from.

import { INVISIBLE, MARK } from "./unicode.js";

/** A text as code points; `starts` and `ends` say which code points of the original each of them stands for. */
export class Text {
  /**
   * @param {string | string[]} text
   * @param {number[] | null} starts
   * @param {number[] | null} ends
   */
  constructor(text, starts = null, ends = null, first = true) {
    this.signs = Array.isArray(text) ? text : [...text];
    this.starts = starts ?? this.signs.map((_, i) => i);
    this.ends = ends ?? this.signs.map((_, i) => i + 1);
    this.first = first; // whether it begins the text
  }

  get length() {
    return this.signs.length;
  }

  toString() {
    return this.signs.join("");
  }

  /** Signs from `from` to `to`. */
  slice(from, to) {
    const { signs, starts, ends, first } = this;
    return new Text(signs.slice(from, to), starts.slice(from, to), ends.slice(from, to), first && from === 0);
  }

  /**
   * Where signs from `from` to `to` came from.
   * @returns {[number, number] | null}
   */
  span(from, to) {
    return to > from ? [this.starts[from], this.ends[to - 1]] : null;
  }

  /**
   * The text with each sign replaced by others, which came from the same place.
   * @param {(sign: string, i: number) => Iterable<string>} make
   */
  map(make) {
    const signs = [],
      starts = [],
      ends = [];
    this.signs.forEach((sign, i) => {
      for (const made of make(sign, i)) {
        signs.push(made);
        starts.push(this.starts[i]);
        ends.push(this.ends[i]);
      }
    });
    return new Text(signs, starts, ends, this.first);
  }

  /** With another text before it, whose signs come from where its own first sign does. */
  after(more) {
    const signs = [...more];
    const places = (numbers) => [...signs.map(() => numbers[0] ?? 0), ...numbers];
    return new Text([...signs, ...this.signs], places(this.starts), places(this.ends), this.first);
  }

  /**
   * The parts of a regular expression (with the flags g and v): matches and what is between them.
   * @param {RegExp} pattern
   * @returns {{ from: number, to: number, matched: boolean }[]}
   */
  parts(pattern) {
    const whole = this.toString(),
      places = new Int32Array(whole.length + 1); // of code units
    let unit = 0;
    this.signs.forEach((sign, i) => {
      for (let k = 0; k < sign.length; k++) places[unit++] = i;
    });
    places[unit] = this.length;
    const parts = [];
    let last = 0;
    for (const { index, 0: found } of whole.matchAll(pattern)) {
      if (!found) continue;
      if (index > last) parts.push({ from: places[last], to: places[index], matched: false });
      last = index + found.length;
      parts.push({ from: places[index], to: places[last], matched: true });
    }
    if (last < whole.length) parts.push({ from: places[last], to: this.length, matched: false });
    return parts;
  }
}

/**
 * The normalizer that a tokenizer.json describes.
 * @param {any} spec
 * @returns {(text: Text) => Text}
 */
export function normalizer(spec) {
  if (!spec) return (text) => text;
  const make = NORMALIZERS[spec.type];
  if (!make) throw new Error(`The page does not know the normalizer ${spec.type}.`);
  return make(spec);
}

const NORMALIZERS = {
  Sequence: ({ normalizers }) => {
    const all = normalizers.map(normalizer);
    return (text) => all.reduce((now, one) => one(now), text);
  },
  BertNormalizer: (spec) => {
    const strips = spec.strip_accents ?? spec.lowercase;
    return (text) => {
      if (spec.clean_text) text = text.map(cleaned);
      if (spec.handle_chinese_chars) text = text.map((sign) => (IDEOGRAPH.test(sign) ? [" ", sign, " "] : [sign]));
      if (strips) text = composed(text, "NFD").map((sign) => (MARK.test(sign) ? [] : [sign]));
      return spec.lowercase ? lower(text) : text;
    };
  },
  Lowercase: () => lower,
  NFC: () => (text) => composed(text, "NFC"),
  NFD: () => (text) => composed(text, "NFD"),
  NFKC: () => (text) => composed(text, "NFKC"),
  NFKD: () => (text) => composed(text, "NFKD"),
  StripAccents: () => (text) => text.map((sign) => (/\p{M}/u.test(sign) ? [] : [sign])),
  Prepend:
    ({ prepend }) =>
    (text) =>
      text.length ? text.after(prepend) : text,
  Replace: ({ pattern, content }) => {
    const expression = new RegExp(pattern.Regex ?? literally(pattern.String), "gu");
    return (text) => replaced(text, expression, content);
  },
  Strip:
    ({ strip_left: left, strip_right: right }) =>
    (text) => {
      let [from, to] = [0, text.length];
      if (left) while (from < to && SPACE.test(text.signs[from])) from++;
      if (right) while (to > from && SPACE.test(text.signs[to - 1])) to--;
      return text.slice(from, to);
    },
  SentencePiece: sentencePiece,
  Precompiled: ({ precompiled_charsmap: map }) => (map ? precompiled(map) : (text) => text),
};

/** A regular expression that matches a text alone. */
const literally = (text) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
export const SPACE = /\p{White_Space}/u;
const IDEOGRAPH =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/u;

/** A sign without what is invisible; white space as a space. */
function cleaned(sign) {
  if (INVISIBLE.test(sign)) return [];
  return SPACE.test(sign) ? [" "] : [sign];
}

const lower = (text) => text.map((sign) => sign.toLowerCase());

/** Each match replaced by one text, which comes from where the match ends. */
function replaced(text, pattern, content) {
  const signs = [],
    starts = [],
    ends = [];
  for (const { from, to, matched } of text.parts(pattern))
    for (let i = from; i < to; i++) {
      const made = !matched ? [text.signs[i]] : i === from ? [...content] : [];
      for (const sign of made) {
        signs.push(sign);
        starts.push(text.starts[matched ? to - 1 : i]);
        ends.push(text.ends[matched ? to - 1 : i]);
      }
    }
  return new Text(signs, starts, ends, text.first);
}

/** A text in a form of Unicode. A sign comes from the one that decomposes to it, or from all that were composed. */
function composed(text, form) {
  const whole = text.toString();
  if (whole.normalize(form) === whole) return text;
  const signs = [],
    starts = [],
    ends = [];
  let from = 0;
  for (let to = 1; to <= text.length; to++) {
    if (to < text.length && JOINS.test(text.signs[to])) continue; // it may join, or change places with, those before
    const group = text.signs.slice(from, to);
    const apart = group.flatMap((sign, k) => [...sign.normalize(form)].map((part) => ({ part, k })));
    for (const sign of group.join("").normalize(form)) {
      const k = apart.findIndex(({ part }) => part === sign);
      const one = k < 0 ? null : from + apart.splice(k, 1)[0].k;
      signs.push(sign);
      starts.push(text.starts[one ?? from]);
      ends.push(text.ends[one ?? to - 1]);
    }
    from = to;
  }
  return new Text(signs, starts, ends, text.first);
}
const JOINS = /[\p{M}\u1160-\u11ff]/u;

/**
 * SentencePiece's compiled rules: a trie of what is replaced (a double array), and the texts that replace it.
 * @param {string} base64
 * @returns {(key: Uint8Array, longest: boolean) => { size: number, made: string } | null} the shortest or longest
 * prefix of some bytes that has a rule
 */
function rules(base64) {
  const bytes = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
  const view = new DataView(bytes.buffer),
    length = view.getUint32(0, true);
  const units = Uint32Array.from({ length: length / 4 }, (_, i) => view.getUint32(4 + 4 * i, true));
  const texts = bytes.subarray(4 + length);
  return (key, longest) => {
    let at = offsetOf(units[0]),
      found = null;
    for (let size = 1; size <= key.length; size++) {
      const byte = key[size - 1];
      at ^= byte;
      const unit = units[at];
      if ((unit & 0x800000ff) >>> 0 !== byte) break;
      at ^= offsetOf(unit);
      if (!((unit >>> 8) & 1)) continue;
      const from = units[at] & 0x7fffffff;
      found = { size, made: decoder.decode(texts.subarray(from, texts.indexOf(0, from))) };
      if (!longest) break;
    }
    return found;
  };
}
const decoder = new TextDecoder();
export const utf8 = new TextEncoder();

/** Those rules as the `tokenizers` library applies them: to clusters that are short, else to each of their signs. */
function precompiled(base64) {
  const rule = rules(base64);
  const madeOf = (part) => rule(utf8.encode(part), false)?.made ?? null;
  return (text) => {
    const signs = [],
      starts = [],
      ends = [];
    const put = (made, from, to) => {
      for (const sign of made) {
        signs.push(sign);
        starts.push(text.starts[from]);
        ends.push(text.ends[to - 1]);
      }
    };
    let from = 0;
    for (const { segment } of CLUSTERS.segment(text.toString())) {
      const cluster = [...segment];
      const whole = utf8.encode(segment).length < 6 ? madeOf(segment) : null;
      if (whole !== null) put(whole, from, from + cluster.length);
      else cluster.forEach((sign, k) => put(madeOf(sign) ?? sign, from + k, from + k + 1));
      from += cluster.length;
    }
    return new Text(signs, starts, ends, text.first);
  };
}

/** Those rules, and SentencePiece's own handling of spaces, as its library applies them. */
function sentencePiece({ charsmap, prefix, squeezes, mark }) {
  const rule = charsmap ? rules(charsmap) : () => null;
  return (text) => {
    const bytes = utf8.encode(text.toString()),
      places = new Int32Array(bytes.length + 1); // of bytes
    let byte = 0;
    text.signs.forEach((sign, i) => {
      for (let k = utf8.encode(sign).length; k > 0; k--) places[byte++] = i;
    });
    places[byte] = text.length;
    const signs = [],
      starts = []; // a sign ends where the next one starts
    const put = (sign, from) => {
      signs.push(sign === " " ? mark : sign);
      starts.push(places[from]);
    };
    let space = squeezes,
      begun = false;
    for (let at = 0; at < bytes.length;) {
      const found = rule(bytes.subarray(at, at + LONGEST), true),
        sign = text.signs[places[at]];
      const made = [...(found?.made ?? sign)];
      if (begun || !squeezes || made.join("") !== " ") {
        if (prefix && !begun) put(" ", at);
        begun = true;
        while (space && made[0] === " ") made.shift();
        for (const one of made) put(one, at);
        if (made.length) space = squeezes && made.at(-1) === " ";
      }
      at += found?.size ?? utf8.encode(sign).length;
    }
    let end = text.length;
    while (squeezes && signs.at(-1) === mark) {
      signs.pop();
      end = starts.pop();
    }
    const original = (place) => text.starts[place] ?? text.ends.at(-1);
    const ends = [...starts.slice(1), end];
    return new Text(signs, starts.map(original), ends.map(original), text.first);
  };
}
const LONGEST = 256; // bytes that a rule may replace
const offsetOf = (unit) => (unit >>> 10) << ((unit & 512) >>> 6);
export const CLUSTERS = new Intl.Segmenter("en", { granularity: "grapheme" });
