// The player's functions that need no page.
import test from "node:test";
import assert from "node:assert/strict";
import * as numbers from "../../../bartviz/browser/player/numbers.js";
import * as player from "../../../bartviz/browser/player/player.js";
import * as theme from "../../../bartviz/browser/shared/colors.js";
import { percent } from "../../../bartviz/browser/shared/percentages.js";

const step = (more = {}) => ({
  row: 0,
  reads: "</s>",
  predicts: "Auto",
  probability: 0.27,
  said: "“Auto” was chosen with 27%",
  candidates: [
    ["Auto", 0.27, true],
    ["Wagen", 0.2, false],
  ],
  ...more,
});
const meta = (more = {}) => ({
  kind: "cross",
  words: JSON.parse(process.env.WORDS),
  columns: ["<s>", "car", "</s>"],
  special: [true, false, true],
  source: [
    ["<s>", [0], true],
    ["car", [1], false],
    ["</s>", [2], true],
  ],
  reads: [],
  first: 0,
  steps: [step()],
  ...more,
});

test("colours of a theme are read in both spellings", () => {
  assert.deepEqual(theme.parseColor("#fff"), [255, 255, 255]);
  assert.deepEqual(theme.parseColor(" #6d53b3 "), [109, 83, 179]);
  assert.deepEqual(theme.parseColor("rgb(14, 17, 23)"), [14, 17, 23]);
});

test("text on a shade is readable: contrast of at least 4.5 on every colour of a ramp", () => {
  const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  for (const color of theme.ramp(["#ffffff", "#6d53b3", "#000000"])) {
    const ink = theme.luminance(theme.parseColor(theme.inkOn(color)));
    assert.ok(contrast(ink, theme.luminance(color)) >= 4.5, `${color}`);
  }
});

test("a ramp runs through its stops and a weight beyond 0..1 is clamped", () => {
  const table = theme.ramp(["#000000", "#0000ff"]);
  assert.deepEqual(
    [table[0], table[255]],
    [
      [0, 0, 0],
      [0, 0, 255],
    ],
  );
  assert.deepEqual(numbers.shade(table, 1.5), [0, 0, 255]);
  assert.deepEqual(numbers.shade(table, -1), [0, 0, 0]);
});

test("a row of a flat matrix, exact or in bytes", () => {
  assert.deepEqual([...numbers.rowOf(new Float32Array([1, 2, 3, 4, 5, 6]), 3, 1)], [4, 5, 6]);
  assert.deepEqual([...numbers.rowOf(new Uint8Array([0, 255]), 1, 1, 255)], [1]);
});

test("the strongest column passes over special tokens and over what is not there yet", () => {
  assert.equal(numbers.strongest([0.6, 0.3, 0.1], [true, false, false]), 1);
  assert.equal(numbers.strongest([0.1, 0.2, 0.7], [false, false, false], 2), 1);
  assert.equal(numbers.strongest([1], [true]), -1);
});

test("playback stays, moves on, and ends at the last step", () => {
  assert.deepEqual(numbers.advance(0, 3, 999, 1000), { step: 0, ended: false, moved: false });
  assert.deepEqual(numbers.advance(0, 3, 1000, 1000), { step: 1, ended: false, moved: true });
  assert.deepEqual(numbers.advance(1, 3, 1000, 1000), { step: 2, ended: true, moved: true });
  assert.deepEqual(numbers.advance(2, 3, 1000, 1000), { step: 2, ended: true, moved: false });
});

test("numbers are said with the precision that they deserve", () => {
  assert.deepEqual([0.923, 0.031, 0.0996, 0.0004, 0.9995, 1, 0].map(percent), [
    "92%",
    "3.1%",
    "10%",
    "<0.1%",
    ">99.9%",
    "100%",
    "0%",
  ]);
  assert.deepEqual([numbers.signed(-1.5), numbers.signed(2), numbers.signed(null)], ["−1.50", "2.00", "−∞"]);
  assert.deepEqual(
    [numbers.scientific(0.29), numbers.scientific(6.04e-12), numbers.scientific(0)],
    ["29%", "6.0 · 10⁻¹²", "0"],
  );
  assert.deepEqual(
    [numbers.quantity(980, "B"), numbers.quantity(18432, "B"), numbers.quantity(2.5e6, "")],
    ["980 B", "18.4 kB", "2.5 M"],
  );
});

