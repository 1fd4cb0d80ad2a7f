// Judging by hand without a browser: what a click does, and where the arrow keys lead.
import assert from "node:assert/strict";
import { test } from "node:test";
import { acrossLine, clicked, neighbour, numberedEnds, switched } from "../../../bartviz/features/alignment/judge.js";

test("two words of different sides make a link, whichever is clicked first", () => {
  assert.deepEqual(clicked(null, "source", 3), { chosen: { side: "source", index: 3 }, link: null });
  assert.deepEqual(clicked({ side: "source", index: 3 }, "output", 4), { chosen: null, link: [3, 4] });
  assert.deepEqual(clicked({ side: "output", index: 4 }, "source", 3), { chosen: null, link: [3, 4] });
});

test("another word of the same side is chosen instead, the same one is given up", () => {
  assert.deepEqual(clicked({ side: "source", index: 3 }, "source", 1).chosen, { side: "source", index: 1 });
  assert.deepEqual(clicked({ side: "source", index: 3 }, "source", 3), { chosen: null, link: null });
});

test("a link comes as sure, and goes again, sure or possible", () => {
  const none = { sure: [], possible: [] };
  const one = switched(none, [3, 4]);
  assert.deepEqual(one, { sure: [[3, 4]], possible: [], there: false });
  assert.deepEqual(switched(one, [3, 4]), { ...none, there: true });
  assert.deepEqual(switched({ sure: [], possible: [[2, 1]] }, [2, 1]), { ...none, there: true });
});

test("the number of a link stands where it is the only link of a word, first of the output", () => {
  const apart = [
    [0, 0],
    [3, 4],
  ];
  assert.deepEqual(numberedEnds(apart), ["output", "output"]);
  const meet = [
    [0, 0],
    [1, 0],
    [1, 1],
  ];
  assert.deepEqual(numberedEnds(meet), ["source", undefined, "output"]);
});

test("arrows walk along a side and cross to the other", () => {
  const counts = { source: 7, output: 6 };
  assert.deepEqual(neighbour({ side: "source", index: 6 }, "ArrowRight", counts), { side: "output", index: 5 });
  assert.deepEqual(neighbour({ side: "output", index: 0 }, "ArrowDown", counts), { side: "output", index: 1 });
  assert.equal(neighbour({ side: "output", index: 5 }, "ArrowDown", counts), null);
  assert.equal(neighbour({ side: "source", index: 2 }, "ArrowLeft", counts), null);
});

test("a line is as wide as the longest word of each side and what is between them", () => {
  const wide = (source, output) => acrossLine([{ words: source }, { words: output }]);
  assert.equal(wide(["a", "four"], ["sechs!"]), wide(["four"], ["sechs!", "b"]));
  assert.ok(wide(["four"], ["sechs!"]) > wide(["for"], ["sechs!"]));
  assert.ok(wide([], []) > 0);
});
