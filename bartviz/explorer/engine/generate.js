// Writing a text token by token: greedy, by beam search, or along a given output.

/** @import { Generation, Numbers, Written } from "./types.js" */
/** @import { Network } from "./network.js" */
import { logSum } from "./arithmetic.js";
import { choose, rulesOf } from "./rules.js";

/**
 * The numbers of a step from its raw logits: the best candidates, the entropy in bits, log p of what was chosen.
 * @param {Float32Array} logits (V,)
 * @param {number} token
 * @param {number} position
 * @param {number} row
 * @param {string | null} rule
 * @returns {Numbers}
 */
export function numbersOf(logits, token, position, row, rule, count = 10) {
  const sum = logSum(logits);
  let mean = 0;
  for (const logit of logits) if (logit !== -Infinity) mean += Math.exp(logit - sum) * logit;
  return {
    position,
    row,
    token,
    rule,
    best: best(logits, count).map((id) => ({ id, logit: logits[id], p: Math.exp(logits[id] - sum) })),
    logit: logits[token],
    p: Math.exp(logits[token] - sum),
    logP: logits[token] - sum,
    bits: Math.max(0, (sum - mean) / Math.LN2),
  };
}

/** The indexes of the largest numbers, the largest first. */
export function best(numbers, count) {
  const found = [];
  let least = -Infinity;
  for (let i = 0; i < numbers.length; i++) {
    if (found.length === count && numbers[i] <= least) continue;
    let at = found.length;
    while (at > 0 && numbers[found[at - 1]] < numbers[i]) at--;
    found.splice(at, 0, i);
    if (found.length > count) found.pop();
    least = numbers[found.at(-1)];
  }
  return found;
}

/**
 * The most probable token at every step.
 * @param {Network} network
 * @param {Float32Array | null} states the encoder's
 * @param {{ generation: Generation, start: number[], source: number[] | null, factors?: object, forced?: Map<number,
 *   number>, most?: number | null, report?: (done: number, most: number) => void }} options forced: tokens by position
 * @returns {Generator<void, Written>}
 */
export function* greedy(network, states, options) {
  const { generation, start, source, factors, forced = new Map(), most = null, report = () => {} } = options;
  const longest = longestOf(generation, network.spec.positions, start.length, most);
  const rules = rulesOf(generation, { prompt: start.length, longest, source });
  const writer = network.writer(states, factors),
    ids = [...start];
  /** @type {Numbers[]} */
  const steps = [];
  let logits = yield* writer.next(start);
  for (;;) {
    const position = steps.length;
    const found = forced.has(position)
      ? { token: forced.get(position), rule: "chosen by you" }
      : choose(rules, ids, logits);
    steps.push(numbersOf(logits, found.token, position, ids.length - 1, found.rule));
    ids.push(found.token);
    report(steps.length, longest - start.length);
    if (generation.ends.includes(found.token) || ids.length >= longest) break;
    logits = yield* writer.next([found.token]);
  }
  return { ids, steps, writer, stopped: stoppedBy(steps.at(-1), generation) };
}

/**
 * A given output, read in one pass: a step for each of its tokens.
 * @param {Network} network
 * @param {Float32Array | null} states
 * @param {{ start: number[], target: number[], factors?: object }} options
 * @returns {Generator<void, Written>}
 */
export function* given(network, states, { start, target, factors }) {
  const writer = network.writer(states, factors),
    read = [...start, ...target.slice(0, -1)],
    all = yield* writer.read(read),
    { width } = network.spec;
  const steps = target.map((token, position) => {
    const row = start.length - 1 + position;
    const logits = network.logits(all.subarray(row * width, (row + 1) * width), 1);
    return numbersOf(logits, token, position, row, null);
  });
  return { ids: [...start, ...target], steps, writer, stopped: null };
}

/** Tokens in all that a text may have: `longest_of` in Python. */
export function longestOf(generation, positions, prompt, most = null) {
  const wanted = most ?? generation.mostNew;
  const longest = wanted || !generation.longest ? prompt + (wanted || 128) : generation.longest;
  return Math.min(longest, positions ?? Infinity);
}

/** Why a text ended: `stopped` in bartviz/run/loop.py. */
export function stoppedBy(last, { ends }) {
  const forced = last.rule === "forced end token" && !ends.includes(last.best[0].id);
  return ends.includes(last.token) && !forced ? "end token" : "length limit";
}
