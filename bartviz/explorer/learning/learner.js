// A small encoder-decoder that learns: embeddings with learned positions, layers with a norm before each sublayer, and
// one more norm at the end of each side.

import { attention, crossEntropy, embedded, layerNorm, linear, relu, sum, Tape } from "./tape.js";
import { randomly } from "./random.js";

/**
 * @typedef {import("./tape.js").Tensor} Tensor
 * @typedef {{ source: number, target: number, places: number, width: number, heads: number, layers: number,
 *   causal: boolean, seed: number }} Sizes the words of each side, the longest text with its mark, and the network
 * @typedef {{ source: Uint8Array, read: Uint8Array, write: Uint8Array, texts: number }} Part texts of one length
 */

const WIDER = 4; // the feed-forward layer, in widths
const BETAS = [0.9, 0.98]; // of Adam
const SMALL = 1e-8;

/** The names and shapes of all parameters, in the order of the memory. @param {Sizes} sizes */
export function shapes({ source, target, places, width, layers }) {
  const found = {};
  const norm = (name) => Object.assign(found, { [`${name}.gain`]: [1, width], [`${name}.bias`]: [1, width] });
  const matrix = (name, rows, columns) =>
    Object.assign(found, { [`${name}.weight`]: [rows, columns], [`${name}.bias`]: [1, columns] });
  const heads = (name) => {
    norm(`${name}.norm`);
    for (const part of ["query", "key", "value", "out"]) matrix(`${name}.${part}`, width, width);
  };
  for (const [side, words] of [
    ["encoder", source],
    ["decoder", target],
  ]) {
    found[`${side}.words`] = [words, width];
    found[`${side}.places`] = [places, width];
    for (let layer = 0; layer < layers; layer++) {
      heads(`${side}.${layer}.self`);
      if (side === "decoder") heads(`${side}.${layer}.cross`);
      norm(`${side}.${layer}.feed.norm`);
      matrix(`${side}.${layer}.feed.in`, width, WIDER * width);
      matrix(`${side}.${layer}.feed.out`, WIDER * width, width);
    }
    norm(`${side}.norm`);
  }
  matrix("output", width, target);
  return /** @type {{ [name: string]: number[] }} */ (found);
}

export class Learner {
  /** @param {Sizes} sizes */
  constructor(sizes, Kind = /** @type {any} */ (Float32Array)) {
    if (sizes.width % sizes.heads) throw new RangeError(`${sizes.heads} heads do not divide a width of ${sizes.width}`);
    this.sizes = sizes;
    this.tape = new Tape(Kind);
    this.steps = 0;
    const all = Object.entries(shapes(sizes));
    const count = all.reduce((before, [, [rows, columns]]) => before + rows * columns, 0);
    this.values = new Kind(count);
    this.gradients = new Kind(count);
    this.moments = [new Kind(count), new Kind(count)];
    /** @type {{ [name: string]: Tensor }} */
    this.parameters = {};
    const normal = randomly(sizes.seed).normal;
    let at = 0;
    for (const [name, [rows, columns]] of all) {
      const to = at + rows * columns,
        value = this.values.subarray(at, to);
      if (name.endsWith(".gain")) value.fill(1);
      else if (!name.endsWith(".bias")) {
        const spread = name.endsWith(".weight") ? 1 / Math.sqrt(rows) : 1 / Math.sqrt(columns);
        for (let i = 0; i < value.length; i++) value[i] = spread * normal();
      }
      this.parameters[name] = { rows, columns, value, gradient: this.gradients.subarray(at, to) };
      at = to;
    }
  }

