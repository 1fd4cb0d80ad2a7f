// The canvas's arithmetic: no document, no drawing, tested with `node --test`.

/** @import { Choice, Meta, Side, Span, Summed, Weight } from "./types.js" */
import { clamp, filled, inWord, quoted } from "../shared/helpers.js";
import { weightSaid } from "../shared/percentages.js";

const TYPES = { uint8: Uint8Array, uint16: Uint16Array };

/**
 * The buffer as ``data.py`` describes it. Arrays are copied: bytes arrive at an odd place in memory.
 * @param {Uint8Array} bytes
 * @returns {{ meta: Meta, arrays: Record<string, any> }}
 */
export function decode(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (new TextDecoder().decode(bytes.subarray(0, 4)) !== "BVC1") throw new Error("not a buffer of the canvas");
  const end = 8 + view.getUint32(4, true);
  const meta = JSON.parse(new TextDecoder().decode(bytes.subarray(8, end)));
  /** @type {Record<string, any>} */
  const arrays = {};
  let at = end;
  for (const [name, type, shape] of meta.arrays) {
    const size = shape.reduce((a, b) => a * b, 1) * TYPES[type].BYTES_PER_ELEMENT;
    arrays[name] = new TYPES[type](bytes.slice(at, at + size).buffer);
    at += size;
  }
  if (arrays.low) arrays.tiles = joined(arrays.low, arrays.high);
  return { meta, arrays };
}

/**
 * Codes that came as a byte each; 255 where the code is the next one of `high`.
 * @param {Uint8Array} low
 * @param {Uint16Array} high
 */
export function joined(low, high) {
  const codes = Uint16Array.from(low);
  for (let i = 0, next = 0; i < codes.length; i++) if (codes[i] === 255) codes[i] = high[next++];
  return codes;
}

/**
 * The number of a map: each layer's heads, then its mean; the mean of all comes last.
 * @param {number[]} shape
 * @param {Choice} choice
 */
export const mapNumber = ([layers, heads], { layer, head, what }) =>
  what === "all" ? layers * (heads + 1) : layer * (heads + 1) + (what === "layer" ? heads : head);

/**
 * @param {Pick<Meta, "words">} meta
 * @param {Choice} choice
 */
export const nameOf = ({ words }, { layer, head, what }) =>
  filled(words[{ all: "all_heads", layer: "layer_heads", head: "head" }[what]], { layer, head });

/**
 * Bits, row by row -> one byte a cell, 1 where a row may look.
 * @param {Uint8Array} bits
 * @param {number} rows
 * @param {number} columns
 */
export function unpacked(bits, rows, columns) {
  const open = new Uint8Array(rows * columns),
    wide = Math.ceil(columns / 8);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      open[row * columns + column] = (bits[row * wide + (column >> 3)] >> (7 - (column & 7))) & 1;
  return open;
}

/**
 * The largest code of each row.
 * @param {Uint16Array} codes
 * @param {number} rows
 * @param {number} columns
 */
export function largest(codes, rows, columns) {
  const most = new Uint16Array(rows);
  for (let row = 0; row < rows; row++)
    for (let i = row * columns, end = i + columns; i < end; i++) if (codes[i] > most[row]) most[row] = codes[i];
  return most;
}

/**
 * The place of a weight (0..1) on the colour scale.
 * @param {number} weight
 * @param {Span} span
 */
export function shareOf(weight, span, most = 1) {
  if (span === "row") return most > 0 ? weight / most : 0;
  return span === "log" ? clamp(Math.log10(Math.max(weight, 1e-4)) / 4 + 1, 0, 1) : weight;
}

/**
 * (K,) the weights of these rows summed, and their mean.
 * @param {Weight} weight
 * @param {number} columns
 * @param {number[]} rows
 */
export function ofRows(weight, columns, rows) {
  const sum = new Float64Array(columns);
  for (const row of rows) for (let column = 0; column < columns; column++) sum[column] += weight(row, column);
  return { sum, mean: sum.map((value) => value / Math.max(rows.length, 1)) };
}

/**
 * (Q,) what each row gives to these columns together.
 * @param {Weight} weight
 * @param {number} count
 * @param {number[]} keys
 */
