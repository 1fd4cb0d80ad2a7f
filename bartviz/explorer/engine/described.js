// Labels, words and spans of tokens: what bartviz/text/describe.py gives them.

/** @import { Span, Token, Tokens } from "./types.js" */
import { CONTINUES } from "./continues.js";
import { Layout, isBlank, isInvisible, stripped, visible } from "./layout.js";
import { utf8 } from "./normalizers.js";
import { BYTES } from "./pretokenizers.js";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** How the pieces of a vocabulary represent text: `Scheme` in Python. */
export class Scheme {
  /** @param {{ kind: "bytes" | "prefix" | "space", mark: string, fallback: boolean, plain: string[] }} spec */
  constructor({ kind, mark, fallback, plain }) {
    this.kind = kind;
    this.mark = mark;
    this.fallback = fallback;
    this.plain = new Set(plain);
    this.bytes = new Map(BYTES.map((sign, byte) => [sign, byte]));
  }

  /**
   * The UTF-8 bytes of a piece's text with its space; they may be a part of a character.
   * @param {string} piece
   */
  bytesOf(piece) {
    const { kind, mark } = this;
    if (kind === "prefix") {
      const inside = mark && piece.startsWith(mark) && piece.length > mark.length;
      return utf8.encode(inside ? piece.slice(mark.length) : ` ${piece}`);
    }
    if (this.plain.has(piece)) return utf8.encode(piece);
    if (kind === "bytes") {
      const codes = Array.from(piece, (sign) => this.bytes.get(sign));
      return codes.includes(undefined) ? utf8.encode(piece) : Uint8Array.from(codes);
    }
    const byte = this.fallback && /^<0x([0-9A-F]{2})>$/.exec(piece);
    return byte ? Uint8Array.of(parseInt(byte[1], 16)) : utf8.encode(piece.replaceAll(mark, " "));
  }

  /**
   * The bytes of every piece of one text, without the spaces that are not written.
   * @param {string[]} pieces
   */
  texts(pieces) {
    const parts = pieces.map((piece) => this.bytesOf(piece));
    if (this.kind === "prefix") {
      const words = parts.map((part) => new TextDecoder().decode(part));
      words.forEach((_, i) => tight(words, i) && (parts[i] = parts[i].subarray(1)));
    }
    if (this.kind !== "bytes" && parts[0]?.[0] === 0x20) parts[0] = parts[0].subarray(1);
    return parts;
  }
}

