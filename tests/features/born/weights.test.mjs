// The cells of a map of weights: as large as the room allows, in a shape in which a diagonal is still seen as one.

import assert from "node:assert/strict";
import { test } from "node:test";

import { cellOf, drawWeights } from "../../../bartviz/browser/shared/weights.js";

test("a cell is never higher than wide", () => assert.deepEqual(cellOf(10, 40), [10, 10]));

test("where rows are low a cell is wider than high, within bounds", () => {
  assert.deepEqual(cellOf(36, 18), [36, 18]);
  const [wide, high] = cellOf(500, 20);
  assert.equal(high, 20);
  assert.ok(wide > high && wide < 5 * high);
});

/** A canvas of this size on which a letter is 0.6 of its size wide, and what is written above its columns. */
function written(columns, scale, { width = 520, height = 480 } = {}) {
  const said = [],
    state = { turned: false };
  const context = {
    measureText(text) {
      return { width: 0.6 * parseFloat(this.font) * text.length };
    },
    setTransform() {},
    clearRect() {},
    fillRect() {},
    strokeRect() {},
    save() {},
    translate() {},
    restore: () => (state.turned = false),
    rotate: () => (state.turned = true),
    fillText(text) {
      said.push({ text, turned: state.turned, size: parseFloat(this.font) });
    },
  };
  const canvas = { getBoundingClientRect: () => ({ width, height }), getContext: () => context };
  const what = {
    rows: ["a"],
    columns,
    share: () => 0,
    height: columns.length,
    axes: { rows: "rows", columns: "columns" },
  };
  drawWeights(canvas, what, { font: "sans", mono: "mono" }, Array(256).fill([0, 0, 0]), scale);
  return said.slice(2, 2 + columns.length); // after what rows and columns are
}

const LETTERS = ["g", "f", "e", "d", "c", "b", "</s>"];

test("words that fit above their columns are upright, and for a projector as large as they fit", () => {
  const [usual, large] = [1, 1.4].map((scale) => written(LETTERS, scale));
  assert.ok([...usual, ...large].every(({ turned }) => !turned));
  assert.ok(usual.every(({ size }) => size === 12));
  assert.ok(large.every(({ size }) => size > 12 * 1.4));
});

test("where one does not fit, words are turned and as large as the page's type, and single letters are upright", () => {
  const words = written(["g", "wonderfully"], 1.4, { width: 200 });
  assert.deepEqual(
    words.map(({ turned }) => turned),
    [false, true],
  );
  assert.ok(words.every(({ size }) => size === 12 * 1.4));
});