export function ofKeys(weight, count, keys) {
  return Float64Array.from({ length: count }, (_, row) => keys.reduce((sum, column) => sum + weight(row, column), 0));
}

/**
 * The indexes of the largest values, the first first.
 * @param {Float64Array} values
 * @param {number} most
 * @param {(place: number) => boolean} leave
 */
export function top(values, most, leave = () => false) {
  const order = [...values.keys()]
    .filter((i) => values[i] > 0 && !leave(i))
    .sort((a, b) => values[b] - values[a] || a - b);
  return order.slice(0, most);
}

/** A range from `a` to `b`, both in it. */
export const range = (a, b) => Array.from({ length: Math.abs(b - a) + 1 }, (_, i) => Math.min(a, b) + i);

/**
 * A selection after a click: alone, toggled (at least `fewest` stay), or from the anchor on.
 * @param {number[]} selected
 * @param {number} index
 * @param {{ add?: boolean, from?: number | null, fewest?: number }} [how]
 */
export function picked(selected, index, { add = false, from = null, fewest = 1 } = {}) {
  if (from !== null) return range(from, index);
  if (!add) return [index];
  const rest = selected.filter((i) => i !== index);
  if (rest.length === selected.length) return [...selected, index].sort((a, b) => a - b);
  return rest.length < fewest ? selected : rest;
}

const LEGIBLE = 0.0005; // a weight that three digits show
const NAMED = 4;

/**
 * Labels in words: the first ones, and how many more.
 * @param {Pick<Meta, "words">} meta
 * @param {string[]} labels
 */
export function listed({ words }, labels) {
  const shown = labels.length > NAMED + 1 ? NAMED : labels.length, // "and 1 more" is no shorter than its name
    names = labels.slice(0, shown).map(quoted).join(", ");
  return labels.length > shown ? filled(words.listed, { names, count: labels.length - shown }) : names;
}

/**
 * A token in a sentence, with the word that it is a piece of.
 * @param {Meta} meta
 * @param {Side} side
 * @param {number} at
 */
export const tokenSaid = (meta, side, at) => inWord(meta.words.piece, meta[side][at], meta[`${side}_words`]?.[at]);

/**
 * @param {Meta} meta
 * @param {number} row
 */
export const rowPlaces = (meta, row) => ({ row: tokenSaid(meta, "query", row), at: row });

/**
 * One cell in words.
 * @param {Meta} meta
 * @param {number} row
 * @param {number} column
 * @param {number} weight
 * @param {boolean} masked
 */
export const cellSaid = (meta, row, column, weight, masked) =>
  filled(meta.words.cell, {
    ...rowPlaces(meta, row),
    key: tokenSaid(meta, "key", column),
    place: column,
    weight: valueSaid(meta, weight, masked),
  });

/**
 * What a cell holds, in words: its weight, or which of two heads looks more, and by how much.
 * @param {Meta} meta
 * @param {number} value
 * @param {boolean} masked
 */
export function valueSaid(meta, value, masked = false) {
  const { words } = meta;
  if (masked) return /** @type {string} */ (words.masked);
  if (!meta.limit) return weightSaid(meta, value);
  if (Math.abs(value) < LEGIBLE) return /** @type {string} */ (words.alike);
  return filled(words[value < 0 ? "more_of_a" : "more_of_b"], { difference: differenceSaid(meta, value) });
}

/** In points of per cent for a beginner, three decimals for others. */
function differenceSaid(meta, value) {
  const number = weightSaid(meta, Math.abs(value));
  return meta.plain ? filled(meta.words.points, { number: number.replace("%", "") }) : number;
}

/**
 * One row or several of a difference in words: where A looks more, and where B does.
 * @param {Meta} meta
 * @param {number[]} rows
 * @param {Summed} weights
 */
function apartSaid(meta, rows, { mean }) {
  const one = rows.length === 1 ? "row" : "rows",
    places = { ...rowPlaces(meta, rows[0]), count: rows.length };
  const part = (values) => {
    const [column] = top(values, 1).filter((place) => values[place] >= LEGIBLE);
    if (column === undefined) return "";
    return filled(meta.words.row_part, {
      key: tokenSaid(meta, "key", column),
      difference: differenceSaid(meta, values[column]),
    });
  };
  const [a, b] = [part(mean.map((value) => -value)), part(mean)];
  return filled(meta.words[`${one}_${a && b ? "apart" : "alike"}`], { ...places, a, b });
}

