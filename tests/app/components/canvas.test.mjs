// The canvas's functions that need no page.
import test from "node:test";
import assert from "node:assert/strict";
import * as colors from "../../../bartviz/browser/canvas/pixels.js";
import * as frame from "../../../bartviz/browser/canvas/frame.js";
import * as following from "../../../bartviz/browser/canvas/following.js";
import * as labels from "../../../bartviz/browser/canvas/labels.js";
import * as numbers from "../../../bartviz/browser/canvas/numbers.js";
import * as overview from "../../../bartviz/browser/canvas/overview.js";
import * as state from "../../../bartviz/browser/canvas/state.js";
import * as text from "../../../bartviz/browser/canvas/text.js";
import * as view from "../../../bartviz/browser/canvas/window.js";
import * as theme from "../../../bartviz/browser/shared/colors.js";

const meta = {
  kind: "cross",
  shape: [2, 3, 3, 3],
  query: ["a", "b", "c"],
  key: ["x", "y", "z"],
  words: JSON.parse(process.env.WORDS),
};
const plain = { ...meta, plain: true, words: JSON.parse(process.env.PLAIN) };
const predicting = { ...meta, words: JSON.parse(process.env.PREDICTING) };
const rows = [
  [0.5, 0.25, 0.25],
  [0.125, 0.75, 0.125],
  [1, 0, 0],
];
const weight = (row, column) => rows[row][column];

test("a buffer written by Python is read, at any place in memory", () => {
  const sent = Buffer.from(process.env.BUFFER, "base64");
  for (const shift of [0, 1, 2, 3]) {
    const moved = new Uint8Array(sent.length + shift);
    moved.set(sent, shift);
    const { meta, arrays } = numbers.decode(moved.subarray(shift));
    assert.equal(meta.said, "어텐션 <b>");
    assert.deepEqual([...arrays.tiles], [0, 1, 258, 65535]);
    assert.deepEqual([...arrays.mask], [160]);
  }
  assert.throws(() => numbers.decode(new Uint8Array(20)), /not a buffer/);
});

test("codes that were sent as a byte each are whole again", () => {
  const { arrays } = numbers.decode(Uint8Array.from(Buffer.from(process.env.SPLIT, "base64")));
  assert.equal(arrays.low.length, 8);
  assert.deepEqual([...arrays.tiles], JSON.parse(process.env.TILES));
});

test("bits of a mask become cells", () => {
  assert.deepEqual([...numbers.unpacked(Uint8Array.from([0b10100000, 0b01000000]), 2, 3)], [1, 0, 1, 0, 1, 0]);
});

test("maps are counted as Python counts them, and named", () => {
  const head = { layer: 1, head: 2, what: "head" };
  assert.equal(numbers.mapNumber(meta.shape, head), 6);
  assert.equal(numbers.mapNumber(meta.shape, { ...head, what: "layer" }), 7);
  assert.equal(numbers.mapNumber(meta.shape, { ...head, what: "all" }), 8);
  assert.equal(numbers.nameOf(meta, head), "cross L1H2");
  assert.equal(numbers.nameOf(meta, { ...head, what: "layer" }), "mean of the 3 heads of cross layer 1");
  assert.equal(numbers.nameOf(meta, { ...head, what: "all" }), "mean of all 6 cross heads");
});

test("arrows lead from head to head, to the means, and back", () => {
  const go = (choice, ...steps) => steps.reduce((now, [dx, dy]) => numbers.neighbour(meta.shape, now, dx, dy), choice);
  const at = { layer: 0, head: 1, what: "head" };
  assert.deepEqual(go(at, [1, 0]), { layer: 0, head: 2, what: "head" });
  assert.deepEqual(go(at, [1, 0], [1, 0]), { layer: 0, head: 2, what: "layer" });
  assert.equal(go(at, [1, 0], [1, 0], [0, 1], [0, 1]).what, "all");
  assert.deepEqual(go(at, [1, 0], [1, 0], [0, 1], [0, 1], [0, -1]), { layer: 1, head: 2, what: "layer" });
  assert.deepEqual(go(at, [0, -1]), at);
  assert.deepEqual(go(at, [0, 1], [0, 1]), { layer: 1, head: 1, what: "head" });
  assert.deepEqual(numbers.nextHead(meta.shape, { layer: 0, head: 2 }, 1), { layer: 1, head: 0, what: "head" });
  assert.deepEqual(numbers.nextHead(meta.shape, { layer: 0, head: 0 }, -1), { layer: 0, head: 0, what: "head" });
});

