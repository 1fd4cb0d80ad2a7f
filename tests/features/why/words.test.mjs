// Where the keys lead along the written words, and where a ribbon runs, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { led, passages, reached, ribbon, units } from "../../../bartviz/features/why/words.js";

test("arrow keys lead along the line in the direction in which it is read, and stay at its ends", () => {
  assert.deepEqual([reached("ArrowRight", 0, 3), reached("ArrowRight", 2, 3), reached("ArrowLeft", 0, 3)], [1, 2, 0]);
  assert.deepEqual([reached("ArrowRight", 1, 3, true), reached("ArrowLeft", 1, 3, true)], [0, 2]);
  assert.deepEqual([reached("Home", 2, 3), reached("End", 0, 3), reached("Enter", 1, 3)], [0, 2, undefined]);
});

test("a ribbon leaves the middle of a word's upper edge and arrives at the middle of another's lower one", () => {
  const path = ribbon({ x: 100, y: 80, width: 40, height: 20 }, { x: 10, y: 0, width: 20, height: 20 });
  assert.equal(path, "M120.0,80.0 C120.0,50.0 20.0,50.0 20.0,20.0");
});

test("up leads from the written words to those that were read, and down back to the chosen one", () => {
  const counts = { source: 3, output: 2 };
  assert.deepEqual(led("ArrowUp", "output", 1, counts, 1), { line: "source", at: 0 });
  assert.deepEqual(led("ArrowDown", "source", 2, counts, 1), { line: "output", at: 1 });
  assert.deepEqual(led("End", "source", 0, counts, 1), { line: "source", at: 2 });
  assert.deepEqual(led("ArrowLeft", "output", 0, counts, 1, true), { line: "output", at: 1 });
  assert.equal(led("ArrowDown", "output", 0, counts, 1), undefined);
});

test("a ribbon goes through the gaps of the lines between its two ends, or beside them", () => {
  const box = (x, y, width = 40) => ({ x, y, width, height: 20 });
  const [first, second, alone] = [box(0, 0), box(60, 0), box(0, 30)];
  const [left, right, below] = [box(0, 100), box(46, 100), box(10, 130)];
  const boxes = [first, second, alone, left, right, below];
  assert.deepEqual(passages(left, alone, boxes), []); // lines that are beside each other
  assert.deepEqual(passages(below, alone, boxes), [{ x: 42.5, top: 100, bottom: 120 }]); // 40 to 46 wide: nearest to 30
  assert.deepEqual(passages(right, first, boxes), [{ x: 42.5, top: 30, bottom: 50 }]); // beside the word, at its right
  assert.equal(passages(below, second, boxes).length, 2);
  const touching = [box(0, 100), box(39, 100), below];
  assert.equal(passages(below, alone, touching)[0].x, -2.5); // no room between pieces of one word: at its left
});

test("a ribbon goes straight up in a passage, and ends at its word", () => {
  const [from, to] = [
    { x: 20, y: 130, width: 20, height: 20 },
    { x: 0, y: 0, width: 20, height: 20 },
  ];
  const path = ribbon(from, to, [{ x: 42, top: 100, bottom: 120 }]);
  assert.equal(path, "M30.0,130.0 C30.0,125.0 42.0,125.0 42.0,120.0 V100.0 C42.0,60.0 10.0,60.0 10.0,20.0");
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
