// Text -> ids and spans, as the `tokenizers` library does it: byte-level BPE, WordPiece and SentencePiece's unigram,
// read from a tokenizer.json. Spans count code points, as Python does. Tested with `node --test` on fuzzed texts.

/** @import { Raw, Tokens, TokenizerSpec } from "./types.js" */
import { CONTINUES } from "./continues.js";
import { Scheme, alone, described, token, writtenBy } from "./described.js";
import { visible } from "./layout.js";
import { Bpe, SentencePiece, Unigram, WordPiece } from "./models.js";
import { Text, normalizer } from "./normalizers.js";
import { preTokenizer } from "./pretokenizers.js";

const CONTEXT = 8; // tokens before that can change a label

export class Tokenizer {
  /** @param {TokenizerSpec} spec */
  constructor(spec) {
    this.spec = spec;
    const { model, added_tokens: added } = spec.json;
    this.normalize = normalizer(spec.json.normalizer);
    this.split = preTokenizer(spec.json.pre_tokenizer);
    this.special = new Set(spec.special);
    this.mask = spec.mask; // the id of the token that stands for a gap
    /** @type {Map<number, string>} */
    this.names = new Map();
    const literal = new Set(added.filter(({ id }) => this.special.has(id)).map(({ content }) => content));
    this.model = { BPE: Bpe, SentencePiece, Unigram, WordPiece }[model.type].of(model, literal);
    for (const [name, id] of this.model.entries()) this.names.set(id, name);
    for (const { id, content } of added) this.names.set(id, content);
    this.added = added.toSorted((a, b) => b.content.length - a.content.length);
    this.ids = new Map([...this.names].map(([id, name]) => [name, id]));
    this.scheme = new Scheme(spec.scheme);
  }

  /** The piece of an id, and the bytes of its text; an id without a piece is named by its number. */
  piece(id) {
    const name = this.names.get(id);
    if (name === undefined) return { name: `‹id ${id}›`, written: new Uint8Array(0) };
    return { name, written: this.special.has(id) ? new TextEncoder().encode(name) : this.scheme.bytesOf(name) };
  }

  /**
   * The tokens of a text, or of a pair of texts, as a reader sees them: `encode` with labels, words and spans.
   * @param {string} text
   * @param {{ pair?: string | null, typed?: boolean, target?: boolean }} options
   * @returns {Tokens}
   */
  tokens(text, options = {}) {
    const raw = this.encode(text, options).map(({ id, ...rest }) => this.token(id, rest));
    return described(raw, (options.pair ?? null) === null ? [text] : [text, options.pair]);
  }

  /**
   * The text that ids write, without special tokens, and the tokens, whose spans are those of that text.
   * @param {number[]} ids
   * @returns {[text: string, tokens: Tokens]}
   */
  written(ids) {
    const tokens = ids.map((id) => this.token(id, { special: this.special.has(id) }));
    return writtenBy(tokens, this.scheme);
  }

  /**
   * The label of a token as the next one after `previous`: `label` in bartviz/text.
   * @param {number} id
   * @param {number[]} previous
   */
  label(id, previous) {
    const one = this.token(id, { special: this.special.has(id) });
    if (one.text && (one.special || one.unknown || one.blank || one.text.replace(/^ +/, "") !== one.text))
      return alone(one);
    const [context, tokens] = this.written([...previous.slice(-CONTEXT), id]);
    const name = tokens.labels.at(-1),
      span = tokens.spans.at(-1);
    return name === CONTINUES && span ? CONTINUES + visible([...context].slice(...span).join("")) : name;
  }

  token(id, rest) {
    return token(id, this.piece(id), { unknown: id === this.spec.unknown, ...rest });
  }

  /**
   * The tokens of a text, or of a pair of texts, with the special tokens that the model expects around them.
   * @param {string} text
   * @param {{ pair?: string | null, typed?: boolean, target?: boolean }} options typed: whether a special token in the
   * text counts as one; target: as an output of the model
   * @returns {Raw[]}
   */
  encode(text, { pair = null, typed = false, target = false } = {}) {
    const parts = (pair === null ? [text] : [text, pair]).map((one, segment) => this.plain(one, segment, typed));
    const template = (target && this.spec.target) || (pair === null ? this.spec.single : this.spec.pair);
    let segment = 0;
    return template.flatMap((part) => {
      if (part === "A") return parts[0];
      if (part === "B") {
        segment = 1;
        return parts[1];
      }
      const [id, type] = part;
      return [{ id, segment: this.spec.typed ? type : segment, special: true, span: null }];
    });
  }

  /**
   * The tokens of a text alone.
   * @param {string} text
   * @param {number} segment
   * @param {boolean} typed
   * @returns {Raw[]}
   */
  plain(text, segment, typed) {
    const raw = (id, special, span) => ({ id, segment, special, span });
    const tokens = [];
    for (const { part, id } of this.parted(new Text(text), typed)) {
      if (id !== null) {
        tokens.push(raw(id, this.special.has(id), part.span(0, part.length)));
        continue;
      }
      const size = this.code(part);
      if (size) tokens.push(raw(this.spec.codes[part.slice(0, size).toString()], true, part.span(0, size)));
      const rest = part.slice(size, part.length);
      for (const word of this.split(this.normalize(rest)))
        for (const { id: found, from, to } of this.model.tokens(word, typed))
          tokens.push(raw(found, typed && this.special.has(found), word.span(from, to)));
    }
    return tokens;
  }

  /** How many signs the language code has that a text begins with, which says what to write (Marian); 0 without one. */
  code(text) {
    const found = this.spec.codes && /^>>.*?<</s.exec(text.toString())?.[0];
    return found && found in this.spec.codes ? [...found].length : 0;
  }

  /** The text between the added tokens that are typed in it, and these. */
  *parted(text, typed) {
    const added = this.added.filter(({ id }) => typed || !(this.spec.codes || this.special.has(id)));
    if (!added.length) return yield { part: text, id: null };
    const { signs } = text;
    let from = 0;
    for (let i = 0; i < signs.length;) {
      const found = added.find(({ content }) => matches(signs, i, content));
      if (!found) {
        i++;
        continue;
      }
      const size = [...found.content].length;
      let [begin, end] = [i, i + size];
      if (found.lstrip) while (begin > from && isSpace(signs[begin - 1])) begin--;
      if (found.rstrip) while (end < signs.length && isSpace(signs[end])) end++;
      if (begin > from) yield { part: text.slice(from, begin), id: null };
      yield { part: text.slice(begin, end), id: found.id };
      from = i = end;
    }
    if (from < signs.length) yield { part: text.slice(from, signs.length), id: null };
  }
}

const isSpace = (sign) => /\p{White_Space}/u.test(sign);

const matches = (signs, at, content) => {
  let i = at;
  for (const sign of content) if (signs[i++] !== sign) return false;
  return true;
};