test("several rows: sum and mean; several columns: what each row gives to them", () => {
  const { sum, mean } = numbers.ofRows(weight, 3, [0, 1]);
  assert.deepEqual([...sum], [0.625, 1, 0.375]);
  assert.deepEqual([...mean], [0.3125, 0.5, 0.1875]);
  assert.deepEqual([...numbers.ofKeys(weight, 3, [0, 2])], [0.75, 0.25, 1]);
  assert.deepEqual(numbers.top(mean, 2), [1, 0]);
});

test("a selection: alone, one more, one less, from the anchor on", () => {
  assert.deepEqual(numbers.picked([4], 2), [2]);
  assert.deepEqual(numbers.picked([4], 2, { add: true }), [2, 4]);
  assert.deepEqual(numbers.picked([2, 4], 2, { add: true }), [4]);
  assert.deepEqual(numbers.picked([2], 2, { add: true }), [2]);
  assert.deepEqual(numbers.picked([2], 2, { add: true, fewest: 0 }), []);
  assert.deepEqual(numbers.picked([2], 5, { from: 3 }), [3, 4, 5]);
  assert.deepEqual(numbers.picked([2], 1, { from: 3 }), [1, 2, 3]);
});

test("cells, rows and columns in words", () => {
  assert.equal(numbers.cellSaid(meta, 1, 1, 0.75, false), "“b” (1) attends to “y” (1): 0.750");
  assert.equal(
    numbers.cellSaid(predicting, 1, 1, 0.75, false),
    "The row that predicts “b” (1) attends to “y” (1): 0.750",
  );
  assert.equal(numbers.cellSaid(meta, 1, 1, 0, true), "“b” (1) attends to “y” (1): masked");
  assert.equal(
    numbers.rowsSaid(meta, [0], numbers.ofRows(weight, 3, [0])),
    "“a” (0) attends most to “x” (0.500), then to “y” (0.250) and “z” (0.250).",
  );
  assert.match(
    numbers.rowsSaid(meta, [0, 1], numbers.ofRows(weight, 3, [0, 1])),
    /^2 rows, “a”, “b”, attend most to “y” \(sum 1\.000, mean 0\.500\)/,
  );
  assert.match(
    numbers.rowsSaid(meta, [0], numbers.ofRows(weight, 3, [0]), () => true),
    /fully masked/,
  );
  assert.equal(
    numbers.rowsSaid(meta, [2], numbers.ofRows(weight, 3, [2]), (_, column) => column > 0),
    "“c” (2) attends most to “x” (1.000). Masked: “y”, “z”.",
  );
  assert.equal(
    numbers.keysSaid(meta, [0], [0, 2], numbers.ofKeys(weight, 3, [0, 2])),
    "2 columns, “x”, “z”, together get 0.750 from “a” (0); mean of all rows 0.667.",
  );
  assert.equal(numbers.listed(meta, ["a", "b", "c", "d", "e", "f"]), "“a”, “b”, “c”, “d” and 2 more");
});

