// A text through a model: its tokens, its attention, its steps. What the page shows is read from here.

/** @import { Factors, Generation, Inside, Kind, Numbers, Taped, Tokens, Tree } from "./types.js" */
/** @import { Network } from "./network.js" */
/** @import { Tokenizer } from "./tokenizer.js" */
import { part, softmax } from "./arithmetic.js";
import { beamSearch } from "./beams.js";
import { given, greedy, numbersOf } from "./generate.js";
import { weightsOf } from "./network.js";

/** @type {Kind[]} */
const KINDS = ["encoder", "decoder", "cross"];

/** A text that the model cannot read; `code` says why, `values` what the sentence needs. */
export class TextError extends Error {
  constructor(code, values = {}) {
    super(code);
    this.code = code;
    this.values = values;
  }
}

/** A model with its tokenizer and its settings for writing. */
export class Model {
  /**
   * @param {Network} network
   * @param {Tokenizer} tokenizer
   * @param {Generation} generation
   * @param {any} info
   */
  constructor(network, tokenizer, generation, info) {
    this.network = network;
    this.tokenizer = tokenizer;
    this.generation = generation;
    this.info = info;
    this.kind = network.encoder ? (network.decoder ? "encoder-decoder" : "encoder") : "decoder";
  }

  /**
   * Every head and step of a text.
   * @param {string} text
   * @param {{ pair?: string | null, typed?: boolean, target?: string | null, forced?: Map<number, number>,
   *   beams?: number, factors?: Factors, most?: number | null, report?: (done: number, most: number) => void }} options target: an output
   * to read instead of writing one; forced: tokens by step; factors: of heads' outputs; report: called after each step
   * @returns {Generator<void, Record>}
   */
  *capture(text, options = {}) {
    const { typed = false, target = null, factors = {}, beams = 1 } = options;
    const { network, tokenizer, generation } = this,
      cleaned = clean(text),
      pair = (options.pair ?? null) === null ? null : clean(options.pair);
    const source = tokenizer.tokens(cleaned, { pair, typed });
    this.fits(source.ids.length);
    if (this.kind === "encoder") {
      const { states, tape } = yield* network.encode(source.ids, { segments: source.segments, factors });
      return new Record(this, { text: cleaned, pair, source, states, factors, made: "read", tapes: { encoder: tape } });
    }
    const pass = network.encoder ? yield* network.encode(source.ids, { factors }) : null;
    const states = pass?.states ?? null;
    const start = pass ? [generation.start] : source.ids;
    const written = target === null ? null : this.targeted(target);
    const search = { ...options, generation, start, source: source.ids, factors };
    const done = written
      ? yield* given(network, states, { start, target: written, factors })
      : yield* beams > 1 ? beamSearch(network, states, { ...search, beams }) : greedy(network, states, search);
    const tapes = { ...(pass && { encoder: pass.tape }), ...done.writer.tape };
    const made = written ? "given" : beams > 1 ? "beams" : "written";
    return new Record(this, { text: cleaned, pair, source, tapes, factors, made, start, ...done });
  }

  /** The tokens of a given output, with the end token that closes it. */
  targeted(target) {
    try {
      const ids = this.tokenizer.encode(clean(target), { target: true }).map(({ id }) => id);
      this.fits(ids.length);
      return ids;
    } catch (error) {
      throw error instanceof TextError ? new TextError(`target ${error.code}`, error.values) : error;
    }
  }

  fits(count) {
    const { positions } = this.network.spec;
    if (positions !== null && count > positions) throw new TextError("too long", { count, limit: positions });
  }
}

/** The text without what breaks tokenizers: `clean` in bartviz/text/clean.py. */
export function clean(text) {
  const cleaned = text
    .replace(/^\ufeff+/, "")
    .replaceAll("\0", "")
    .toWellFormed()
    .replaceAll(/\r\n?|[\u2028\u2029\u0085]/g, "\n");
  if (!cleaned || /^[\p{White_Space}\p{Cc}\p{Cf}]*$/v.test(cleaned)) throw new TextError("empty");
  if ([...cleaned].length > 100_000) throw new TextError("too many characters", { limit: 100_000 });
  return cleaned;
}

/** A text as a model has read it. */
export class Record {
  /**
   * @param {Model} model
   * @param {{ text: string, source: Tokens, tapes: Partial<{ [kind in Kind]: Taped[] }>, start?: number[],
   *   ids?: number[], steps?: Numbers[], stopped?: string | null, states?: Float32Array, pair?: string | null,
   *   factors?: Factors, made: "read" | "given" | "beams" | "written", tree?: Tree }} parts made: how
   */
  constructor(
    model,
    { text, source, tapes, start = [], ids = [], steps = [], stopped = null, states = null, ...more },
  ) {
    this.model = model;
    this.pair = more.pair ?? null;
    this.factors = more.factors;
    this.made = more.made;
    this.tree = more.tree ?? null;
    this.text = text;
    this.source = source;
    this.tapes = tapes;
    this.steps = steps;
    this.stopped = stopped;
    this.states = states;
    this.start = start.length;
    this.ids = ids;
    const { tokenizer } = model;
    /** @type {Tokens | null} */
    this.read = null; // what the decoder read
    /** @type {Tokens | null} */
    this.output = null; // what its rows predicted
    this.written = "";
    if (steps.length) {
      const [target, tokens] = tokenizer.written(ids.slice(start.length));
      this.written = target;
      if (model.kind === "decoder") {
        this.read = tokenizer.written(ids.slice(0, -1))[1];
        this.output = tokenizer.written(ids.slice(1))[1];
      } else {
        const first = start.map((id) => tokenizer.token(id, { special: true }));
        this.read = precededBy(first, tokens, tokens.ids.length - 1);
        this.output = tokens;
      }
    }
  }

