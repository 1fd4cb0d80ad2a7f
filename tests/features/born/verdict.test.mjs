// The answer of the guess from measured weights, without a browser.

import assert from "node:assert/strict";
import { test } from "node:test";

import { elsewhere, guessed, percent } from "../../../bartviz/features/born/training/verdict.js";

const head = (right, same, mirrored, number = 0) => ({ layer: 0, head: number, right, same, mirrored });

test("a line is the answer if it is as bright as the place that the word comes from", () => {
  assert.equal(guessed([head(0.7, 0.08, 0.7)]).answer, "mirrored");
  assert.equal(guessed([head(0.9, 0.9, 0.1)]).answer, "same");
  assert.equal(guessed([head(0.9, 0.5, 0.2)]).answer, "right");
  assert.equal(guessed([head(0.2, 0.5, 0.2)]).answer, "same");
  assert.equal(guessed([head(0.3, 0.2, 0.39)]).answer, "other");
});

test("the head that looks most at one place is judged", () => {
  assert.equal(guessed([head(0.1, 0.2, 0.1, 0), head(0.1, 0.1, 0.6, 1), head(0.3, 0.1, 0.3, 2)]).head.head, 1);
  assert.equal(percent(0.676), "68%");
});

test("a row is named that is right though every head looks most at another place", () => {
  const of = { columns: 3, written: ["b", "a", "</s>"], answer: ["b", "a", "</s>"], places: [1, 0] };
  const beside = [0.1, 0.8, 0.1, 0.2, 0.1, 0.7, 0, 0, 1],
    there = [0.1, 0.8, 0.1, 0.6, 0.3, 0.1, 0, 0, 1];
  assert.deepEqual(elsewhere({ ...of, maps: [beside] }), { row: 1, column: 2, share: 0.7 });
  assert.equal(elsewhere({ ...of, maps: [beside, there] }), null);
  assert.equal(elsewhere({ ...of, written: ["b", "b", "</s>"], maps: [beside] }), null);
});
