// The colours of the small maps, and the line from the encoder to cross-attention, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connection, next, pixels, wayBack } from "../../../bartviz/features/map/map.js";

test("a weight of 1 has the whole colour, a weight of 0 none, and a masked cell is grey", () => {
  const found = pixels(new Uint8Array([240, 0, 60, 250]), [10, 20, 30]);
  assert.deepEqual([...found], [10, 20, 30, 255, 10, 20, 30, 0, 10, 20, 30, 128, 128, 128, 128, 60]);
});

test("arrow keys lead from box to box and stay at the ends, other keys lead nowhere", () => {
  assert.deepEqual([next("ArrowDown", 0, 3), next("ArrowDown", 2, 3), next("ArrowUp", 0, 3)], [1, 2, 0]);
  assert.deepEqual([next("End", 0, 3), next("Home", 2, 3), next("Enter", 1, 3)], [2, 0, undefined]);
});

test("the line leaves the encoder at its right side and arrives at the left of cross-attention, in their middles", () => {
  const line = connection({ x: 0, y: 100, width: 200, height: 40 }, { x: 300, y: 10, width: 200, height: 20 });
  assert.equal(line.line, "M200,120 C250,120 250,20 298,20");
  assert.match(line.tip, / L298,20 /);
});

test("the way back leads from the right of a box up to the right of the one that it returns to", () => {
  const { line } = wayBack({ x: 300, y: 400, width: 100, height: 40 }, { x: 100, y: 50, width: 150, height: 20 });
  assert.ok(line.startsWith("M400,420 "));
  assert.ok(line.endsWith(" V60 H253"));
});
