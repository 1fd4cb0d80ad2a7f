// The engine as a web page asks it: `bartviz` in the page's console, and in pages of others. A model runs in a worker.

/** @import { Found, Head, LiveModel as Known, Options } from "./types.js" */

/** What the engine could not do: `code` says why, `values` what a sentence needs. */
export class EngineError extends Error {
  constructor(code, values = {}) {
    super([code, ...Object.values(values)].join(": "));
    this.code = code;
    this.values = values;
  }
}

/** The worker, and its answers by question. */
export class Engine {
  /** @param {string} script of the worker */
  constructor(script) {
    this.worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
    this.asked = 0;
    /** @type {Map<number, { resolve: Function, reject: Function, report: Function }>} */
    this.waiting = new Map();
    this.worker.onmessage = ({ data: { serial, found, failed, ...progress } }) => {
      const { resolve, reject, report } = this.waiting.get(serial) ?? {};
      if (!resolve) return;
      if (!found && !failed) return report?.(progress);
      this.waiting.delete(serial);
      if (found) resolve(found);
      else reject(new EngineError(failed.code, failed.values));
    };
    this.worker.onerror = ({ message }) => {
      for (const { reject } of this.waiting.values()) reject(new EngineError("broken", { what: message }));
      this.waiting.clear();
    };
  }

  /**
   * What the engine answers to a question.
   * @param {string} about
   * @param {object} asked
   * @param {((progress: any) => void) | null} report
   * @returns {Promise<any>}
   */
  ask(about, asked = {}, report = null) {
    const serial = ++this.asked;
    return new Promise((resolve, reject) => {
      this.waiting.set(serial, { resolve, reject, report });
      this.worker.postMessage({ serial, about, ...asked });
    });
  }
}

/** What this browser lacks to run a model; null for nothing. */
export function lacks() {
  const has = {
    DecompressionStream: "DecompressionStream" in globalThis, // without it not even the record is shown
    Worker: "Worker" in globalThis,
    BigInt64Array: "BigInt64Array" in globalThis,
    "Intl.Segmenter": "Segmenter" in Intl,
    "String.toWellFormed": "toWellFormed" in String.prototype,
    "RegExp.unicodeSets": "unicodeSets" in RegExp.prototype,
  };
  return Object.keys(has).find((name) => !has[name]) ?? null;
}

/** A model that has been read. */
export class LiveModel {
  /**
   * @param {Engine} engine
   * @param {number} number
   * @param {Pick<Known, "name" | "kind" | "first" | "heads" | "predicts">} known
   */
  constructor(engine, number, { name, kind, first, heads, predicts }) {
    this.engine = engine;
    this.number = number;
    this.name = name;
    this.kind = kind;
    this.first = first;
    this.heads = heads;
    this.predicts = predicts;
  }

  /**
   * Every head and step of a text.
   *
   * target: an output that is read instead of written. pair: a second text, for BERT and its relatives. beams: of a
   * beam search; 1 is greedy. ablate: heads that are silenced, such as "cross L2H5". force: tokens (ids or texts) by
   * step. typed: whether a special token in the text, such as [MASK], counts as one. Throws EngineError, whose code is
   * "too long", "empty", "memory", ..., and RangeError for what the model does not have.
   * @param {string} text
   * @param {Options} asked
   */
  async capture(text, asked = {}, report = null) {
    const { target = null, pair = null, beams = 1, ablate = [], force = {}, typed = false, ...unknown } = asked;
    if (typeof text !== "string") throw new TypeError("capture(text, options): the text is a string.");
    if (Object.keys(unknown).length)
      throw new TypeError(`There is no option "${Object.keys(unknown)[0]}": choose ${OPTIONS.join(", ")}.`);
    if (!(Number.isInteger(beams) && beams >= 1 && beams <= BEAMS))
      throw new RangeError(`beams is a whole number from 1 to ${BEAMS}.`);
    if (!Array.isArray(ablate)) throw new TypeError('ablate is a list of heads, such as ["cross L2H5"].');
    if ((pair ?? null) !== null && this.kind !== "encoder")
      throw new RangeError(`${this.name} reads one text: leave out "pair", which BERT and its relatives read.`);
    const options = {
      target,
      pair,
      beams,
      typed,
      aligning: this.first.kind === "cross" ? this.first : null,
      silence: ablate.map((name) => this.headOf(name)),
      forced: Object.entries(force).map(([step, token]) => [Number(step), token]),
    };
    const found = await this.engine.ask("capture", { model: this.number, text, options }, report);
    return new LiveRecord(this, found, asked);
  }

