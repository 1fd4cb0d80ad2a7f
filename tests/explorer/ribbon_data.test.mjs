// The words of a live page and the weights between them, without a browser.
import assert from "node:assert/strict";
import test from "node:test";
import { colorsOf } from "../../bartviz/explorer/entry.js";
import { between, placeIn, exchanged, pairsOf, ribbonsOf, wordsOf } from "../../bartviz/explorer/ribbon_data.js";

const chip = (label, special = false, joined = false) => [label, 0, special, joined];
const SOURCE = [chip("<s>", true), chip("buy"), chip("a"), chip("</s>", true)];
const OUTPUT = [chip("kau"), chip("fen", false, true), chip("</s>", true)];
// rows: kau, fen, </s>; columns: <s>, buy, a, </s>
const WEIGHTS = [
  [0.1, 0.8, 0.09, 0.01],
  [0.3, 0.4, 0.3, 0],
  [0, 0, 0, 1],
];
const weight = (row, column) => WEIGHTS[row][column];

test("pieces of a word are one word", () => {
  assert.deepEqual(
    wordsOf(OUTPUT).map(({ pieces, from, to }) => [pieces.join(""), from, to]),
    [
      ["kaufen", 0, 2],
      ["</s>", 2, 3],
    ],
  );
});

test("rows of a word are averaged and columns are summed, so that rows still sum to 1", () => {
  const found = between(wordsOf(OUTPUT), wordsOf(SOURCE), weight);
  assert.ok(Math.abs(found[0][1] - 0.6) < 1e-9);
  for (const row of found) assert.ok(Math.abs(row.reduce((sum, value) => sum + value) - 1) < 1e-9);
  const [[sum]] = between(wordsOf([chip("x")]), wordsOf([chip("b"), chip("uy", false, true)]), () => 0.25);
  assert.equal(sum, 0.5);
});

test("the ribbons leave out special tokens but gaps, and name the most", () => {
  const words = {
    labels: { table: "of {head}" },
    row: "{word} > {other} {weight}",
    column: "{word} < {other} {weight}",
  };
  const meta = {
    kind: "cross",
    query_text: OUTPUT,
    key_text: SOURCE,
    query_colors: [0, 0, -1],
    key_colors: [-1, 0, 1, -1],
  };
  const { data } = ribbonsOf(meta, weight, words, { mask: null, head: "cross L1H2", chosen: null });
  assert.deepEqual(data.below, [{ pieces: ["kau", "fen"], special: false, color: 0 }]);
  assert.deepEqual(
    data.above.map(({ pieces }) => pieces.join("")),
    ["buy", "a"],
  );
  assert.deepEqual(data.say.below, ["“kaufen” > “buy” 0.60"]);
  assert.deepEqual(data.say.above, ["“buy” < “kaufen” 0.60", "“a” < “kaufen” 0.20"]);
  assert.equal(data.labels.table, "of cross L1H2");
  const gap = {
    kind: "encoder",
    query_text: [chip("[MASK]", true)],
    key_text: [chip("[MASK]", true)],
    query_colors: [],
    key_colors: [],
  };
  const masked = ribbonsOf(gap, () => 1, words, { mask: "[MASK]", head: "", chosen: null });
  assert.equal(masked.data.below.length, 1);
});

test("words that choose each other with most of the weight are pairs, and have one colour", () => {
  const rows = wordsOf([chip("<s>", true), chip("a"), chip("b"), chip("c")]);
  const columns = wordsOf([chip("x"), chip("y"), chip("z"), chip("</s>", true)]);
  const weights = [
    [1, 0, 0, 0],
    [0.1, 0.5, 0.1, 0.3], // a and y choose each other
    [0.1, 0.4, 0.1, 0.4], // b chooses y, which chooses a
    [0.1, 0.1, 0.2, 0.6], // c chooses z, with too little weight
  ];
  assert.deepEqual(
    pairsOf(rows, columns, (t, s) => weights[t][s]),
    [[1, 1]],
  );
  const line = (labels, special) => ({
    labels,
    special,
    words: labels.map((_, i) => i),
    segments: labels.map(() => 0),
  });
  const found = {
    shapes: { encoder: [], decoder: [], cross: [] },
    source: line(["x", "y", "z", "</s>"], [false, false, false, true]),
    output: line(["<s>", "a", "b", "c"], [true, false, false, false]),
    aligning: Float32Array.from(weights.flat()),
  };
  assert.deepEqual(colorsOf(/** @type {any} */ (found), 8), {
    source: [0, 1, 2, -1],
    reads: [-1, -1, 1, -1],
    predicts: [-1, 1, -1, -1],
  });
});

const tokens = (spans, segments = spans.map(() => 0)) => ({ spans, segments });
const translated = {
  shapes: { encoder: [1, 1, 3, 3], decoder: [1, 1, 2, 2], cross: [1, 1, 2, 3] },
  start: 1,
  source: tokens([[0, 3], [3, 5], null]),
  steps: [{ row: 0 }, { row: 1 }],
};

test("a word stands for a part of the text, or for the step that wrote it", () => {
  const at = (kind, line, from, to = from + 1) => placeIn(translated, kind, line, { from, to });
  assert.deepEqual(at("cross", "above", 0, 2), { segment: 0, span: [0, 5] });
  assert.deepEqual(at("cross", "below", 1), { step: 1 });
  assert.deepEqual(at("decoder", "below", 1), { step: 0 }); // row 1 reads what the first step has written
  assert.equal(at("decoder", "above", 0), null); // the start token
  assert.equal(at("encoder", "below", 2), null); // a special token
  const pair = {
    ...translated,
    source: tokens(
      [
        [0, 1],
        [0, 2],
      ],
      [0, 1],
    ),
  };
  assert.deepEqual(placeIn(pair, "encoder", "below", { from: 1, to: 2 }), { segment: 1, span: [0, 2] });
  const decoder = {
    shapes: { decoder: [1, 1, 3, 3] },
    start: 2,
    source: tokens([
      [0, 1],
      [1, 2],
    ]),
    steps: [{ row: 1 }],
  };
  assert.deepEqual(placeIn(decoder, "decoder", "above", { from: 1, to: 2 }), { segment: 0, span: [1, 2] });
  assert.deepEqual(placeIn(decoder, "decoder", "above", { from: 2, to: 3 }), { step: 0 });
});

test("a word is exchanged where it stands, counted in code points, and the space before it stays", () => {
  assert.equal(exchanged("😀 a car.", [3, 7], "bike"), "😀 a bike.");
  assert.equal(exchanged("a b a", [4, 5], "c"), "a b c");
});
