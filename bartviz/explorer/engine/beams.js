// Beam search: bartviz/run/beam_search.py, which says what it does and whose names these are.

/** @import { Continuation, Generation, Written } from "./types.js" */
/** @import { Network } from "./network.js" */
import { logSum } from "./arithmetic.js";
import { best, longestOf, numbersOf, stoppedBy } from "./generate.js";
import { applied, deciding, rulesOf } from "./rules.js";

const NEVER = -1e9; // added to the log p of excluded continuations
const ALIVE = -1e8; // a sum of log p below this marks an empty slot

/** The search for one text: `advance` is given the scores of each beam until `done`. */
export class Search {
  /**
   * @param {number[]} start
   * @param {{ beams: number, lengthPenalty: number, earlyStopping: boolean | "never", longest: number, ends: number[] }}
   *   settings
   */
  constructor(start, settings) {
    const { beams } = settings;
    this.settings = settings;
    this.prompt = start.length;
    this.ids = Array.from({ length: beams }, () => [...start]);
    this.rows = Array.from({ length: beams }, () => 0);
    /** @type {Continuation[]} */
    this.nodes = [];
    /** @type {number | null} */
    this.best = null;
    this.done = false;
    this.totals = Float32Array.from({ length: beams }, (_, i) => (i ? NEVER : 0));
    this.numbers = Array.from({ length: beams }, () => /** @type {number | null} */ (null));
    this.pool = Array.from({ length: beams }, () => ({
      score: NEVER,
      there: false,
      number: /** @type {number | null} */ (null),
    }));
    this.canImprove = true;
  }

  /**
   * Choose among all continuations from log p after rules, (V,) for each beam.
   * @param {Float32Array[]} scores
   */
  advance(scores) {
    const { beams, lengthPenalty, longest, ends } = this.settings,
      vocabulary = scores[0].length;
    const length = this.ids[0].length + 1 - this.prompt;
    const considered = Math.min(Math.max(2, 1 + ends.length) * beams, beams * vocabulary);
    const sums = new Float32Array(beams * vocabulary);
    scores.forEach((row, beam) => {
      for (let i = 0; i < vocabulary; i++) sums[beam * vocabulary + i] = row[i] + this.totals[beam];
    });
    const found = best(sums, considered).map((at, rank) => {
      const token = at % vocabulary,
        ended = ends.includes(token) || length + this.prompt >= longest;
      const total = sums[at];
      return {
        total,
        beam: Math.floor(at / vocabulary),
        token,
        ended,
        rank,
        finished: ended && rank < beams,
        score: Math.fround(total / length ** lengthPenalty),
      };
    });
    const open = found.map(({ total, ended }) => Math.fround(total + (ended ? NEVER : 0)));
    const going = best(open, beams);
    const before = this.nodes.length;
    const numbers = found.map((one) => this.add(one, length - 1, going));
    this.finish(found, numbers);
    if (this.nodes.length === before && this.best === null) throw new Error("the rules forbid every token");
    this.rows = going.map((at) => found[at].beam);
    this.totals = Float32Array.from(going, (at) => open[at]);
    this.ids = going.map((at) => [...this.ids[found[at].beam], found[at].token]);
    this.numbers = going.map((at) => numbers[at]);
    this.done = this.nodes.length === before || found.every(({ ended }) => ended) || this.mayStop(length);
  }

  add({ total, beam, token, ended, rank, finished, score }, step, going) {
    if (total < ALIVE) return null;
    const state = finished ? "finished" : going.includes(rank) && !ended ? "open" : "pruned";
    this.nodes.push({ step, parent: this.numbers[beam], beam, token, total, score, rank, state });
    return this.nodes.length - 1;
  }

