// The player's arithmetic: no document, no canvas, tested with `node --test`.

/** @import { Bar, Branch, Heat, Layout, Looked, Meta, Step, Weights } from "./types.js" */
import { filled, inWord } from "../shared/helpers.js";
import { percent } from "../shared/percentages.js";

export const shade = (table, weight) => table[Math.round(255 * Math.min(1, Math.max(0, weight)))];

/**
 * One row of a flat matrix as plain weights; bytes are 1/255 each.
 * @param {Weights} flat
 * @param {number} columns
 * @param {number} row
 */
export function rowOf(flat, columns, row, unit = 1) {
  const slice = flat.subarray(row * columns, (row + 1) * columns);
  return unit === 1 ? slice : Float32Array.from(slice, (v) => v / unit);
}

/**
 * What weights are divided by before they are shaded: 1, or the row's largest weight where the reader asks for it.
 * @param {Weights} weights
 * @param {string} range
 */
export const fullShade = (weights, range) => (range === "row" ? Math.max(...weights) || 1 : 1);

/**
 * @param {Weights} weights
 * @param {number[]} columns
 */
export const massOf = (weights, columns) => columns.reduce((sum, column) => sum + weights[column], 0);

/**
 * The column with the largest weight, special tokens passed over; -1 where there is none.
 * @param {ArrayLike<number>} weights
 * @param {boolean[]} special
 */
export function strongest(weights, special, until = weights.length) {
  let best = -1;
  for (let i = 0; i < until; i++) if (!special[i] && (best < 0 || weights[i] > weights[best])) best = i;
  return best;
}

// The state of playback after `elapsed` ms of a step that lasts `interval`: the same step, the next, or the end.
export function advance(step, count, elapsed, interval) {
  if (elapsed < interval) return { step, ended: false, moved: false };
  return step + 1 < count
    ? { step: step + 1, ended: step + 2 >= count, moved: true }
    : { step, ended: true, moved: false };
}

const LEAST = 1e-5; // where the scale of the bars begins

/** Where a probability lies on a scale whose steps are tenfold, 0 (at most 0.001%) to 1. */
export const onScale = (p) => (p > LEAST ? 1 - Math.log10(p) / Math.log10(LEAST) : 0);

/** The marks of that scale: where they are, and what they are called. */
export const MARKS = [1e-5, 1e-4, 1e-3, 0.01, 0.1, 1].map((p) => ({ at: onScale(p), label: `${p * 100}%` }));

/** The same for beginners, whose bars are as long as their number says. */
export const PLAIN_MARKS = [0, 0.25, 0.5, 0.75, 1].map((p) => ({ at: p, label: `${p * 100}%` }));

/** A probability with two digits, also a small one: 0.042%. */
export function fineShare(p) {
  if (p >= 0.01 || p === 0) return percent(p);
  return p < LEAST ? "<0.001%" : `${(p * 100).toPrecision(2)}%`;
}

export const signed = (value, digits = 2) =>
  value === null ? "−∞" : `${value < 0 ? "−" : ""}${Math.abs(value).toFixed(digits)}`;

export function scientific(p) {
  if (p === null || p === 0) return "0";
  if (p >= 0.001) return percent(p);
  const [digits, power] = p.toExponential(1).split("e-");
  return `${digits} · 10⁻${[...power].map((d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]).join("")}`;
}

export function quantity(value, unit) {
  /** @type {[least: number, name: string][]} */
  const prefixes = [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ];
  const [size, name] = prefixes.find(([least]) => value >= least) ?? [1, ""];
  const scaled = value / size;
  return `${scaled >= 100 || size === 1 ? scaled.toFixed(0) : scaled.toFixed(1)} ${name}${unit}`.trim();
}

/**
 * The layout of a matrix's cells in a box that leaves space for labels: origin, cell size, every which label fits.
 * @returns {Layout}
 */
