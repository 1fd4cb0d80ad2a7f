// The arithmetic of the formula component: which parts a panel lights.
import assert from "node:assert/strict";
import { test } from "node:test";
import { lit, panelOf } from "../../../bartviz/features/inside/formula.js";

test("a panel lights its parts", () => {
  const parts = [{ panels: ["output"] }, { panels: [] }, { panels: ["keys", "output"] }];
  assert.deepEqual(lit(parts, "keys"), [false, false, true]);
  assert.deepEqual(lit(parts, "output"), [true, false, true]);
});

test("without a panel nothing is lit", () => {
  assert.deepEqual(lit([{ panels: ["keys"] }], null), [false]);
});

test("a subplot that is not ours is no panel", () => {
  assert.equal(panelOf({ xy: "keys" }, "xy"), "keys");
  assert.equal(panelOf({ xy: "keys" }, "x9y"), null);
  assert.equal(panelOf({ xy: "keys" }, "toString"), null);
});