test("cells of the matrix lie where they are hit", () => {
  const place = numbers.layout(400, 300, 4, 6, 40, 30);
  for (const [row, column] of [
    [0, 0],
    [3, 5],
    [2, 1],
  ]) {
    const at = [place.left + (column + 0.5) * place.w, place.top + (row + 0.5) * place.h];
    assert.deepEqual(numbers.cellAt(place, ...at), { row, column });
  }
  assert.equal(numbers.cellAt(place, 10, 100), null);
  assert.equal(numbers.cellAt(place, 399, 299), null);
});

test("a matrix of any size stays in its box and labels do not lie on each other", () => {
  for (const [rows, columns] of [
    [1, 1],
    [1, 60],
    [60, 1],
    [68, 64],
    [500, 800],
  ]) {
    const { left, top, w, h, everyRow, everyColumn } = numbers.layout(320, 280, rows, columns, 90, 60);
    assert.ok(left + w * columns <= 320 && top + h * rows <= 280);
    assert.ok(everyRow * h >= 11 && everyColumn * w >= 11);
  }
});

test("the chosen token is always among the bars", () => {
  const many = step({
    candidates: [
      ["a", 0.5, false],
      ["b", 0.3, false],
      ["c", 0.1, false],
    ],
  });
  assert.deepEqual(
    numbers.barsOf(many, 2).map((bar) => [bar.label, bar.chosen]),
    [
      ["a", false],
      ["Auto", true],
    ],
  );
  assert.deepEqual(
    numbers.barsOf(step(), 5).map((bar) => bar.label),
    ["Auto", "Wagen"],
  );
  const drawn = step({
    candidates: [
      ["Auto", 0.5, true, 7, 0.9],
      ["Wagen", 0.3, false, 8, 0],
      ["Haus", 0.1, false, 9, null],
    ],
  });
  assert.deepEqual(
    numbers.barsOf(drawn, 5).map((bar) => bar.drawn),
    [0.9, 0, null],
  );
});

test("a scale of tenfold steps shows the small ones, and the last bar is what all others have", () => {
  assert.deepEqual(
    [1, 0.1, 0.01, 1e-5, 1e-9, 0].map((p) => Number(numbers.onScale(p).toFixed(3))),
    [1, 0.8, 0.6, 0, 0, 0],
  );
  assert.deepEqual(
    numbers.MARKS.map(({ label }) => label),
    ["0.001%", "0.01%", "0.1%", "1%", "10%", "100%"],
  );
  assert.deepEqual(
    numbers.PLAIN_MARKS.map(({ at, label }) => [at, label]),
    [
      [0, "0%"],
      [0.25, "25%"],
      [0.5, "50%"],
      [0.75, "75%"],
      [1, "100%"],
    ],
  );
  assert.deepEqual([0.92, 0.0031, 0.00034, 0.0000102, 0.000002, 0].map(numbers.fineShare), [
    "92%",
    "0.31%",
    "0.034%",
    "0.0010%",
    "<0.001%",
    "0%",
  ]);
  assert.ok(Math.abs(numbers.restOf(numbers.barsOf(step(), 5)) - 0.53) < 1e-9);
});

test("temperature and the cut of a step are exact: the browser has p, Python has summed over the vocabulary", () => {
  const p = [0.5, 0.25, 0.15, 0.1], // the whole vocabulary; two candidates are known
    temperatures = [0.5, 2];
  const line = (power) => {
    const raised = p.map((q) => q ** power),
      sum = raised.reduce((a, b) => a + b);
    return { sum, shares: raised.map((q) => q / sum) };
  };
  const rows = new Float32Array(
    temperatures.flatMap((t) => {
      const { sum, shares } = line(1 / t);
      let [mass, count] = [0, 0];
      while (mass < 0.7) mass += shares[count++];
      return [sum, mass, shares[count - 1], count]; // of top-p 0.7
    }),
  );
  const heat = { rows, temperatures, shares: [0.7], draws: true };
  const one = step({
    candidates: [
      ["a", 0.5, true, 1],
      ["b", 0.25, false, 2],
    ],
  });
  const close = (got, want) => got.forEach((value, i) => assert.ok(Math.abs(value - want[i]) < 1e-6, `${got} ${want}`));
  const bars = (warm, k, share) =>
    numbers.cutBars(numbers.barsOf(one, 5), numbers.cutOf(one, heat, { warm, k, p: share }, 4)).map((bar) => bar.p);
  for (const [warm, temperature] of temperatures.entries())
    close(bars(warm, 0, -1), line(1 / temperature).shares.slice(0, 2));
  close(bars(0, 1, -1), [1, 0]);
  close(
    bars(1, 2, -1),
    [0.5 ** 0.5, 0.25 ** 0.5].map((q) => q / (0.5 ** 0.5 + 0.25 ** 0.5)),
  );
  close(bars(0, 0, 0), [1, 0]); // the first has 0.72 of it
  const three = line(0.5).shares.slice(0, 3);
  const mass = three.reduce((a, b) => a + b);
  close(bars(1, 0, 0), [three[0] / mass, three[1] / mass]); // the third, which has no bar, stays too
});