test("a beginner reads shares instead of weights, sums and the rows of a matrix", () => {
  const one = numbers.ofRows(weight, 3, [1]),
    two = numbers.ofRows(weight, 3, [0, 2]);
  assert.equal(numbers.cellSaid(plain, 1, 1, 0.75, false), "“b” looks at “y”: 75%");
  assert.equal(numbers.rowsSaid(plain, [1], one), "“b” looks most at “y” (75%), then at “x” (13%) and “z” (13%).");
  assert.equal(
    numbers.rowsSaid(plain, [1], one, (row, column) => row < column),
    "“b” looks most at “y” (75%), then at “x” (13%) and “z” (13%). Hidden from it: “z”.",
  );
  const writes = { ...plain, words: JSON.parse(process.env.PLAIN_PREDICTING) };
  assert.equal(numbers.cellSaid(writes, 1, 1, 0.75, false), "To write “b”, “y” gets 75% of the attention");
  assert.equal(
    numbers.rowsSaid(writes, [1], one, (row, column) => row < column),
    "To write “b”, most attention goes to “y” (75%), then to “x” (13%) and “z” (13%). Hidden: “z”.",
  );
  assert.equal(
    numbers.rowsSaid(plain, [0, 2], two),
    "2 rows, “a”, “c”, look most at “x” (75% on average), then at “y” (13% on average) and “z” (13% on average).",
  );
  assert.equal(
    numbers.keysSaid(plain, [0, 2], [0], numbers.ofKeys(weight, 3, [0])),
    "On average, 2 rows give “x” 75% of their attention, and all rows 54%.",
  );
  assert.equal(
    numbers.keysSaid(plain, [1], [0, 1], numbers.ofKeys(weight, 3, [0, 1])),
    "“b” gives 2 columns, “x”, “y”, together 88% of its attention; on average, all rows give 88%.",
  );
});

test("a difference says where A looks more, where B does, and by how much", () => {
  const rows = [
      [-0.85, 0.9, -0.05],
      [0.0001, 0, -0.0001],
    ],
    of = (which) => numbers.ofRows((row, column) => rows[row][column], 3, which);
  const apart = { ...meta, words: JSON.parse(process.env.APART), limit: 1 },
    simple = { ...plain, words: JSON.parse(process.env.PLAIN_APART), limit: 1 };
  assert.equal(
    numbers.rowsSaid(simple, [0], of([0])),
    "“a”: A looks more at “x” (by 85 percentage points), B at “y” (by 90 percentage points).",
  );
  assert.equal(numbers.rowsSaid(apart, [0], of([0])), "“a”: A looks more at “x” (by 0.850), B at “y” (by 0.900).");
  assert.equal(numbers.rowsSaid(simple, [1], of([1])), "“b”: A and B look alike.");
  assert.match(
    numbers.rowsSaid(simple, [0, 1], of([0, 1])),
    /^2 rows, on average: A looks more at “x” \(by 42 percentage points\)/,
  );
  assert.equal(numbers.valueSaid(simple, -0.85), "A looks more, by 85 percentage points");
  assert.equal(numbers.valueSaid(apart, 0.9), "B looks more, by 0.900");
  assert.equal(numbers.valueSaid(simple, 0), "A and B look alike");
  assert.equal(numbers.valueSaid(simple, 0, true), "hidden");
  assert.equal(numbers.valueSaid(plain, 0.85), "85%");
});

test("a piece is named with its word", () => {
  const pieces = { ...meta, query: ["kau", "⋯fen", "c"], query_words: { 0: "kaufen", 1: "kaufen" } };
  assert.equal(numbers.cellSaid(pieces, 1, 1, 0.75, false), "“fen” of “kaufen” (1) attends to “y” (1): 0.750");
  assert.equal(numbers.cellSaid(pieces, 2, 1, 0.75, false), "“c” (2) attends to “y” (1): 0.750");
});

test("a word that is read from right to left leaves its neighbours where they are", () => {
  const arabic = { ...meta, query: ["مرحبا", "b", "c"], key: ["שלום", "y", "z"] };
  assert.equal(
    numbers.cellSaid(arabic, 0, 0, 0.5, false),
    "“\u2068مرحبا\u2069” (0) attends to “\u2068שלום\u2069” (0): 0.500",
  );
  assert.equal(
    numbers.rowsSaid(arabic, [1], numbers.ofRows(weight, 3, [0])).replace(/[^\u2066-\u2069\u05d0-\u05ea]/g, ""),
    "\u2068שלום\u2069",
  );
  assert.equal(numbers.listed(meta, ["a", "어텐션", "👩‍👧"]), "“a”, “어텐션”, “👩‍👧”");
});