  #linear(x, name) {
    return linear(this.tape, x, this.parameters[`${name}.weight`], this.parameters[`${name}.bias`]);
  }

  #norm(x, name) {
    return layerNorm(this.tape, x, this.parameters[`${name}.gain`], this.parameters[`${name}.bias`]);
  }

  /** x and what its heads add to it; `memory` is what they look at, x itself without one. */
  #attended(x, name, texts, memory, causal) {
    const rows = this.#norm(x, `${name}.norm`),
      seen = memory ?? rows,
      [q, k, v] = [
        this.#linear(rows, `${name}.query`),
        this.#linear(seen, `${name}.key`),
        this.#linear(seen, `${name}.value`),
      ];
    const { y, weights } = attention(this.tape, q, k, v, texts, this.sizes.heads, causal);
    return { x: sum(this.tape, x, this.#linear(y, `${name}.out`)), weights };
  }

  #fed(x, name) {
    const inner = relu(this.tape, this.#linear(this.#norm(x, `${name}.norm`), `${name}.in`));
    return sum(this.tape, x, this.#linear(inner, `${name}.out`));
  }

  #start(ids, side, texts) {
    return embedded(
      this.tape,
      ids,
      this.parameters[`${side}.words`],
      this.parameters[`${side}.places`],
      ids.length / texts,
    );
  }

  /** What was read: (texts * length, width). @param {ArrayLike<number>} ids of texts of one length, one after another */
  encoded(ids, texts) {
    let x = this.#start(ids, "encoder", texts);
    for (let layer = 0; layer < this.sizes.layers; layer++) {
      ({ x } = this.#attended(x, `encoder.${layer}.self`, texts, null, false));
      x = this.#fed(x, `encoder.${layer}.feed`);
    }
    return this.#norm(x, "encoder.norm");
  }

  /** Logits (texts * length, words) of the word after each, and the cross weights (texts, heads, length, keys) by layer. */
  decoded(ids, memory, texts) {
    const cross = [];
    let x = this.#start(ids, "decoder", texts);
    for (let layer = 0; layer < this.sizes.layers; layer++) {
      ({ x } = this.#attended(x, `decoder.${layer}.self`, texts, null, this.sizes.causal));
      const found = this.#attended(x, `decoder.${layer}.cross`, texts, memory, false);
      x = this.#fed(found.x, `decoder.${layer}.feed`);
      cross.push(found.weights);
    }
    return { logits: this.#linear(this.#norm(x, "decoder.norm"), "output"), cross };
  }

  /**
   * The mean loss over all words of a batch, in nats; the gradients of all parameters are in `gradients` afterwards.
   * @param {Part[]} batch
   */
  loss(batch) {
    const words = batch.reduce((count, { write }) => count + write.length, 0);
    let found = 0;
    this.gradients.fill(0);
    for (const { source, read, write, texts } of batch) {
      this.tape.clear();
      const { logits } = this.decoded(read, this.encoded(source, texts), texts);
      found += crossEntropy(logits, write, words);
      this.tape.backward();
    }
    return found;
  }

  /** One step of Adam on a batch; the loss before it. */
  learn(batch, rate) {
    const found = this.loss(batch),
      [mean, square] = this.moments,
      step = ++this.steps,
      [a, b] = BETAS,
      whole = rate / (1 - a ** step),
      spread = Math.sqrt(1 - b ** step);
    for (let i = 0; i < this.values.length; i++) {
      const g = this.gradients[i];
      mean[i] = a * mean[i] + (1 - a) * g;
      square[i] = b * square[i] + (1 - b) * g * g;
      this.values[i] -= (whole * mean[i]) / (Math.sqrt(square[i]) / spread + SMALL);
    }
    return found;
  }

  /** The likeliest word after each of a part, all words before told, and the cross weights by layer. */
  told({ source, read, texts }) {
    this.tape.clear();
    const { logits, cross } = this.decoded(read, this.encoded(source, texts), texts),
      { rows, columns, value } = logits;
    return { ids: Uint8Array.from({ length: rows }, (_, row) => largest(value, row * columns, columns)), cross };
  }

  /**
   * What the network writes itself, the likeliest word each time: ids (texts, most), with the end's mark from where a text
   * ends, and the cross weights of the last pass, whose rows are the `most` steps.
   */
  written(source, texts, most, { begin, end }) {
    this.tape.clear();
    const memory = this.encoded(source, texts),
      found = new Uint8Array(texts * most).fill(end),
      held = { used: this.tape.used, memory: this.tape.memory };
    let cross = [];
    const read = (length) => {
      const ids = new Uint8Array(texts * length);
      for (let text = 0; text < texts; text++) {
        ids[text * length] = begin;
        for (let i = 1; i < length; i++) ids[text * length + i] = found[text * most + i - 1];
      }
      return ids;
    };
    for (let length = 1; length <= most; length++) {
      if (this.tape.memory === held.memory) this.tape.used = held.used; // a step's tensors are not needed after it
      const { logits, cross: weights } = this.decoded(read(length), memory, texts);
      this.tape.steps = [];
      cross = weights;
      for (let text = 0; text < texts; text++) {
        const last = text * most + length - 1;
        if (length > 1 && found[last - 1] === end) continue;
        found[last] = largest(logits.value, (text * length + length - 1) * logits.columns, logits.columns);
      }
    }
    return { ids: found, cross };
  }
}

/** Where the largest of `count` numbers from `at` is, counted from there. */
export function largest(values, at, count) {
  let found = 0;
  for (let i = 1; i < count; i++) if (values[at + i] > values[at + found]) found = i;
  return found;
}
