// A record as the bytes of the file that Python opens: `encode` in bartviz/record/store.py, a file of safetensors.

/** @import { Kind, Numbers, Tokens } from "./types.js" */
/** @import { Record } from "./capture.js" */
import { given } from "./generate.js";
import { sha256 } from "./sha256.js";

const VERSION = 3; // of the format
const SAMPLED = 8; // rows of a layer that Python computes again
const TYPES = { F32: "<f4", I64: "<i8", BOOL: "|b1" }; // NumPy's names of these types
const MODES = { written: "greedy", given: "given target", beams: "beam search", read: "one pass" };

/**
 * @param {Record} record
 * @param {{ version: string, seconds?: number, settings?: object }} made version: of bartviz; settings: what was asked
 * @returns {Generator<void, Uint8Array<ArrayBuffer>>}
 */
export function* saved(record, { version, seconds = 0, settings = {} }) {
  const arrays = new Arrays();
  const attention = (kind) => (record.tapes[kind] ? attentionOf(record, kind, arrays) : null);
  const { model, steps } = record;
  const kinds = Object.fromEntries(["encoder", "decoder", "cross"].map((kind) => [kind, attention(kind)]));
  const checks = record.kinds.map((kind) => ({
    name: "layers on the tape",
    value: missing(record, kind),
    limit: 0,
    kind,
  }));
  if (steps.length)
    checks.unshift({ name: "the network's logits", value: yield* difference(record), limit: 4e-4, kind: null });
  const { text, pair, written, output, stopped } = record;
  const value = {
    model: model.info,
    source_text: text,
    target_text: steps.length ? written : null,
    ...kinds,
    output: output && tokensOf(output, "output", arrays),
    steps: steps.map((step) => stepOf(record, step)),
    provenance: {
      versions: { bartviz: version, engine: "browser" },
      dtype: "float32",
      settings: { mode: MODES[record.made], ...settings },
      checks,
      seconds,
      stopped,
      notices: [],
    },
    beams: record.tree && treeOf(record),
    pair_text: pair,
    prediction: null,
    turns: [],
  };
  return arrays.file(JSON.stringify({ version: VERSION, type: "Record", value }));
}

/** Arrays by name, of which a file is made. */
class Arrays {
  constructor() {
    /** @type {Map<string, { type: keyof typeof TYPES, shape: number[], bytes: Uint8Array }>} */
    this.all = new Map();
  }

  /** @returns {{ $array: string }} what stands for the array */
  add(name, type, shape, values) {
    this.all.set(name, { type, shape, bytes: new Uint8Array(values.buffer, values.byteOffset, values.byteLength) });
    return { $array: name };
  }

  integers = (name, shape, values) =>
    this.add(
      name,
      "I64",
      shape,
      BigInt64Array.from(values, (value) => BigInt(value)),
    );
  truths = (name, shape, values) => this.add(name, "BOOL", shape, Uint8Array.from(values, Number));
  numbers = (name, shape, values) => this.add(name, "F32", shape, values);

  /** @param {string} header */
  file(header) {
    const named = [...this.all].sort(([a], [b]) => (a < b ? -1 : 1)),
      encoder = new TextEncoder();
    const digest = sha256([
      encoder.encode(header),
      ...named.flatMap(([name, { type, shape, bytes }]) => [
        encoder.encode(`${name} ${TYPES[type]} (${shape.join(", ")}${shape.length === 1 ? "," : ""})`),
        bytes,
      ]),
    ]);
    /** @type {object} */
    const index = { __metadata__: { bartviz: header, digest } };
    let end = 0;
    for (const [name, { type, shape, bytes }] of named)
      index[name] = { dtype: type, shape, data_offsets: [end, (end += bytes.length)] };
    const text = encoder.encode(JSON.stringify(index)),
      length = Math.ceil(text.length / 8) * 8;
    const file = new Uint8Array(8 + length + end).fill(32, 8, 8 + length);
    new DataView(file.buffer).setBigUint64(0, BigInt(length), true);
    file.set(text, 8);
    let at = 8 + length;
    for (const [, { bytes }] of named) {
      file.set(bytes, at);
      at += bytes.length;
    }
    return file;
  }
}

/**
 * @param {Record} record
 * @param {Kind} kind
 * @param {Arrays} arrays
 */
function attentionOf(record, kind, arrays) {
  const [layers, heads, rows, columns] = record.shape(kind),
    tape = record.tapes[kind],
    d = record.model.network.spec.width / heads;
  const all = (name, count, of) =>
    arrays.numbers(`${kind}.${name}`, [layers, heads, count, d], byHead(tape.map(of), heads, count, d));
  const mask = Array.from({ length: rows * columns }, (_, i) =>
    kind === "decoder" ? i % columns <= Math.floor(i / columns) : true,
  );
  return {
    kind,
    q: all("q", rows, ({ q }) => q),
    k: all("k", columns, ({ k }) => k),
    scale: 1 / Math.sqrt(d),
    mask: arrays.truths(`${kind}.mask`, [rows, columns], mask),
    query: tokensOf(record.queries(kind), `${kind}.query`, arrays),
    key: tokensOf(record.keys(kind), `${kind}.key`, arrays),
    v: all("v", columns, ({ v }) => v),
    sample: sampleOf(record, kind, arrays),
    ...Object.fromEntries(
      ["bias", "windows", "softcap", "sinks", "out", "out_bias", "weights"].map((name) => [name, null]),
    ),
  };
}