test("what a colour stands for", () => {
  assert.equal(numbers.shareOf(0.3, "fixed"), 0.3);
  assert.equal(numbers.shareOf(0.3, "row", 0.6), 0.5);
  assert.equal(numbers.shareOf(0, "row", 0), 0);
  assert.deepEqual(
    [1, 0.01, 0.0001, 0].map((w) => Number(numbers.shareOf(w, "log").toFixed(6))),
    [1, 0.5, 0, 0],
  );
});

test("zoom keeps the point under the pointer, and never leaves the map", () => {
  const fit = view.fitted(500, 400, 1000, 1000, 60, 40);
  const seen = { x: 0, y: 0, z: 1 },
    [px, py] = [200, 100];
  const before = view.under(fit, seen, fit.left + px, fit.top + py);
  const near = view.zoomed(fit, seen, 8, px, py),
    after = view.under(fit, near, fit.left + px, fit.top + py);
  assert.ok(Math.abs(before.row - after.row) <= 1 && Math.abs(before.column - after.column) <= 1);
  assert.deepEqual(view.zoomed(fit, near, 1 / 100, 10, 10), seen);
  const far = view.panned(fit, near, -1e6, -1e6);
  assert.ok(far.x + 1000 / far.z <= 1000 + 1e-9 && far.y + 1000 / far.z <= 1000 + 1e-9);
  assert.ok(view.zoomed(fit, seen, 1e9, 0, 0).z * Math.min(fit.w, fit.h) <= 44 + 1e-9);
  const shown = view.revealing(fit, { x: 0, y: 0, z: 10 }, 500, 700),
    { row, column } = view.under(fit, shown, ...Object.values(view.placeOf(fit, shown, 500.5, 700.5)));
  assert.deepEqual([row, column], [500, 700]);
});

test("a map fills its box, also where a text is much longer than the other, but cells of a short one stay cells", () => {
  const box = (rows, columns) => view.fitted(560, 700, rows, columns, 60, 99);
  assert.equal(box(8, 9).height, 600); // 75 pixels a row
  assert.deepEqual([box(2, 2).w, box(2, 2).h], [96, 96]);
  assert.ok(box(10, 400).height === 480 && box(10, 400).width > 498); // rows of 48 pixels, not of 3
  assert.ok(box(400, 10).width === 480 && box(400, 10).height === 600);
});

test("what was between two fingers stays between them", () => {
  const fit = view.fitted(500, 400, 1000, 1000, 60, 40),
    seen = { x: 0, y: 0, z: 1 };
  const from = { x: 200, y: 150, apart: 40 },
    to = { x: 230, y: 120, apart: 200 };
  const at = (window, { x, y }) => view.under(fit, window, fit.left + x, fit.top + y);
  const before = at(seen, from),
    near = view.pinched(fit, seen, from, to),
    after = at(near, to);
  assert.equal(near.z, 5);
  assert.ok(Math.abs(before.row - after.row) <= 1 && Math.abs(before.column - after.column) <= 1);
  assert.deepEqual(view.pinched(fit, near, to, { ...to, apart: 1 }), seen);
});

test("labels and cells under the pointer", () => {
  const fit = view.fitted(500, 400, 3, 3, 60, 40),
    seen = { x: 0, y: 0, z: 1 };
  assert.deepEqual(view.under(fit, seen, fit.left + 1, fit.top + 1), { row: 0, column: 0 });
  assert.deepEqual(view.under(fit, seen, 5, fit.top + fit.h * 1.5), { row: 1, column: null });
  assert.deepEqual(view.under(fit, seen, fit.left + fit.w * 2.5, 5), { row: null, column: 2 });
  assert.deepEqual(view.under(fit, seen, 499, 399), { row: null, column: null });
});