export function layout(width, height, rows, columns, left, top) {
  const cellWidth = Math.min(52, (width - left - 1) / columns);
  const cellHeight = Math.min(44, (height - top - 1) / rows);
  const w = Math.min(cellWidth, Math.max(cellHeight * 2.5, 28)); // many rows of few columns stay wide enough to read
  const h = Math.min(cellHeight, Math.max(cellWidth * 2.5, 20));
  return { left, top, w, h, rows, columns, everyRow: Math.ceil(11 / h), everyColumn: Math.ceil(11 / w) };
}

/**
 * The cell under a point of that box, or null.
 * @param {Layout} place
 * @param {number} x
 * @param {number} y
 */
export function cellAt(place, x, y) {
  const column = Math.floor((x - place.left) / place.w);
  const row = Math.floor((y - place.top) / place.h);
  return column < 0 || row < 0 || column >= place.columns || row >= place.rows ? null : { row, column };
}

/**
 * The bars to show: the first `most` candidates, and the chosen token where it is not among them. `plain`: without those
 * that are written as a likelier one is.
 * @param {Step} step
 * @param {number} most
 * @returns {Bar[]}
 */
export function barsOf(step, most, plain = false) {
  /** @type {Bar[]} */
  const shown = step.candidates
    .map(([label, p, chosen, token, drawn, alike], rank) => ({
      label,
      p,
      chosen,
      token,
      drawn: drawn ?? null,
      rank,
      alike,
    }))
    .filter(({ chosen, alike }) => !plain || !alike || chosen)
    .slice(0, most);
  if (!shown.some((bar) => bar.chosen)) {
    if (shown.length === most && most > 1) shown.pop();
    shown.push({ label: step.predicts, p: step.probability, chosen: true, outside: true, drawn: null, rank: Infinity });
  }
  return shown;
}

/**
 * What temperature, top-k and top-p make of a step, exactly: Python has summed over the vocabulary. `rows` are the
 * numbers of the step, a line for each temperature: the sum, then mass, least and count of each share of top-p.
 * @param {Step} step
 * @param {Heat} heat
 * @param {{warm: number, k: number, p: number}} chosen the number of the temperature, of the tokens, of the share (-1: none)
 * @param {number} vocabulary
 */
export function cutOf({ candidates }, { rows, temperatures, shares }, { warm, k, p }, vocabulary) {
  const wide = 1 + 3 * shares.length,
    line = rows.subarray(warm * wide, (warm + 1) * wide),
    power = 1 / temperatures[warm];
  const heated = (/** @type {number} */ q) => q ** power / line[0];
  if (k) {
    const best = candidates.slice(0, k).map(([, q]) => heated(q));
    const enough = (p < 0 ? 1 : shares[p]) * best.reduce((sum, q) => sum + q, 0);
    let [mass, count] = [0, 0];
    while (count < best.length && (p < 0 || mass < enough)) mass += best[count++];
    return { heated, mass, count, least: best[count - 1] };
  }
  if (p < 0) return { heated, mass: 1, count: vocabulary, least: 0 };
  const [mass, least, count] = [0, 1, 2].map((part) => line[1 + part * shares.length + p]);
  return { heated, mass, count, least };
}

/**
 * The bars after such a cut: each token's share of what is kept, 0 for one that is cut off.
 * @param {Bar[]} bars
 * @param {ReturnType<typeof cutOf>} cut
 * @returns {Bar[]}
 */
export function cutBars(bars, { heated, mass, count, least }) {
  return bars.map((bar) => {
    const p = heated(bar.p),
      kept = bar.outside ? p >= least * (1 - 1e-6) : bar.rank < count;
    return { ...bar, p: kept ? p / mass : 0, cut: !kept, drawn: null };
  });
}

/** What the bars leave over.
 * @param {Bar[]} bars
 */
export const restOf = (bars) => Math.max(1 - bars.reduce((sum, { p }) => sum + p, 0), 0);

const NARROWEST = 44; // pixels of a frame: a finger, and a word of six letters