  /** @returns {Kind[]} */
  get kinds() {
    return KINDS.filter((kind) => this.tapes[kind]);
  }

  /** The rows of an encoder's text that are masks, to be filled. */
  get gaps() {
    const { mask } = this.model.tokenizer;
    if (this.made !== "read" || mask === null) return [];
    return this.source.ids.flatMap((id, row) => (id === mask ? [row] : []));
  }

  /**
   * The best tokens for each gap, of a model that fills gaps.
   * @returns {{ row: number, best: { id: number, label: string, p: number }[] }[]}
   */
  guesses(count = 10) {
    const { network, tokenizer } = this.model;
    if (!network.head.has("output layer weight")) return [];
    return this.gaps.map((row) => {
      const logits = network.logits(part(this.states, row, network.spec.width), 1);
      const { best } = numbersOf(logits, 0, 0, row, null, count);
      return { row, best: best.map(({ id, p }) => ({ id, label: tokenizer.label(id, []), p })) };
    });
  }

  /** The label of a token that a row predicts. */
  label(id, row) {
    return this.model.tokenizer.label(id, this.ids.slice(this.start, row + 1));
  }

  /**
   * What a row of a head computes, from its query to its output.
   * @param {Kind} kind
   * @param {number} layer
   * @param {number} head
   * @param {number} row
   * @returns {Inside}
   */
  inside(kind, layer, head, row) {
    const [, heads, , columns] = this.shape(kind),
      d = this.model.network.spec.width / heads,
      { q, k, v, z } = this.tapes[kind][layer];
    const own = (all, i) => all.slice((i * heads + head) * d, (i * heads + head + 1) * d);
    const query = own(q, row),
      seen = kind === "decoder" ? row + 1 : columns;
    const keys = Array.from({ length: seen }, (_, i) => own(k, i));
    const products = keys.map((key) => key.reduce((sum, value, c) => sum + value * query[c], 0));
    const scores = products.map((product) => product / Math.sqrt(d));
    return {
      d,
      query,
      keys,
      products,
      scores,
      weights: softmax(Float32Array.from(scores)),
      values: Array.from({ length: seen }, (_, i) => own(v, i)),
      output: own(z, row),
    };
  }

  /** The tokens of the rows of a kind. */
  queries(kind) {
    return kind === "encoder" ? this.source : this.read;
  }

  /** The tokens of its columns. */
  keys(kind) {
    return kind === "decoder" ? this.read : this.source;
  }

  /** [layers, heads, rows, columns] of a kind. */
  shape(kind) {
    const { spec } = this.model.network,
      tape = this.tapes[kind];
    const { heads } = kind === "encoder" ? spec.encoder : spec.decoder;
    const rows = tape[0].q.length / spec.width;
    return [tape.length, heads, rows, tape[0].k.length / spec.width];
  }

  /**
   * The weights of a head, row by row: softmax(q k^T / sqrt(d)), computed when it is asked for.
   * @param {Kind} kind
   * @param {number} layer
   * @param {number} head
   * @returns {Float32Array} (Q, K)
   */
  weights(kind, layer, head) {
    const [, heads, rows, columns] = this.shape(kind),
      { width } = this.model.network.spec,
      d = width / heads,
      { q, k } = this.tapes[kind][layer];
    const weights = new Float32Array(rows * columns);
    for (let i = 0; i < rows; i++) {
      const seen = kind === "decoder" ? i + 1 : columns; // a causal mask
      weights.set(weightsOf(q, i, k, seen, width, head * d, d), i * columns);
    }
    return weights;
  }

  /**
   * A head as rows of numbers, for the console and for pages of others.
   * @param {Kind} kind
   * @param {number} layer
   * @param {number} head
   */
  head(kind, layer, head) {
    const [, , rows, columns] = this.shape(kind),
      weights = this.weights(kind, layer, head);
    return Array.from({ length: rows }, (_, i) => Array.from(weights.subarray(i * columns, (i + 1) * columns)));
  }
}

/**
 * What a decoder read: its start, and all that it wrote but the last.
 * @param {any[]} first
 * @param {Tokens} tokens
 * @param {number} count
 * @returns {Tokens}
 */
function precededBy(first, tokens, count) {
  const none = first.map(() => null),
    names = first.map(({ name }) => name);
  return {
    ids: [...first.map(({ id }) => id), ...tokens.ids.slice(0, count)],
    pieces: [...names, ...tokens.pieces.slice(0, count)],
    labels: [...names, ...tokens.labels.slice(0, count)],
    words: [...none, ...tokens.words.slice(0, count)],
    special: [...first.map(() => true), ...tokens.special.slice(0, count)],
    segments: [...first.map(() => 0), ...tokens.segments.slice(0, count)],
    spans: [...none, ...tokens.spans.slice(0, count)],
  };
}