/**
 * One row or several in words: where they look most, the sum and the mean where there are several, and what one row may
 * not look at.
 * @param {Meta} meta
 * @param {number[]} rows
 * @param {Summed} weights
 * @param {(row: number, column: number) => boolean} masked
 */
export function rowsSaid(meta, rows, { sum, mean }, masked = () => false) {
  const { words } = meta,
    names = listed(
      meta,
      rows.map((row) => meta.query[row]),
    );
  const out = meta.key.filter((_, column) => rows.every((row) => masked(row, column)));
  if (out.length === meta.key.length) return filled(words.masked_wholly, { names });
  if (meta.limit) return apartSaid(meta, rows, { sum, mean });
  const best = top(mean, 3).filter((column, place) => !place || mean[column] >= LEGIBLE);
  if (rows.length === 1) {
    const said = ranked(
      words,
      "row",
      rowPlaces(meta, rows[0]),
      best.map((column) => `${tokenSaid(meta, "key", column)} (${weightSaid(meta, mean[column])})`),
    );
    return out.length ? `${said} ${filled(words.out, { names: listed(meta, out) })}` : said;
  }
  const part = (column) =>
    filled(words.rows_part, {
      key: meta.key[column],
      sum: weightSaid(meta, sum[column]),
      mean: weightSaid(meta, mean[column]),
    });
  return ranked(words, "rows", { count: rows.length, names }, best.map(part));
}

/**
 * Where it looks most, and where next: one or two more.
 * @param {Meta["words"]} words
 * @param {"row" | "rows"} name
 * @param {object} places
 * @param {string[]} parts
 */
function ranked(words, name, places, [best, one, other]) {
  if (one === undefined) return filled(words[name], { ...places, best });
  const others = other === undefined ? one : filled(words.both, { one, other });
  return filled(words[`${name}_then`], { ...places, best, others });
}

/**
 * Columns in words: what the chosen rows give to them together, and what all rows give on average.
 * @param {Meta} meta
 * @param {number[]} rows
 * @param {number[]} keys
 * @param {Float64Array} given
 */
export function keysSaid(meta, rows, keys, given) {
  const sum = rows.reduce((total, row) => total + given[row], 0),
    all = given.reduce((total, value) => total + value, 0) / given.length;
  return filled(meta.words[`${keys.length > 1 ? "keys" : "key"}_${rows.length > 1 ? "rows" : "row"}`], {
    ...rowPlaces(meta, rows[0]),
    key: tokenSaid(meta, "key", keys[0]),
    place: keys[0],
    columns: keys.length,
    names: listed(
      meta,
      keys.map((key) => meta.key[key]),
    ),
    sum: weightSaid(meta, sum),
    count: rows.length,
    each: weightSaid(meta, sum / rows.length),
    mean: weightSaid(meta, all),
  });
}

/**
 * Where an arrow moves from a head: the means are right of the heads, the mean of all below them.
 * @template {Choice} C
 * @param {number[]} shape
 * @param {C} choice
 * @param {number} dx
 * @param {number} dy
 * @returns {C}
 */
export function neighbour([layers, heads], choice, dx, dy) {
  if (choice.what === "all") return dy < 0 || dx < 0 ? { ...choice, layer: layers - 1, what: "layer" } : choice;
  const column = clamp((choice.what === "layer" ? heads : choice.head) + dx, 0, heads);
  const layer = choice.layer + dy;
  if (layer >= layers) return column === heads ? { ...choice, what: "all" } : choice;
  return {
    ...choice,
    layer: Math.max(layer, 0),
    head: Math.min(column, heads - 1),
    what: column === heads ? "layer" : "head",
  };
}

/**
 * The next head in reading order, or the one before.
 * @param {number[]} shape
 * @param {Pick<Choice, "layer" | "head">} choice
 * @param {number} step
 * @returns {Choice}
 */
export function nextHead([layers, heads], { layer, head }, step) {
  const place = clamp(layer * heads + head + step, 0, layers * heads - 1);
  return { layer: Math.floor(place / heads), head: place % heads, what: "head" };
}