test("marked labels are always written, and no other touches them", () => {
  assert.deepEqual(
    [...view.written(0, 10, 3, [])].sort((a, b) => a - b),
    [0, 3, 6, 9],
  );
  assert.deepEqual(
    [...view.written(0, 10, 3, [4])].sort((a, b) => a - b),
    [0, 4, 9],
  );
  assert.ok(
    view.written(
      0,
      1000,
      20,
      Array.from({ length: 900 }, (_, i) => i),
    ).size <= 50,
  );
});

test("the overview has a place for every head, every mean, and the mean of all", () => {
  const all = view.overviewCells([2, 3], { width: 400, height: 300, left: 20, top: 20 });
  assert.equal(all.places.length, 2 * 4 + 1);
  assert.deepEqual(new Set(all.places.map((place) => numbers.mapNumber([2, 3], place))).size, 9);
  const one = view.overviewCells([2, 3], { width: 400, height: 300, left: 0, top: 0, only: 1 });
  assert.deepEqual(
    one.places.map(({ layer, what }) => `${layer}${what}`),
    ["1head", "1head", "1head", "1layer", "1all"],
  );
  for (const { x, y, w, h } of [...all.places, ...one.places]) assert.ok(x + w <= 400.01 && y + h <= 300.01);
});

const palette = Uint32Array.from({ length: 257 }, (_, i) => i);
const paint = (width, height, map, part) => {
  const pixels = new Uint32Array(width * height);
  colors.paintMap({ pixels, stride: width, left: 0, top: 0, width, height }, map, part, palette);
  return [...pixels];
};
const table = colors.shadesOf("fixed", 255);

test("a map that is enlarged repeats its cells, one that is reduced keeps the strongest", () => {
  const map = { values: Uint8Array.from([0, 100, 200, 255]), rows: 2, columns: 2, table };
  assert.deepEqual(
    paint(4, 4, map, { x: 0, y: 0, w: 2, h: 2 }),
    [0, 0, 100, 100, 0, 0, 100, 100, 200, 200, 255, 255, 200, 200, 255, 255],
  );
  assert.deepEqual(paint(1, 1, map, { x: 0, y: 0, w: 2, h: 2 }), [255]);
  assert.deepEqual(paint(2, 1, map, { x: 0, y: 0, w: 2, h: 2 }), [200, 255]);
  assert.deepEqual(paint(1, 1, map, { x: 1, y: 0, w: 1, h: 1 }), [100]);
});

test("a difference that is reduced keeps what is farthest from none, on either side", () => {
  const map = { values: Uint8Array.from([20, 200, 130, 128]), rows: 2, columns: 2, table, middle: 127.5 };
  assert.deepEqual(paint(1, 1, map, { x: 0, y: 0, w: 2, h: 2 }), [20]);
  assert.deepEqual(paint(2, 1, map, { x: 0, y: 0, w: 2, h: 2 }), [20, 200]);
  const open = Uint8Array.from([0, 0, 1, 1]);
  assert.deepEqual(paint(1, 1, { ...map, open }, { x: 0, y: 0, w: 2, h: 2 }), [130]);
});

test("masked cells have a colour of their own, and rows their own scale", () => {
  const map = {
    values: Uint8Array.from([10, 200, 20, 40]),
    rows: 2,
    columns: 2,
    open: Uint8Array.from([1, 0, 0, 0]),
    table,
  };
  assert.deepEqual(paint(2, 2, map, { x: 0, y: 0, w: 2, h: 2 }), [10, 256, 256, 256]);
  assert.deepEqual(paint(1, 1, map, { x: 0, y: 0, w: 2, h: 2 }), [10]);
  const scaled = { ...map, open: null, scales: Float32Array.from([255 / 200, 255 / 40]) };
  assert.deepEqual(paint(2, 2, scaled, { x: 0, y: 0, w: 2, h: 2 }), [13, 255, 128, 255]);
  assert.deepEqual(
    [...colors.smallShades({ one: 240, masked: 250 })].filter((_, i) => [0, 120, 240, 250].includes(i)),
    [0, 128, 255, 256],
  );
  assert.deepEqual(colors.maskedRuns(Uint8Array.from([1, 0, 0, 1, 1, 0]), 3, [0, 2], [0, 3]), [
    { row: 0, from: 1, to: 3 },
    { row: 1, from: 2, to: 3 },
  ]);
});

