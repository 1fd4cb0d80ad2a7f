// The bytes of a replay, by hand: two moments, one layer, two heads, one measure, a map of one row and two columns.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  curve,
  described,
  highest,
  legible,
  axisPlace,
  ticks,
  unpack,
  valueAt,
  weights,
} from "../../../bartviz/browser/replay/moments.js";

const about = {
  arrays: [
    ["curves/cross", 2, 1, 2, 1, 3],
    ["maps/0/cross", 2, 1, 2, 1, 2],
  ],
};
const means = [51, 0, 102, 0, 255, 0, 204, 153, 255, 102, 51, 153]; // the second head has no mean at first
const maps = [255, 0, 0, 255, 51, 204, 204, 51];

function packed() {
  const head = new TextEncoder().encode(JSON.stringify(about)),
    bytes = new Uint8Array(3 + 4 + head.length + means.length + maps.length);
  const data = bytes.subarray(3); // as a view that does not begin with its buffer
  new DataView(data.buffer, 3).setUint32(0, head.length, true);
  data.set(head, 4);
  data.set([...means, ...maps], 4 + head.length);
  return data;
}

test("a description gets more, and the arrays stay", () => {
  const { about: found, arrays } = unpack(described(packed(), { words: { play: "재생" } }));
  assert.deepEqual(found, { ...about, words: { play: "재생" } });
  assert.deepEqual([...arrays.get("curves/cross").bytes, ...arrays.get("maps/0/cross").bytes], [...means, ...maps]);
});

test("curves and maps are where the description says", () => {
  const { arrays } = unpack(packed()),
    curves = arrays.get("curves/cross");
  assert.deepEqual(curve(curves, 0, 0, 0), [
    [0.2, 0, 0.4],
    [0.8, 0.6, 1],
  ]);
  assert.deepEqual(curve(curves, 0, 1, 0), [
    [NaN, NaN, NaN],
    [0.4, 0.2, 0.6],
  ]);
  const share = weights(arrays.get("maps/0/cross"), 1, 0, 1);
  assert.deepEqual([share(0, 0), share(0, 1)], [0.8, 0.2]);
});

test("the strongest head is one whose mean is defined", () => {
  const lines = [
    [[0.2], [0.8]],
    [[NaN], [0.9]],
  ];
  assert.equal(highest(lines, 0), 0);
  assert.equal(highest(lines, 1), 1);
  assert.equal(highest([[[NaN]]], 0), -1);
});

test("steps are on a log scale, and values are those of the moment", () => {
  assert.equal(axisPlace(0, 36000), 0);
  assert.equal(axisPlace(36000, 36000), 1);
  assert.ok(Math.abs(axisPlace(9, 99) - 0.5) < 1e-12);
  assert.equal(axisPlace(0, 0), 0);
  assert.deepEqual(ticks(2147), [0, 10, 100, 1000]);
  const points = [
    [0, 10],
    [50, 6],
  ];
  assert.deepEqual([valueAt(points, 0), valueAt(points, 49), valueAt(points, 60)], [10, 10, 6]);
  assert.equal(valueAt([[50, 6]], 0), undefined);
});

test("intervals are drawn together where they do not fill the picture", () => {
  const narrow = [[0.5, 0.4, 0.8]],
    wide = [[0.5, 0.1, 0.8]],
    none = [[NaN, NaN, NaN]];
  assert.ok(legible([narrow, narrow, none]));
  assert.ok(!legible([narrow, wide]));
  const early = [
    [0.5, 0, 1],
    [0.5, 0.4, 0.6],
  ];
  assert.ok(legible([early, early]));
});