  finish(found, numbers) {
    const { beams } = this.settings;
    const all = [
      ...this.pool,
      ...found.map(({ score, finished }, i) => ({
        score: Math.fround(score + (finished ? 0 : NEVER)),
        there: finished,
        number: numbers[i],
      })),
    ];
    const kept = best(
      all.map(({ score }) => score),
      beams,
    );
    this.pool = kept.map((at) => all[at]);
    if (this.pool[0].there && this.pool[0].number !== null) this.best = this.pool[0].number;
  }

  mayStop(length) {
    const { lengthPenalty, earlyStopping, longest } = this.settings;
    const likely = earlyStopping === "never" && lengthPenalty > 0 ? longest - this.prompt : length;
    const reachable = Math.fround(this.totals[0] / likely ** lengthPenalty);
    const least = Math.min(...this.pool.map(({ score }) => score));
    this.canImprove &&= this.pool.some(({ there }) => reachable > (there ? least : NEVER));
    return !this.canImprove || (earlyStopping === true && this.pool.every(({ there }) => there));
  }

  /**
   * The nodes of a text, the first token's first.
   * @param {number | null} node
   */
  path(node) {
    const found = [];
    for (let at = node; at !== null; at = this.nodes[at].parent) found.unshift(at);
    return found;
  }
}

/**
 * The best text that a beam search finds, with the numbers of each of its steps, and the search.
 * @param {Network} network
 * @param {Float32Array | null} states the encoder's
 * @param {{ generation: Generation, start: number[], source: number[] | null, beams: number, factors?: object,
 *   most?: number | null, report?: (done: number, most: number) => void }} options
 * @returns {Generator<void, Written>}
 */
export function* beamSearch(network, states, options) {
  const { generation, start, source, beams, factors, most = null, report = () => {} } = options;
  const longest = longestOf(generation, network.spec.positions, start.length, most);
  const rules = rulesOf(generation, { prompt: start.length, longest, source });
  const { lengthPenalty, earlyStopping, ends } = generation;
  const search = new Search(start, { beams, lengthPenalty, earlyStopping, longest, ends });
  const first = network.writer(states, factors);
  let writers = [first];
  const logits = [yield* first.next(start)];
  /** @type {Map<number | null, Float32Array>} logits after each node */
  const after = new Map([[null, logits[0]]]);
  for (;;) {
    const scores = search.ids.map(
      (ids, beam) => applied(rules, ids, logP(after.get(search.numbers[beam]) ?? logits[0])).scores,
    );
    const [before, parents] = [search.nodes.length, search.ids];
    search.advance(scores);
    for (const node of search.nodes.slice(before)) {
      const raw = after.get(node.parent),
        sum = logSum(raw),
        logit = raw[node.token];
      const rule = deciding(rules, parents[node.beam], logP(raw), node.token);
      Object.assign(node, { logit, logP: logit - sum, p: Math.exp(logit - sum), rule });
    }
    report(search.ids[0].length - start.length, longest - start.length);
    if (search.done) break;
    const read = writers;
    writers = search.rows.map((row) => (read[row] ?? read[0]).copy());
    for (const [beam, writer] of writers.entries()) {
      if (search.totals[beam] < ALIVE) continue;
      after.set(search.numbers[beam], yield* writer.next([search.ids[beam].at(-1)]));
    }
  }
  const nodes = search.path(search.best).map((at) => search.nodes[at]),
    ids = [...start, ...nodes.map(({ token }) => token)];
  const steps = nodes.map(({ parent, token, rule }, position) =>
    numbersOf(after.get(parent), token, position, start.length - 1 + position, rule),
  );
  const writer = network.writer(states, factors);
  yield* writer.read(ids.slice(0, -1));
  const tree = { nodes: search.nodes, best: search.best, beams, lengthPenalty, earlyStopping };
  return { ids, steps, writer, stopped: stoppedBy(steps.at(-1), generation), tree };
}

/** log p of every token (V,), to which `generate` applies the rules in a beam search. */
function logP(logits) {
  const sum = logSum(logits);
  return logits.map((logit) => logit - sum);
}
