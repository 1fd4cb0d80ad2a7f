// What a text loses without one of its heads: `sweep` in bartviz/experiments/ablation.py, head after head.

/** @import { Effect, Factors, Kind } from "./types.js" */
/** @import { Record } from "./capture.js" */
import { logSum, part } from "./arithmetic.js";
import { best, given } from "./generate.js";

/**
 * Every head of a record, silenced alone, with the change of log p of the text, in nats: of the output that the record
 * has, or, for a model that fills gaps, of its own best guesses. The tokens stay as they are (teacher forcing).
 * @param {Record} record
 * @param {(found: Effect[], all: number) => void} report after each head
 * @returns {Generator<void, Effect[]>}
 */
export function* effects(record, report = () => {}) {
  const heads = record.kinds.flatMap((kind) => {
    const [layers, count] = record.shape(kind);
    return Array.from({ length: layers * count }, (_, i) => ({ kind, layer: Math.floor(i / count), head: i % count }));
  });
  const rows = scored(record),
    { network } = record.model;
  const whole = network.encoder && network.decoder ? (yield* network.encode(record.source.ids)).states : null;
  const before = yield* logProbabilities(record, rows, {}, whole);
  const targets = before.map(({ token }) => token);
  /** @type {Effect[]} */
  const found = [];
  for (const head of heads) {
    const after = yield* logProbabilities(record, rows, silencing(record, head), whole, targets);
    const change = after.reduce((sum, one, i) => sum + one.logP - before[i].logP, 0);
    found.push({ ...head, change, turned: after.filter(({ best: now }, i) => now !== before[i].best).length });
    report(found, heads.length);
  }
  return found;
}

/**
 * The factors that silence one head.
 * @param {Record} record
 * @param {{ kind: Kind, layer: number, head: number }} head
 * @returns {Factors}
 */
function silencing(record, { kind, layer, head }) {
  const [layers, heads] = record.shape(kind);
  const factors = Array.from({ length: layers }, () => new Float32Array(heads).fill(1));
  factors[layer][head] = 0;
  return { [kind]: factors };
}

/** The rows whose predictions are compared: the steps', or the gaps', or without gaps those of the text. */
function scored(record) {
  if (record.steps.length) return record.steps.map(({ row }) => row);
  const rows = record.source.ids.map((_, row) => row);
  const gaps = record.gaps;
  return gaps.length ? gaps : rows.filter((row) => !record.source.special[row]);
}

/**
 * log p of the rows' tokens in a pass with factors; of their own best tokens where there are none.
 * @param {Record} record
 * @param {number[]} rows
 * @param {Factors} factors
 * @param {Float32Array | null} whole (S, d) the states of an encoder with all its heads, which a decoder reads
 * @param {number[] | null} targets
 * @returns {Generator<void, { logP: number, token: number, best: number }[]>}
 */
function* logProbabilities(record, rows, factors, whole, targets = null) {
  const { model, source } = record,
    { network } = model;
  if (record.steps.length) {
    const start = record.ids.slice(0, record.start),
      target = record.ids.slice(record.start);
    const states = factors.encoder ? (yield* network.encode(source.ids, { factors })).states : whole;
    const { steps } = yield* given(network, states, { start, target, factors });
    return steps.map(({ logP: value, token, best: [{ id }] }) => ({ logP: value, token, best: id }));
  }
  const { states } = yield* network.encode(source.ids, { segments: source.segments, factors });
  const { width } = network.spec;
  return rows.map((row, i) => {
    const logits = network.logits(part(states, row, width), 1),
      [first] = best(logits, 1),
      token = targets ? targets[i] : first;
    return { logP: logits[token] - logSum(logits), token, best: first };
  });
}