/** Rows of all heads side by side, of each layer, as (L, H, n, d). */
function byHead(layers, heads, n, d) {
  const all = new Float32Array(layers.length * heads * n * d);
  let at = 0;
  for (const rows of layers)
    for (let head = 0; head < heads; head++)
      for (let i = 0; i < n; i++, at += d)
        all.set(rows.subarray((i * heads + head) * d, (i * heads + head + 1) * d), at);
  return all;
}

/** What a head of every layer took from the values in the pass, at some rows, which Python computes again. */
function sampleOf(record, kind, arrays) {
  const [layers, heads, rows] = record.shape(kind),
    d = record.model.network.spec.width / heads,
    count = Math.min(rows, SAMPLED);
  const chosen = Array.from({ length: count }, (_, i) => Math.floor((i * rows) / count));
  const each = Array.from({ length: layers }, (_, layer) => layer);
  const output = new Float32Array(layers * count * d);
  each.forEach((layer) =>
    chosen.forEach((row, i) => {
      const at = (row * heads + (layer % heads)) * d;
      output.set(record.tapes[kind][layer].z.subarray(at, at + d), (layer * count + i) * d);
    }),
  );
  const name = `${kind}.sample`;
  return {
    heads: arrays.integers(
      `${name}.heads`,
      [layers, 1],
      each.map((layer) => layer % heads),
    ),
    rows: arrays.integers(
      `${name}.rows`,
      [layers, count],
      each.flatMap(() => chosen),
    ),
    output: arrays.numbers(`${name}.output`, [layers, 1, count, d], output),
    v: null,
  };
}

/**
 * @param {Tokens} tokens
 * @param {string} name
 * @param {Arrays} arrays
 */
function tokensOf({ ids, pieces, labels, words, special, segments, spans }, name, arrays) {
  return {
    ids: arrays.integers(`${name}.ids`, [ids.length], ids),
    pieces,
    labels,
    words,
    special: arrays.truths(`${name}.special`, [ids.length], special),
    segments: arrays.integers(`${name}.segments`, [ids.length], segments),
    spans,
  };
}

const candidate = (id, label, p, logit) => ({ token_id: id, label, probability: p, logit, filtered: null });

/**
 * @param {Record} record
 * @param {Numbers} step
 */
function stepOf(record, { position, row, token, rule, best, logit, p, logP, bits }) {
  return {
    position,
    row,
    chosen: candidate(token, record.label(token, row), p, logit),
    candidates: best.map((one) => candidate(one.id, record.label(one.id, row), one.p, one.logit)),
    entropy: bits,
    log_probability: logP,
    rule,
  };
}

/** Layers that the pass did not write down. */
function missing({ model: { network }, tapes }, kind) {
  const { layers } = kind === "encoder" ? network.spec.encoder : network.spec.decoder;
  return layers.length - tapes[kind].length;
}

/**
 * How far the logits of the steps are from those of one pass over the whole text, relative to the largest.
 * @param {Record} record
 * @returns {Generator<void, number>}
 */
function* difference({ model, source, ids, start, steps, factors }) {
  const { network } = model;
  const states = network.encoder ? (yield* network.encode(source.ids, { factors })).states : null;
  const again = yield* given(network, states, { start: ids.slice(0, start), target: ids.slice(start), factors });
  const apart = steps.map(({ logit, bits, best }, i) => {
    const other = again.steps[i];
    const logits = best.map((one, k) => Math.abs(one.logit - other.best[k].logit));
    return (
      Math.max(...logits, Math.abs(logit - other.logit), Math.abs(bits - other.bits)) /
      Math.max(1, Math.abs(best[0].logit))
    );
  });
  return Math.max(...apart);
}

/** The continuations that a beam search considered: `BeamTree` in bartviz/record/beam_tree.py. */
function treeOf(record) {
  const { tree, model } = record;
  const path = (node) => {
    const found = [];
    for (let at = node; at !== null; at = tree.nodes[at].parent) found.unshift(at);
    return found;
  };
  const named = new Set(tree.nodes.flatMap(({ state }, i) => (state === "finished" ? path(i) : [])));
  const totals = [];
  const nodes = tree.nodes.map(({ step, parent, token, score, rank, state, p, logit, logP, rule }, i) => {
    const ids = path(i).map((at) => tree.nodes[at].token),
      before = [...record.ids.slice(0, record.start), ...ids.slice(0, -1)];
    totals[i] = logP + (parent === null ? 0 : totals[parent]);
    return {
      step,
      parent,
      token: candidate(token, model.tokenizer.label(token, before.slice(record.start)), p, logit),
      total: totals[i],
      score,
      rank,
      state: i === tree.best ? "best" : state,
      rule,
      text: named.has(i) ? model.tokenizer.written(ids)[0] : null,
    };
  });
  const { beams, lengthPenalty, earlyStopping } = tree;
  return { beams, length_penalty: lengthPenalty, early_stopping: earlyStopping, nodes, best: tree.best };
}
