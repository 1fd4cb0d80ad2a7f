// Where the keys lead along the written words, and where a line may be broken, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { led, reached, units } from "../../../bartviz/features/why/words.js";

test("arrow keys lead along the line in the direction in which it is read, and stay at its ends", () => {
  assert.deepEqual([reached("ArrowRight", 0, 3), reached("ArrowRight", 2, 3), reached("ArrowLeft", 0, 3)], [1, 2, 0]);
  assert.deepEqual([reached("ArrowRight", 1, 3, true), reached("ArrowLeft", 1, 3, true)], [0, 2]);
  assert.deepEqual([reached("Home", 2, 3), reached("End", 0, 3), reached("Enter", 1, 3)], [0, 2, undefined]);
});

test("up leads from the written words to those that were read, and down back to the chosen one", () => {
  const counts = { source: 3, output: 2 };
  assert.deepEqual(led("ArrowUp", "output", 1, counts, 1), { line: "source", at: 0 });
  assert.deepEqual(led("ArrowDown", "source", 2, counts, 1), { line: "output", at: 1 });
  assert.deepEqual(led("End", "source", 0, counts, 1), { line: "source", at: 2 });
  assert.deepEqual(led("ArrowLeft", "output", 0, counts, 1, true), { line: "output", at: 1 });
  assert.equal(led("ArrowDown", "output", 0, counts, 1), undefined);
});

test("no line is broken in a word of several pieces, nor before what ends the text", () => {
  const word = (text, joined = false, special = false) => ({ text, joined, special });
  const line = [
    word("<s>", false, true),
    word("Fahr"),
    word("rad", true),
    word("und"),
    word("."),
    word("</s>", false, true),
  ];
  assert.deepEqual(units(line), [[0], [1, 2], [3, 4, 5]]);
  assert.deepEqual(units([word("?")]), [[0]]);
  assert.deepEqual(units([word("A"), word("[MASK]", false, true), word("B")]), [[0], [1], [2]]);
});