// How wide a frame is where `count` steps share a film of this width: never too narrow for a word, then the film scrolls.
// A film that scrolls shows whole frames, so that none looks cut.
export const frameWidth = (width, count) =>
  width / count >= NARROWEST
    ? Math.min(Math.floor(width / count), 150)
    : width / Math.max(1, Math.floor(width / NARROWEST));

/**
 * How step `i` of one text relates to the other: the same beginning, the step where they part, the same end again.
 * @param {Branch} branch
 * @param {number} i
 * @param {number} side 0 for the main text, 1 for the branch
 * @param {number} i
 */
export function kinship({ parts, meets }, i, side) {
  if (parts === null || i < parts) return "same";
  if (i === parts) return "parts";
  return meets && i >= meets[side] ? "same" : "";
}

// One side of the comparison at a step: its token, its probability, the sum so far and of the whole text.
export function sideOf({ words, plain }, name, steps, i) {
  const whole = signed(steps.at(-1).running_log_probability);
  if (i >= steps.length)
    return filled(words[plain ? "side_ended_plain" : "side_ended"], { name, count: steps.length, whole });
  const step = steps[i];
  return filled(words[plain ? "side_plain" : "side"], {
    name,
    token: step.predicts,
    share: percent(step.probability),
    log_p: signed(step.running_log_probability),
    whole,
  });
}

/**
 * What a reader sees of the columns: the source text's segments and, for a decoder alone, the tokens after its prompt.
 * @param {Meta} meta
 */
export function partsOf(meta) {
  const source = meta.source
    .filter(([, columns]) => columns.length)
    .map(([text, columns, special]) => ({ text, columns, special }));
  const after = meta.kind === "decoder" ? meta.reads.slice(meta.first) : [];
  return [...source, ...after.map(([text, special], i) => ({ text, columns: [meta.first + i], special }))];
}

/**
 * The part with the most weight, columns that count as special and what a row may not see passed over; null where there is none.
 * @param {Meta} meta
 * @param {number} index
 * @param {Weights} weights
 * @returns {Looked | null}
 */
export function lookedAt(meta, index, weights) {
  const seen = meta.kind === "decoder" ? meta.steps[index].row : Infinity;
  const parts = partsOf(meta).filter(({ columns }) => !columns.some((i) => meta.special[i]) && columns[0] <= seen);
  /** @type {Looked | null} */
  let best = null;
  for (const part of parts) {
    const mass = massOf(weights, part.columns);
    if (!best || mass > best.mass) best = { ...part, mass };
  }
  return best;
}

// A piece that touches the one before it needs no continuation mark.
export const pieceOf = (label, joined) =>
  joined && label.length > 1 && label.startsWith("⋯") ? label.slice(1) : label;

/**
 * The step in words: what was chosen, how surely, and where it looked.
 * @param {Meta} meta
 * @param {number} index
 * @param {Weights} weights
 */
export function sentenceOf(meta, index, weights) {
  const best = lookedAt(meta, index, weights),
    { said, plain } = meta.steps[index];
  if (!best) return meta.plain ? plain : filled(meta.words.said, { said });
  const text = inWord(meta.words.piece, best.text, meta.column_words?.[best.columns[0]]);
  const special = Array.from(weights).reduce((sum, weight, i) => sum + (meta.special[i] ? weight : 0), 0);
  if (meta.plain)
    return filled(meta.words[special > best.mass ? "looked_words" : "looked_plain"], { said: plain, text });
  return filled(meta.words[special > best.mass ? "looked_special" : "looked"], {
    said,
    special: special.toFixed(2),
    text,
    mass: best.mass.toFixed(2),
  });
}

/**
 * What a row reads and predicts, in words.
 * @param {Meta} meta
 * @param {number} index
 */
export const readingOf = (meta, index) =>
  filled(meta.words[meta.plain ? "reading_plain" : "reading"], { ...meta.steps[index], row: index + 1 });