test("each pixel shows the strongest of the cells that it covers, whatever part is seen", () => {
  const [rows, columns, width, height] = [13, 17, 11, 29],
    parts = [
      [0, 0, 17, 13],
      [3.3, 2.6, 10, 9.5],
      [12.2, 8.1, 4.8, 4.9],
      [16.4, 12.5, 0.6, 0.5],
    ];
  const values = Uint8Array.from({ length: rows * columns }, (_, i) => (i * 89) % 251),
    open = Uint8Array.from(values, (value) => Number(value % 3 > 0));
  const scales = Float32Array.from({ length: rows }, (_, row) => 1 + row / 40),
    skip = 250;
  for (const map of [{ table }, { table, open }, { table, open, skip }, { scales }, { scales, open }])
    for (const [x, y, w, h] of parts) {
      const covered = (from, step, pixel, last) => {
        const first = Math.min(Math.floor(from + pixel * step + 1e-6), last - 1);
        return numbers.range(first, Math.max(first, Math.min(last, Math.floor(from + (pixel + 1) * step + 1e-6)) - 1));
      };
      const shade = (row, column) => {
        const i = row * columns + column;
        if ((map.open && !open[i]) || values[i] === map.skip) return -1;
        return map.scales ? Math.min(255, Math.round(values[i] * scales[row])) : table[values[i]];
      };
      const expected = [];
      for (let py = 0; py < height; py++)
        for (let px = 0; px < width; px++) {
          const cells = covered(y, h / height, py, rows).flatMap((row) =>
            covered(x, w / width, px, columns).map((column) => shade(row, column)),
          );
          expected.push(Math.max(...cells) < 0 ? 256 : Math.max(...cells));
        }
      assert.deepEqual(paint(width, height, { ...map, values, rows, columns }, { x, y, w, h }), expected);
    }
});

test("colours of a theme are read in both spellings", () => {
  assert.deepEqual(theme.parseColor("#fff"), [255, 255, 255]);
  assert.deepEqual(theme.parseColor("rgb(14, 17, 23)"), [14, 17, 23]);
  assert.ok(theme.isDark("#0e1117") && !theme.isDark("#ffffff"));
  assert.deepEqual(theme.ramp(["#000", "#fff"])[255], [255, 255, 255]);
});

test("a list of chips that outlives its state is filled again", () => {
  globalThis.document = {
    createElement: () => ({
      dataset: new Proxy({}, { set: (to, name, value) => ((to[name] = String(value)), true) }),
      setAttribute() {},
    }),
  };
  const list = {
    dataset: {},
    children: [],
    replaceChildren(...nodes) {
      this.children = nodes.filter((node) => node !== " ");
    },
  };
  const begun = () => ({
    $: () => list,
    chips: {},
    say: (word) => word,
    meta: {
      revision: "a",
      query_text: [
        ["x", 0, false, false],
        ["y", 1, false, false],
        ["z", -1, false, false],
      ],
    },
  });
  const [before, after] = [begun(), begun()];
  text.fill(before, "strip", "query");
  const filled = list.children;
  text.fill(before, "strip", "query");
  assert.equal(list.children, filled); // nothing new, nothing drawn again
  text.fill(after, "strip", "query");
  assert.deepEqual([...after.chips.strip.keys()], [0, 1]);
  assert.ok([...after.chips.strip.values()].every((chip) => list.children.includes(chip)));
});

