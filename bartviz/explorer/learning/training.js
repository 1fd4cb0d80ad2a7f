// A training that can be stopped, asked and judged at any moment. No document here: the worker and the tests run it.

import { Learner } from "./learner.js";
import { randomly } from "./random.js";
import { batch, BEGIN, byLength, END, example, partOf, TASKS } from "./tasks.js";

export const JUDGED = 100; // texts that were kept back
const TEXTS = 32; // of a batch
const UNSEEN = 7919; // the seed of the texts kept back: every training is judged by the same ones
const PASSED = 0.99; // of them

/**
 * @typedef {{ task: string, width: number, heads: number, layers: number, causal: boolean, rate: number, seed: number }} Settings
 * @typedef {{ steps: number, loss: number, told: number, own: number, heads: Shares[] }} Judgement
 *   loss: the mean since the last one, in nats; told: the share of texts kept back in which every word is right if all
 *   words before it are told; own: if it reads what it wrote itself
 * @typedef {{ layer: number, head: number, right: number, same: number, mirrored: number }} Shares the mean weight of
 *   cross-attention on the place that the word comes from, on the place with its own number, and on that counted from the end
 */

export class Training {
  /** @param {Settings} settings */
  constructor(settings) {
    const { task, rate, ...network } = settings;
    this.task = TASKS[task];
    this.rate = rate;
    this.learner = new Learner({
      ...network,
      source: this.task.source.length,
      target: this.task.target.length,
      places: this.task.most + 1,
    });
    this.random = randomly(settings.seed);
    const unseen = randomly(UNSEEN);
    this.unseen = byLength(Array.from({ length: JUDGED }, () => example(this.task, unseen, true)));
    this.losses = { sum: 0, count: 0 };
    this.passed = 0; // judgements in a row, up to the last
  }

  /** One step of learning; the loss of its batch, in nats. */
  learn() {
    const loss = this.learner.learn(batch(this.task, this.random, TEXTS), this.rate);
    this.losses.sum += loss;
    this.losses.count++;
    return loss;
  }

  /** Whether it passed the last two judgements, with all words before told: its own writing may still fail. */
  get done() {
    return this.passed >= 2;
  }

  /** @returns {Judgement} by the texts that were kept back */
  judge() {
    const { layers, heads } = this.learner.sizes;
    const shares = Array.from({ length: layers * heads }, (_, at) => ({
      layer: Math.floor(at / heads),
      head: at % heads,
      right: 0,
      same: 0,
      mirrored: 0,
    }));
    let told = 0,
      own = 0,
      rows = 0;
    for (const examples of this.unseen) {
      const part = partOf(this.task, examples),
        length = examples[0].words.length + 1;
      const written = this.learner.written(part.source, part.texts, length, { begin: BEGIN, end: END });
      own += rightTexts(written.ids, part.write, length);
      const { ids, cross } = this.learner.told(part);
      told += rightTexts(ids, part.write, length);
      rows += part.texts * (length - 1);
      for (const share of shares)
        examples.forEach(({ places }, text) =>
          places.forEach((place, row) => {
            const at = ((text * heads + share.head) * length + row) * length,
              weights = cross[share.layer];
            share.right += weights[at + place];
            share.same += weights[at + row];
            share.mirrored += weights[at + places.length - 1 - row];
          }),
        );
    }
    for (const share of shares) for (const name of ["right", "same", "mirrored"]) share[name] /= rows;
    const { sum, count } = this.losses;
    this.losses = { sum: 0, count: 0 };
    this.passed = told / JUDGED >= PASSED ? this.passed + 1 : 0;
    const loss = count ? sum / count : NaN;
    return { steps: this.learner.steps, loss, told: told / JUDGED, own: own / JUDGED, heads: shares };
  }

  /**
   * What it writes of a text now, the right answer, and the weights (heads, rows, columns) of cross-attention by layer:
   * a row for each word that it writes, the end's mark among them.
   * @param {string[]} words that it knows, `most` at most
   */
  attempt(words) {
    const { task, learner } = this,
      source = partOf(task, [task.solved(words)]).source,
      length = task.most + 1;
    const { ids, cross } = learner.written(source, 1, length, { begin: BEGIN, end: END });
    const end = ids.indexOf(END),
      rows = end < 0 ? length : end + 1,
      columns = words.length + 1;
    const written = Array.from(ids.subarray(0, rows), (id) => task.target[id]);
    const maps = cross.map((weights) =>
      Array.from({ length: learner.sizes.heads }, (_, head) =>
        Float32Array.from(weights.subarray(head * length * columns, (head * length + rows) * columns)),
      ),
    );
    return {
      words: [...words, task.source[END]],
      written,
      answer: [...task.solved(words).answer, task.target[END]],
      maps,
    };
  }
}

/** How many texts, `length` ids each, are the same in both. */
function rightTexts(ids, others, length) {
  let found = 0;
  for (let at = 0; at < ids.length; at += length)
    if (ids.subarray(at, at + length).every((id, i) => id === others[at + i])) found++;
  return found;
}
