// Which part of a picture an arrow key goes to.
import test from "node:test";
import assert from "node:assert/strict";
import { beside } from "../../../bartviz/features/quiz/touch.js";

test("in a map arrows go by rows and columns, and stop at its edge", () => {
  const cells = ["0 0", "0 1", "1 0", "1 1"];
  assert.equal(beside(cells, "0 0", "ArrowRight"), "0 1");
  assert.equal(beside(cells, "0 1", "ArrowRight"), "0 1");
  assert.equal(beside(cells, "0 1", "ArrowDown"), "1 1");
  assert.equal(beside(cells, "1 1", "ArrowLeft"), "1 0");
  assert.equal(beside(cells, "0 0", "ArrowUp"), "0 0");
});

test("among words, rows or maps every arrow goes back or forward", () => {
  assert.equal(beside(["0", "1", "2"], "1", "ArrowDown"), "2");
  assert.equal(beside(["0", "1", "2"], "1", "ArrowLeft"), "0");
  assert.equal(beside(["0", "1", "2"], "2", "ArrowRight"), "2");
  assert.equal(beside(["1", "2", "3"], "1", "ArrowUp"), "1");
});