test("the small maps are drawn again only when something of them is another", () => {
  const drawn = [],
    nothing = () => ({ width: 0, data: new Uint8ClampedArray(4), buffer: null });
  const context = new Proxy(
    {},
    {
      get: (_, name) =>
        name === "createImageData"
          ? (width, height) => ({ data: new Uint8ClampedArray(4 * width * height) })
          : (...args) => (drawn.push(name), nothing(...args)),
      set: () => true,
    },
  );
  globalThis.document = { createElement: () => ({ getContext: () => context }) };
  const shape = [2, 3, 3, 3],
    small = { context, width: 200, height: 150, ratio: 1 };
  const it = {
    meta: { revision: "a", shape, span: "fixed", layers: "all" },
    maps: new Map(),
    colors: { table: palette },
    small,
    paints: 1,
    cells: view.overviewCells(shape, { width: 200, height: 150, left: 0, top: 0 }),
    choice: { layer: 0, head: 0, what: "head" },
    pointed: null,
    say: (word) => word,
  };
  const draws = (change) => {
    Object.assign(it, change);
    drawn.length = 0;
    overview.drawOverview(it);
    return drawn.length > 0;
  };
  assert.ok(draws({}));
  assert.ok(!draws({ hover: { row: 1, column: 2 } })); // the pointer is in the large map
  assert.ok(draws({ pointed: it.cells.places[2] }));
  assert.ok(draws({ choice: { layer: 1, head: 0, what: "head" } }));
  assert.ok(!draws({ rows: [2] }));
  assert.ok(draws({ small: { ...small } })); // measured again: a canvas of another size is empty
  it.meta.steps = { record: "r", rows: [0, 1, 2] };
  assert.ok(draws({ at: { step: 1 }, primary: 1 }));
  assert.ok(!draws({}));
  assert.ok(draws({ at: { step: 2 }, primary: 2 }));
});

test("several rows that a link names, or that were chosen at this step, outlive what the player says; its next step does not leave them", () => {
  globalThis.requestAnimationFrame = () => 1;
  globalThis.matchMedia = () => ({ matches: true });
  const node = { classList: { toggle() {} }, setAttribute() {} };
  const it = {
    $: () => node,
    say: (word) => word,
    meta: { steps: { record: "r", rows: [3, 4, 5] } },
    at: null,
    rows: [1, 4],
    primary: 4,
    anchor: {},
    cursor: null,
  };
  const at = (step) => {
    following.onStep(it, { step, count: 3, playing: false });
    return it.rows;
  };
  assert.deepEqual(at(1), [1, 4]); // the first that is heard: the link's rows stay
  assert.deepEqual(at(1), [1, 4]);
  assert.deepEqual(at(2), [5]);
  it.rows = [2, 3]; // another place was brought meanwhile
  assert.deepEqual(at(2), [5]);
});

const packed = (meta) => {
  const said = new TextEncoder().encode(
    JSON.stringify({ revision: "a", shape: [2, 3, 3, 3], tiles: [], arrays: [], exact: true, light: true, ...meta }),
  );
  const bytes = new Uint8Array(8 + said.length);
  bytes.set(new TextEncoder().encode("BVC1"));
  new DataView(bytes.buffer).setUint32(4, said.length, true);
  bytes.set(said, 8);
  return bytes;
};
const begin = (head) => ({ layer: 0, head, what: "head", row: 0, view: "map", rows: [], keys: [] });

test("a picture that comes between a frame and what waits for it is not scrolled by the one before", () => {
  const it = {
    $: () => ({}),
    root: { querySelectorAll: () => [] },
    special: { key: new Set() },
    maps: new Map(),
    choice: begin(0),
    rows: [0],
    keys: [],
  };
  Object.assign(it, {
    meta: { revision: "a", shape: [2, 3, 3, 3] },
    shaded: [["strip", "key", [1, 2]]],
    chips: { strip: new Map() },
  });
  const next = {
    revision: "b",
    serial: 1,
    light: false,
    words: meta.words,
    span: "fixed",
    unit: 65535,
    small: { codes: 255, top: 1 },
    query_special: [],
    key_special: [],
  };
  state.receive(it, { data: packed({ ...next, begin: begin(1) }) });
  text.bringForward(it);
  assert.deepEqual(it.chips, {});
});

