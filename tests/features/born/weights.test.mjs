// The cells of a map of weights: as large as the room allows, in a shape in which a diagonal is still seen as one.

import assert from "node:assert/strict";
import { test } from "node:test";

import { cellOf } from "../../../bartviz/browser/shared/weights.js";

test("a cell is never higher than wide", () => assert.deepEqual(cellOf(10, 40), [10, 10]));

test("where rows are low a cell is wider than high, within bounds", () => {
  assert.deepEqual(cellOf(36, 18), [36, 18]);
  const [wide, high] = cellOf(500, 20);
  assert.equal(high, 20);
  assert.ok(wide > high && wide < 5 * high);
});