/** Whether no space belongs before this piece, although it begins with one. */
function tight(words, i) {
  const part = words[i],
    before = i ? words[i - 1] : "";
  if (!part.startsWith(" ")) return false;
  if (/^ [.,;:!?%)\]}…]$/.test(part) || /^ [([{]$/.test(before)) return true;
  const isWord = (text) => text !== undefined && /^\p{L}+$/u.test(stripped(text));
  const apostrophe = /^ ['’]$/;
  if (apostrophe.test(part)) return i + 1 < words.length && isWord(before) && isWord(words[i + 1]);
  return apostrophe.test(before) && i > 1 && isWord(words[i - 2]) && isWord(part);
}

/**
 * A token before it is described.
 */
export function token(id, { name, written }, { segment = 0, special = false, unknown = false, span = null } = {}) {
  let text = null;
  try {
    text = strict.decode(written);
  } catch {
    // a part of a character
  }
  const blank =
    !special && written.length > 0 && written.every((byte) => " \t\r\n".includes(String.fromCharCode(byte)));
  return { id, name, written, text, blank, segment, special, unknown, span };
}

/**
 * The tokens of texts, one text for each segment, with labels, words and spans.
 * @param {Token[]} tokens
 * @param {string[]} texts
 * @returns {Tokens}
 */
export function described(tokens, texts) {
  const labels = Array(tokens.length).fill(""),
    words = Array(tokens.length).fill(null),
    spans = Array(tokens.length).fill(null);
  let first = 0;
  texts.forEach((text, segment) => {
    const places = tokens.flatMap((one, i) => (one.segment === segment ? [i] : []));
    const own = places.map((i) => tokens[i]),
      layout = new Layout(text);
    const trimmed = rising(own.map((one) => trim(one, layout)));
    const inside = own.map((one, i) => (one.special || one.blank ? null : trimmed[i]));
    const numbers = withSpaces(own, numbered(layout, inside, first), trimmed);
    const names = labelled(own, layout, trimmed, numbers);
    places.forEach((place, i) => {
      labels[place] = names[i];
      words[place] = numbers[i];
      spans[place] = trimmed[i];
    });
    first = numbers.reduce((most, number) => Math.max(most, (number ?? -1) + 1), first);
  });
  return {
    ids: tokens.map(({ id }) => id),
    pieces: tokens.map(({ name }) => name),
    labels,
    words,
    special: tokens.map(({ special }) => special),
    segments: tokens.map(({ segment }) => segment),
    spans,
  };
}

/**
 * The text that tokens write, without special ones, and the tokens, whose spans are those of that text.
 * @param {Token[]} tokens
 * @param {Scheme} scheme
 * @returns {[text: string, tokens: Tokens]}
 */
export function writtenBy(tokens, scheme) {
  const placed = [...tokens];
  const inside = tokens.flatMap((one, i) => (!one.special && one.written.length ? [i] : []));
  const parts = scheme.texts(inside.map((i) => tokens[i].name));
  const bytes = Uint8Array.from(parts.flatMap((part) => [...part]));
  const { text, starts } = decoded(bytes);
  let end = 0;
  inside.forEach((i, k) => {
    const start = end;
    end += parts[k].length;
    const one = tokens[i];
    placed[i] = parts[k].length
      ? { ...one, span: [starts[start], starts[end - 1] + 1] }
      : token(one.id, { name: one.name, written: Uint8Array.of(0x20) }, { ...one, span: null });
  });
  return [text, described(placed, [text])];
}

/** The text of UTF-8 bytes, and for each byte the index of its sign; bytes that form none become U+FFFD. */
function decoded(bytes) {
  const signs = [],
    starts = [];
  for (let at = 0; at < bytes.length;) {
    const size = length(bytes, at);
    const good = size > 0;
    const taken = good ? size : -size;
    for (let k = 0; k < taken; k++) starts.push(signs.length);
    signs.push(good ? strict.decode(bytes.subarray(at, at + size)) : "\ufffd");
    at += taken;
  }
  return { text: signs.join(""), starts };
}

/** How many bytes a sign has that begins here; negative: how many of a broken one are passed over, as Python does. */
function length(bytes, at) {
  const lead = bytes[at];
  const size =
    lead < 0x80
      ? 1
      : lead >= 0xc2 && lead < 0xe0
        ? 2
        : (lead & 0xf0) === 0xe0
          ? 3
          : lead >= 0xf0 && lead < 0xf5
            ? 4
            : 0;
  if (size < 2) return size || -1;
  for (let k = 1; k < size; k++) {
    const byte = bytes[at + k] ?? 0;
    const [low, high] =
      k > 1 ? [0x80, 0xbf] : [{ 0xe0: 0xa0, 0xf0: 0x90 }[lead] ?? 0x80, { 0xed: 0x9f, 0xf4: 0x8f }[lead] ?? 0xbf];
    if (byte < low || byte > high) return -k;
  }
  return size;
}

/**
 * A token's span in whole clusters without white space around it; of a blank token, the white space itself.
 * @param {Token} one
 * @param {Layout} layout
 * @returns {Span | null}
 */
function trim({ span, blank, written }, layout) {
  if (!span) return null;
  const { signs } = layout;
  let [start, end] = [Math.max(span[0], 0), Math.min(span[1], signs.length)];
  if (blank) {
    if (isInvisible(layout.text(start, end))) return [start, end];
    const before = [start - written.length, start - 1].filter((at) => at >= 0);
    const found = before.find((at) => isInvisible(layout.text(at, start)));
    return found === undefined ? null : [found, start];
  }
  let [from, to] = [start, end];
  while (from < to && isBlank(signs[from])) from++;
  while (to > from && isBlank(signs[to - 1])) to--;
  if (from < to) [start, end] = [from, to];
  return signs.length && start < signs.length ? layout.whole([start, end]) : null;
}

/**
 * Spans that never go back.
 * @param {(Span | null)[]} spans
 */
function rising(spans) {
  let [start, end] = [0, 0];
  return spans.map((span) => {
    if (!span) return null;
    start = Math.max(start, span[0]);
    end = Math.max(end, span[1]);
    return end > start ? /** @type {Span} */ ([start, end]) : null;
  });
}

/** The word of each token, counted from `first`; null without one. */
function numbered(layout, spans, first) {
  let [current, reached, end] = [first - 1, -1, 0];
  return spans.map((span) => {
    const touched = span && layout.wordsAt(span);
    if (!touched) {
      reached = -1;
      return null;
    }
    if (touched[0] > reached || (span[0] >= end && layout.unspaced(span[0]))) current++;
    reached = touched[1];
    end = span[1];
    return current;
  });
}

/** The words, with a token that is only the space before a word counted as a part of it. */
function withSpaces(tokens, words, spans) {
  const complete = [...words];
  let begun = null;
  for (let i = 0; i + 1 < tokens.length; i++) {
    const [span, next, word] = [spans[i], spans[i + 1], words[i + 1]];
    const touches = !span || !next || span[1] === next[0];
    const { written, special } = tokens[i],
      after = tokens[i + 1].written[0];
    const space =
      !special && written.length === 1 && written[0] === 0x20 && !(after === 0x20 || (after >= 9 && after <= 13));
    begun = words[i] ?? begun;
    if (space && touches && word !== null && word !== begun) complete[i] = word;
  }
  return complete;
}

function labelled(tokens, layout, spans, words) {
  let shown = 0, // end of the text that labels have shown
    begun = null;
  return tokens.map((one, i) => {
    const span = spans[i],
      word = words[i];
    if (one.special || one.blank || !span) return alone(one);
    const cuts = one.text === null || (shared(spans, i) && cut(layout, one));
    let body = cuts ? layout.text(Math.max(span[0], shown), span[1]) : one.text;
    if (one.unknown) body = one.name;
    else if (one.text === null && body.includes("\ufffd")) body = hex(one);
    const continues = (word !== null && word === begun) || span[0] < shown;
    shown = Math.max(shown, span[1]);
    begun = word;
    return (continues ? CONTINUES : "") + visible(stripped(body) || body) || hex(one);
  });
}

/** Whether the token before or after covers a part of the same sign. */
function shared(spans, i) {
  const [span, before, next] = [spans[i], spans[i - 1], spans[i + 1]];
  return (before && before[1] > span[0]) || (next && next[0] < span[1]);
}

/** Whether a token is a part of one cluster of the text, literally. */
function cut(layout, { span, text }) {
  const part = layout.text(...span),
    inside = stripped(part);
  const start = span[0] + [...part].findIndex((sign) => !isBlank(sign)),
    end = start + [...inside].length;
  if (stripped(text ?? "") !== inside) return false;
  const [first, last] = layout.whole([start, end]);
  return first !== start || last !== end;
}

/** The label of a token that is special, a space alone, or no part of the text. */
export function alone(one) {
  if (one.special || one.unknown || !one.written.length) return visible(one.name);
  return one.text ? visible(stripped(one.text) || one.text) : hex(one);
}

const hex = ({ written }) =>
  `‹${Array.from(written, (byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join(" ")}›`;