test("what the visitor has chosen since is not taken back by what the server sent before it heard of it", () => {
  const it = {
    meta: { revision: "a", shape: [2, 3, 3, 3] },
    maps: new Map(),
    serial: 0,
    moved: false,
    choice: begin(0),
    rows: [0],
    keys: [],
    $: () => ({ width: 0, height: 0 }), // nothing is drawn yet that could move on
  };
  state.receive(it, { data: packed({ serial: 1, begin: begin(1) }) });
  assert.equal(it.choice.head, 1); // a picker
  Object.assign(it, { choice: begin(2), moved: true });
  state.receive(it, { data: packed({ serial: 2, begin: begin(1) }) });
  assert.equal(it.choice.head, 2);
  assert.equal(it.serial, 2); // and is reported with it
  it.meta.alone = true; // its head is the page's
  state.receive(it, { data: packed({ serial: 3, begin: begin(1), alone: true }) });
  assert.equal(it.choice.head, 1);
});

test("the corner of a map says what its rows are and what they do to its columns, where it has room", () => {
  const written = (left, top) => {
    const said = [];
    const context = { save() {}, restore() {}, measureText: ({ length }) => ({ width: 7 * length }) };
    const it = { plot: { context }, fit: { left, top }, colors: {}, say: (name) => meta.words[name] };
    labels.title(it, { ...context, fillText: (text, x, y) => said.push([text, x < left, y < top]) });
    return said;
  };
  assert.deepEqual(written(90, 60), [
    ["word ↓", true, true],
    ["looks at →", true, true],
  ]);
  assert.deepEqual(written(60, 60), []);
  assert.deepEqual(written(90, 12), []);
});

test("for a projector the words around a map grow as far as each stays whole, and the map large", () => {
  const before = [globalThis.getComputedStyle, globalThis.document];
  const size = ({ page, width = 900, height = 520, word = "want", alone = true }) => {
    const context = {
      font: "12px mono",
      measureText: ({ length }) => ({ width: 0.6 * parseFloat(context.font.replace("bold ", "")) * length }),
      ...Object.fromEntries(
        ["setTransform", "save", "restore", "beginPath", "moveTo", "lineTo", "stroke", "createPattern"].map((name) => [
          name,
          () => {},
        ]),
      ),
    };
    const canvas = { getBoundingClientRect: () => ({ width, height }), getContext: () => context };
    globalThis.getComputedStyle = /** @type {any} */ (() => ({ getPropertyValue: () => "", fontSize: `${page}px` }));
    globalThis.document = /** @type {any} */ ({ createElement: () => canvas });
    const labelled = ["[CLS]", word, "to", "buy", "a", "car", ".", "[SEP]"];
    const it = /** @type {any} */ ({
      root: {},
      $: () => canvas,
      usual: page / 15,
      choice: { view: "map" },
      colors: {},
      seen: { x: 0, y: 0, z: 1 },
      say: (name) => meta.words[name],
      meta: { ...meta, shape: [1, 1, 8, 8], query: labelled, key: labelled, beside: [], alone },
    });
    frame.measurePlot(it);
    return labels.fontSize(it);
  };
  assert.ok(size({ page: 21 }) > 1.2 * 16.8);
  assert.equal(size({ page: 15 }), 12); // usual type stays as it is
  assert.ok(size({ page: 21, word: "unbelievably" }) < size({ page: 21 })); // it would be cut
  for (const tight of [{ width: 420 }, { height: 240 }, { alone: false }])
    assert.equal(size({ page: 21, ...tight }), 12 * 1.4);
  [globalThis.getComputedStyle, globalThis.document] = before;
});