test("a beginner sees no candidate twice, and reads the step without numbers of weights", () => {
  const twins = step({
    candidates: [
      ["Auto", 0.5, true, 7, null, false],
      ["Auto (2)", 0.3, false, 8, null, true],
      ["Wagen", 0.1, false, 9, null, false],
    ],
    plain: "The model was unsure.",
  });
  const labels = (plain) => numbers.barsOf(twins, 5, plain).map((bar) => bar.label);
  assert.deepEqual(
    [labels(true), labels(false)],
    [
      ["Auto", "Wagen"],
      ["Auto", "Auto (2)", "Wagen"],
    ],
  );
  const simple = meta({ plain: true, steps: [twins] });
  assert.equal(
    numbers.sentenceOf(simple, 0, [0.2, 0.7, 0.1]),
    "The model was unsure. The head shown looked most at “car”.",
  );
  assert.equal(
    numbers.sentenceOf(simple, 0, [0.5, 0.2, 0.3]),
    "The model was unsure. The head shown looked most at special tokens, then at “car”.",
  );
});

test("the step in words", () => {
  const piece = { column_words: { 1: "carpet" } };
  assert.match(numbers.sentenceOf(meta(piece), 0, [0.2, 0.7, 0.1]), / looking most at “car” of “carpet” \(0\.70\)\.$/);
  assert.equal(
    numbers.sentenceOf(meta(), 0, [0.2, 0.7, 0.1]),
    "“Auto” was chosen with 27%, looking most at “car” (0.70).",
  );
  assert.equal(
    numbers.sentenceOf(meta(), 0, [0.5, 0.2, 0.3]),
    "“Auto” was chosen with 27%, looking most at special tokens (0.80), then at “car” (0.20).",
  );
  assert.equal(
    numbers.sentenceOf(meta({ columns: ["<s>"], special: [true], source: [["<s>", [0], true]] }), 0, [1]),
    "“Auto” was chosen with 27%.",
  );
});

test("a mask in the text counts as special once and is not named as a word", () => {
  for (const named of [true, false]) {
    const masked = meta({
      columns: ["I", "<mask>", "</s>"],
      special: [false, true, true],
      source: [
        ["I", [0], false],
        [" ", [], false],
        ["<mask>", [1], named],
        ["</s>", [2], true],
      ],
    });
    assert.equal(
      numbers.sentenceOf(masked, 0, [0.18, 0.65, 0.17]),
      "“Auto” was chosen with 27%, looking most at special tokens (0.82), then at “I” (0.18).",
    );
  }
});

test("a row says what it reads and what it predicts", () => {
  assert.equal(numbers.readingOf(meta(), 0), "Row 1 reads “</s>” and predicts “Auto”. It attends to the columns.");
});

test("bytes of one sign are looked at together, and a decoder alone sees no later token", () => {
  const emoji = meta({
    columns: ["<s>", "👩", "⋯"],
    special: [true, false, false],
    source: [
      ["<s>", [0], true],
      ["👩", [1, 2], false],
    ],
  });
  assert.equal(numbers.lookedAt(emoji, 0, [0.4, 0.3, 0.3]).text, "👩");
  assert.ok(Math.abs(numbers.lookedAt(emoji, 0, [0.4, 0.3, 0.3]).mass - 0.6) < 1e-9);
  const alone = meta({
    kind: "decoder",
    first: 1,
    source: [["The", [0], false]],
    reads: [
      ["The", false, false],
      ["cat", false, false],
      ["sat", false, false],
    ],
    steps: [step({ row: 1 })],
  });
  assert.equal(numbers.lookedAt(alone, 0, [0.2, 0.3, 0.5]).text, "cat");
});

