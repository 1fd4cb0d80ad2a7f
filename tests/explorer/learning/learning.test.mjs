// The learner of the browser: gradients against differences, and tasks by hand.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Learner } from "../../../bartviz/explorer/learning/learner.js";
import { randomly } from "../../../bartviz/explorer/learning/random.js";
import {
  batch,
  BEGIN,
  byLength,
  END,
  example,
  keptBack,
  partOf,
  TASKS,
} from "../../../bartviz/explorer/learning/tasks.js";
import { Training } from "../../../bartviz/explorer/learning/training.js";

const SETTINGS = { task: "reverse", width: 32, heads: 2, layers: 1, causal: true, rate: 0.005, seed: 1 };

function small(causal, Kind) {
  const task = TASKS.reverse,
    sizes = { source: 10, target: 10, places: task.most + 1, width: 8, heads: 2, layers: 2, causal, seed: 4 };
  return { task, learner: new Learner(sizes, Kind) };
}

for (const causal of [true, false])
  test(`gradients are the slopes of the loss, ${causal ? "with" : "without"} the causal mask`, () => {
    const { task, learner } = small(causal, Float64Array),
      parts = batch(task, randomly(2), 4),
      step = 1e-5;
    learner.loss(parts);
    const gradients = learner.gradients.slice();
    const random = randomly(6);
    for (const { value } of Object.values(learner.parameters))
      for (let i = 0; i < 3; i++) {
        const at = (value.byteOffset - learner.values.byteOffset) / 8 + random.below(value.length),
          kept = learner.values[at];
        learner.values[at] = kept + step;
        const above = learner.loss(parts);
        learner.values[at] = kept - step;
        const below = learner.loss(parts);
        learner.values[at] = kept;
        const slope = (above - below) / (2 * step);
        assert.ok(Math.abs(slope - gradients[at]) < 1e-7 + 1e-5 * Math.abs(slope), `${slope} ${gradients[at]}`);
      }
  });

test("what a causal learner writes is what it is told, as long as that is right", () => {
  const { learner } = small(true, Float32Array),
    [texts, length] = [5, 7];
  const source = Uint8Array.from({ length: texts * length }, (_, i) => 2 + ((i * 5) % 8));
  const { ids } = learner.written(source, texts, length, { begin: BEGIN, end: 255 }); // no end: all of it is written
  const read = Uint8Array.from(ids, (_, i) => (i % length ? ids[i - 1] : BEGIN));
  assert.deepEqual(learner.told({ source, read, texts, write: ids }).ids, ids);
});

test("a word that comes later changes what is written only without the causal mask", () => {
  for (const causal of [true, false]) {
    const { learner } = small(causal, Float64Array);
    const first = (later) => {
      learner.tape.clear();
      const { logits } = learner.decoded([BEGIN, 4, later], learner.encoded([2, 3, 4], 1), 1);
      return String(logits.value.subarray(0, logits.columns));
    };
    assert.equal(first(5) === first(6), causal);
  }
});

test("rows of cross-attention sum to 1", () => {
  const training = new Training(SETTINGS),
    { maps, words, written } = training.attempt([..."abcd"]);
  assert.equal(maps[0].length, SETTINGS.heads);
  for (const map of maps[0]) {
    assert.equal(map.length, words.length * written.length);
    for (let at = 0; at < map.length; at += words.length)
      assert.ok(Math.abs(map.subarray(at, at + words.length).reduce((a, b) => a + b) - 1) < 1e-5);
  }
});

test("tasks have the answers that a person gives", () => {
  const solved = (task, text) => {
    const { answer, places } = TASKS[task].solved(TASKS[task].split(text));
    return [TASKS[task].joined(answer), places.join("")];
  };
  assert.deepEqual(solved("reverse", "AB cd"), ["dcba", "3210"]);
  assert.deepEqual(solved("sort", "cabac"), ["aabcc", "13204"]);
  assert.deepEqual(solved("translate", "Heute sieht der kleine Hund die Katze."), [
    "today the small dog sees the cat",
    "0234156",
  ]);
  assert.deepEqual(solved("translate", "Der Lehrer fragt den alten Mann"), ["the teacher asks the old man", "012345"]);
  assert.deepEqual(solved("translate", "oft wäscht"), ["often washes", "01"]);
});

test("tasks stay within their words, their length, and what is kept back", () => {
  for (const task of Object.values(TASKS))
    for (const kept of [true, false]) {
      const random = randomly(1);
      for (let i = 0; i < 300; i++) {
        const { words, answer } = example(task, random, kept);
        assert.equal(keptBack(words), kept);
        assert.ok(words.length <= task.most);
        assert.ok(words.every((word) => task.source.includes(word)));
        assert.ok(answer.every((word) => task.target.includes(word)));
      }
      assert.equal(new Set(task.source).size, task.source.length);
    }
  assert.equal(TASKS.translate.source.length - 2, 40);
  const texts = [[..."abcd"], [..."abcde"], [..."hgfe"]].map(TASKS.reverse.solved);
  assert.deepEqual(
    byLength(texts).map((group) => group.length),
    [2, 1],
  );
  const part = partOf(TASKS.reverse, [texts[0]]);
  assert.deepEqual(
    [[...part.source], [...part.read], [...part.write]],
    [
      [2, 3, 4, 5, END],
      [BEGIN, 5, 4, 3, 2],
      [5, 4, 3, 2, END],
    ],
  );
});

test("without the causal mask it learns sooner, looks at no place, and is wrong when it writes itself", () => {
  const [masked, open] = [true, false].map((causal) => {
    const training = new Training({ ...SETTINGS, causal });
    while (training.learner.steps < 70) training.learn();
    return training.judge();
  });
  assert.ok(open.told > 0.9, `told ${open.told}`);
  assert.ok(masked.told < 0.5, `told ${masked.told} with the mask`);
  assert.ok(open.loss < masked.loss);
  assert.ok(open.own < 0.1, `writes ${open.own}`);
  assert.ok(Math.max(...open.heads.map(({ mirrored }) => mirrored)) < 0.4);
});

test("a worker that is fast takes its time: at most some forty steps in a second", async () => {
  const steps = [];
  const seen = new Promise((resolve) => {
    /** @type {any} */ (globalThis).postMessage = ({ attempt, steps: taken }) => {
      if (attempt && steps.push(taken) === 8) resolve(undefined);
    };
  });
  await import("../../../bartviz/explorer/learning/worker.js");
  const ask = (data) => /** @type {any} */ (globalThis).onmessage({ data });
  const began = performance.now();
  ask({ start: { ...SETTINGS, width: 2, heads: 1 } });
  ask({ go: true });
  await seen;
  ask({ stop: true });
  assert.ok(steps.at(-1) / ((performance.now() - began) / 1000) < 40);
});