  /**
   * A head of this model, of its name. Throws RangeError, which names the heads that there are.
   * @param {string} name
   */
  headOf(name) {
    const found = headOf(name);
    if (has(this.heads[found.kind], found)) return found;
    throw missing(found, this.heads, this.name);
  }
}

const OPTIONS = ["target", "pair", "beams", "ablate", "force", "typed"];
const BEAMS = 16; // at most

const has = ([layers, heads] = [0, 0], { layer, head }) => inside(layer, layers) && inside(head, heads);
const inside = (number, count) => Number.isInteger(number) && number >= 0 && number < count;

/** What is not there, and what is. */
function missing({ kind, layer, head }, shapes, where) {
  const there = Object.entries(shapes).map(([one, [layers, heads]]) => `${one} L0H0 to L${layers - 1}H${heads - 1}`);
  return new RangeError(`There is no ${kind} L${layer}H${head} in ${where}, which has ${there.join(", ")}.`);
}

/** A text as a model has read it. */
export class LiveRecord {
  /**
   * @param {LiveModel} model
   * @param {Found} found
   * @param {Options} asked how it was made
   */
  constructor(model, found, asked) {
    this.asked = asked;
    this.model = model;
    this.engine = model.engine;
    this.found = found;
    this.serial = found.serial;
    this.text = found.text;
    this.written = found.written;
    this.source = found.source;
    this.output = found.output;
    this.steps = found.steps;
    this.gaps = found.gaps;
    this.gone = false;
  }

  /**
   * The weights of a head, row by row.
   * @param {Head["kind"]} kind
   * @param {number} layer
   * @param {number} head
   * @returns {Promise<number[][]>}
   */
  async head(kind, layer, head) {
    this.check(kind, layer, head);
    return (await this.engine.ask("head", { record: this.serial, kind, layer, head })).rows;
  }

  /** What a row of a head computes: query, keys, products, scores, weights, values, output. */
  async inside(kind, layer, head, row) {
    this.check(kind, layer, head);
    const rows = this.found.shapes[kind][2];
    if (!inside(row, rows)) throw new RangeError(`There is no row ${row}: this text has rows 0 to ${rows - 1}.`);
    return (await this.engine.ask("inside", { record: this.serial, kind, layer, head, row })).inside;
  }

  /** Every head with the change of log p of the text, in nats, without it. */
  async effects(report = null) {
    this.check();
    if (!this.model.predicts) throw new RangeError(`${this.model.name} predicts no tokens: no head changes one.`);
    return (await this.engine.ask("effects", { record: this.serial }, report)).heads;
  }

  /** The bytes of the file that `bartviz.open` reads in Python. */
  async saved(version) {
    this.check();
    return (await this.engine.ask("save", { record: this.serial, version })).file;
  }

  /** Throw an Error for a record that was forgotten, RangeError for a head that it does not have. */
  check(kind = null, layer = 0, head = 0) {
    if (this.gone) throw new Error("This record was forgotten. Run the text again.");
    if (kind !== null && !has(this.found.shapes[kind], { layer, head }))
      throw missing({ kind, layer, head }, this.found.shapes, "this record");
  }

  forget() {
    this.gone = true;
    this.engine.ask("forget", { record: this.serial }).catch(() => {});
  }
}

/**
 * A head of its name, such as "cross L2H5".
 * @param {string} name
 * @returns {Head}
 */
export function headOf(name) {
  const found = /^\s*(encoder|decoder|cross)\s+L(\d+)H(\d+)\s*$/i.exec(name);
  if (!found) throw new RangeError(`A head is written as "cross L2H5", not as "${name}".`);
  return {
    kind: /** @type {Head["kind"]} */ (found[1].toLowerCase()),
    layer: Number(found[2]),
    head: Number(found[3]),
  };
}