test("a piece that touches its word drops the sign that it goes on", () => {
  assert.deepEqual(
    [numbers.pieceOf("⋯fen", true), numbers.pieceOf("⋯fen", false), numbers.pieceOf("⋯", true)],
    ["fen", "⋯fen", "⋯"],
  );
});

test("a full shade is weight 1, or the row's largest where it is asked for", () => {
  assert.deepEqual(
    [numbers.fullShade([0.1, 0.4], "fixed"), numbers.fullShade([0.1, 0.4], "row"), numbers.fullShade([0, 0], "row")],
    [1, 0.4, 1],
  );
});

test("a new record stops playback and draws nothing of the one before", () => {
  globalThis.cancelAnimationFrame = () => {};
  const button = { classList: { toggle() {} }, setAttribute() {} };
  const table = (values) => ({ getChild: () => ({ toArray: () => Float32Array.from(values) }) });
  const next = {
    meta: { ...meta(), revision: "new", start: 0, reading: "predicts" },
    rows: table([0.2, 0.7, 0.1]),
    own: table([]),
    other: table([]),
  };
  const it = {
    $: (name) => assert.equal(name, "play") ?? button,
    meta: { revision: "old" },
    frames: [],
    playing: true,
    step: 7,
  };
  player.receive(it, { data: next, setStateValue() {} });
  assert.deepEqual([it.playing, it.step, it.count, it.columns], [false, 0, 1, 3]);
});

test("a branch that was asked for leads to where it parts, the link's leaves the step", () => {
  globalThis.cancelAnimationFrame = () => {};
  const later = globalThis.setTimeout;
  globalThis.setTimeout = () => 0;
  const button = { classList: { toggle() {} }, setAttribute() {} };
  const table = (values) => ({ getChild: () => ({ toArray: () => Float32Array.from(values) }) });
  const data = (follows, branch) => ({
    meta: {
      ...meta({ steps: [step(), step(), step()] }),
      revision: "same",
      start: 2,
      reading: "predicts",
      follows,
      branch,
    },
    rows: table([]),
    own: table([]),
    other: table([]),
  });
  const stood = (follows) => {
    const it = { $: () => button, frames: [] };
    player.receive(it, { data: data(follows, null), setStateValue() {} });
    player.receive(it, { data: data(follows, { revision: "other", parts: 1 }), setStateValue() {} });
    return it.step;
  };
  assert.deepEqual([stood(true), stood(false)], [1, 2]);
  globalThis.setTimeout = later;
});

test("a frame is never too narrow for a word", () => {
  assert.equal(numbers.frameWidth(900, 9), 100);
  assert.equal(numbers.frameWidth(900, 128), 45); // twenty whole ones
  assert.equal(numbers.frameWidth(360, 8), 45); // a phone shows all of a short text
  assert.equal(numbers.frameWidth(40, 3), 40);
  assert.equal(numbers.frameWidth(900, 1), 150);
});

test("the steps of both texts: the same, the parting, the same again", () => {
  const run = { parts: 1, meets: [3, 4] };
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5].map((i) => numbers.kinship(run, i, 1)),
    ["same", "parts", "", "", "same", "same"],
  );
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((i) => numbers.kinship(run, i, 0)),
    ["same", "parts", "", "same", "same"],
  );
  assert.equal(numbers.kinship({ parts: 1, meets: null }, 5, 1), "");
});

test("one side of the comparison says its token, p and totals", () => {
  const steps = [step({ running_log_probability: -1.3 }), step({ running_log_probability: -2.6 })];
  assert.equal(numbers.sideOf(meta(), "Main", steps, 0), "Main: “Auto” 27% · log p so far −1.30 · whole text −2.60");
  assert.equal(numbers.sideOf(meta(), "Main", steps, 2), "Main: ended after 2 steps · whole text log p −2.60");
});

test("a matrix of many rows and few columns stays wide enough to read", () => {
  const place = numbers.layout(320, 200, 128, 9, 50, 40);
  assert.equal(place.w, 28);
  assert.ok(place.h * 128 <= 160);
});
