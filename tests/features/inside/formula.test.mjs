// The arithmetic of the formula component: which parts a panel lights.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hiding, lit, panelOf, stepFrom } from "../../../bartviz/features/inside/formula.js";

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

const told = {
  within: ".x",
  order: ["q", "keys", "scaled", "weight"],
  panels: { xy: "keys", xy2: "q", x2y: "scaled", x3y: "weight" },
  captions: { keys: 0, scaled: 1, weight: 2, q: 3 },
};

test("a step hides what comes after it and its captions, and the end nothing", () => {
  const css = hiding(told, 1);
  for (const part of [".subplot.x2y", ".subplot.x3y", '[data-index="1"]', '[data-index="2"]'])
    assert.ok(css.includes(part), part);
  for (const part of [".subplot.xy,", ".subplot.xy2", '[data-index="0"]', '[data-index="3"]'])
    assert.ok(!css.includes(part), part);
  assert.equal(hiding(told, 3), "");
  assert.equal(hiding(told, -1), "");
});

test("steps run from the query to the output and then show everything", () => {
  const steps = [-1];
  for (let i = 0; i < 5; i++) steps.push(stepFrom(steps.at(-1), 1, 4));
  assert.deepEqual(steps, [-1, 0, 1, 2, 3, -1]);
  assert.deepEqual([stepFrom(-1, -1, 4), stepFrom(2, -1, 4), stepFrom(0, -1, 4)], [3, 1, 0]);
});
