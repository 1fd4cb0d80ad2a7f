// What a tap, a drag and a key do to a painted guess.
import test from "node:test";
import assert from "node:assert/strict";
import { movedTo, repainted, shareOf } from "../../../bartviz/features/lessons/painting.js";

test("a tap adds, and never empties a full word", () => {
  assert.deepEqual(repainted([0, 1, 4], 1, 1, 4), [0, 2, 4]);
  assert.deepEqual(repainted([0, 1, 4], 2, 1, 4), [0, 1, 4]);
  assert.deepEqual(repainted([0, 1, 4], 0, -1, 4), [0, 1, 4]);
});

test("shares are of all that is painted", () => {
  assert.equal(shareOf([1, 3, 0], 1), 0.75);
  assert.equal(shareOf([0, 0], 0), 0);
});

test("arrow keys go through the words and stop at the ends", () => {
  assert.equal(movedTo("ArrowRight", 1, 3), 2);
  assert.equal(movedTo("ArrowRight", 2, 3), 2);
  assert.equal(movedTo("ArrowLeft", 0, 3), 0);
  assert.equal(movedTo("End", 0, 3), 2);
  assert.equal(movedTo("n", 0, 3), null);
});
