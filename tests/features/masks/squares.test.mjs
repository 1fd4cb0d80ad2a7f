// How large the squares are, which labels are drawn, and what is painted, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  fitting,
  inOrder,
  labelled,
  layout,
  lowered,
  painted,
  partnerOf,
} from "../../../bartviz/features/masks/squares.js";

const LABEL = { row: 60, column: 60, over: 30, caption: 50 };

test("three squares of a short text stand in one line and fill it", () => {
  const { perLine, left, cell } = layout(935, 3, { columns: 9 }, LABEL);
  assert.equal(perLine, 3);
  const room = (935 - 2 * 28) / 3;
  assert.ok(left + 9 * cell + 30 * Math.cos(Math.PI / 3) <= room + 1e-9);
  assert.ok(9 * cell > 0.65 * room);
});

test("there is room for the captions of the axes beside short labels", () => {
  const { left, top } = layout(935, 1, { columns: 3 }, { row: 8, column: 8, over: 8, caption: 50 });
  assert.ok(left > 50);
  assert.ok(top >= 30);
});

test("cells of a longer text stay large enough, two squares in a line; of a very long one they are small", () => {
  assert.equal(layout(935, 3, { columns: 27 }, LABEL).perLine, 2);
  assert.ok(layout(935, 3, { columns: 27 }, LABEL).cell >= 13);
  assert.equal(layout(935, 3, { columns: 128 }, LABEL).perLine, 3);
});

test("on a phone squares stand one under the other, within the screen", () => {
  for (const columns of [3, 9, 27, 128]) {
    const { perLine, left, cell } = layout(358, 3, { columns }, LABEL);
    assert.equal(perLine, 1);
    assert.ok(left + columns * cell <= 358);
  }
});

test("one under the other, the squares with closed cells come first; beside each other all keep their places", () => {
  const [encoder, decoder, cross] = [
    [1, 1],
    [1, 0],
    [1, 1],
  ].map((cells) => ({ cells }));
  assert.deepEqual(inOrder([encoder, decoder, cross], 1), [decoder, encoder, cross]);
  assert.deepEqual(inOrder([encoder, decoder, cross], 3), [encoder, decoder, cross]);
});

test("no two labels touch, and the chosen one is always drawn", () => {
  for (const cell of [1.7, 6, 9, 13, 40])
    for (const chosen of [null, 0, 5, 63, 127]) {
      const shown = labelled(128, cell, 13, chosen);
      assert.ok(chosen === null || shown.includes(chosen));
      shown.slice(1).forEach((index, place) => assert.ok((index - shown[place]) * cell >= 13, `${cell} ${chosen}`));
    }
});

test("numbers are written only where the widest fits into its cell", () => {
  for (const cell of [2, 8, 13, 16, 22, 34, 46])
    for (const texts of [["−∞"], ["−10⁴"], ["0", "-12.5"]]) {
      const size = fitting(cell, texts);
      assert.ok(size === 0 || (size >= 8 && 0.62 * size * Math.max(...texts.map((text) => text.length)) <= cell));
    }
  assert.ok(fitting(22, ["−∞"]) > 0);
});

test("a painted cell changes, and the last open one of a row stays", () => {
  const cells = [1, 1, 0, 1];
  assert.deepEqual(painted(cells, 2, 0, 1, 0), [1, 0, 0, 1]);
  assert.equal(painted(cells, 2, 1, 1, 0), null);
  assert.deepEqual(cells, [1, 1, 0, 1]);
});

test("a row of the output and the row of the word that it is aligned to belong together", () => {
  const encoder = [1, -1, 4]; // the row there for each of three rows of the decoder
  assert.deepEqual(
    [0, 1, 2].map((row) => partnerOf([], encoder, row)),
    [1, null, 4],
  );
  assert.deepEqual(
    [0, 1, 4].map((row) => partnerOf(encoder, [], row)),
    [null, 0, 2],
  );
  assert.equal(partnerOf([], [], 1), null);
});

test("a painted square is as high as the window leaves room for, while its labels can be read", () => {
  assert.equal(lowered(34, 8, 400), 34);
  assert.equal(lowered(34, 8, 200), 25);
  assert.equal(lowered(34, 8, 80), 18);
  assert.equal(lowered(16, 8, 80), 16); // the line is narrower still
  assert.equal(lowered(47, 8, 160, 1.4), 18 * 1.4);
});
