// The bipartite view: rows left, columns right, a line's opacity is its weight. Zoom and pan as in the map.

/** @import { Canvas } from "./types.js" */
import { BESIDE, bands, widest } from "../shared/drawing.js";
import { clamp } from "../shared/helpers.js";
import { fontSize, label } from "./labels.js";
import { sourceOf } from "./state.js";
import { lastRow } from "./veil.js";
import { everyWhich, written } from "./window.js";

export const MOST_LINES = 4000;
export const FAINTEST = 5; // of 255: below, a line is not seen

/**
 * Where the two lists are; as in a map, with columns downward.
 * @param {Canvas} it
 */
export function fittedLines(it, left) {
  const { context, width, height } = it.plot,
    [, , rows, columns] = it.meta.shape,
    scale = fontSize(it) / 12;
  const right = Math.min(widest(context, it.meta.key) + 15, width * 0.3, 130 * scale);
  const high = Math.max(1, height - 12);
  return {
    left,
    right,
    top: 6,
    rows,
    columns,
    height: high,
    width: Math.max(1, width - left - right),
    h: Math.min(high / rows, 34 * scale),
    w: Math.min(high / columns, 34 * scale),
  };
}

/** @param {Canvas} it */
export const heightOf = (it, side) => (side === "query" ? it.fit.h : it.fit.w) * it.seen.z;
/** @param {Canvas} it */
const placeOn = (it, side, index) =>
  it.fit.top + (index + 0.5 - (side === "query" ? it.seen.y : it.seen.x)) * heightOf(it, side);

/**
 * The token under a point: of the left list on the left half.
 * @param {Canvas} it
 */
export function underLines(it, x, y) {
  const side = x < it.fit.left + it.fit.width / 2 ? "query" : "key";
  const count = side === "query" ? it.fit.rows : it.fit.columns;
  const index = Math.floor((y - it.fit.top) / heightOf(it, side) + (side === "query" ? it.seen.y : it.seen.x));
  if (index < 0 || index >= count || y < it.fit.top) return { row: null, column: null };
  return side === "query" ? { row: index, column: null } : { row: null, column: index };
}

/** @param {Canvas} it */
export function drawLines(it) {
  const { context, width, height } = it.plot;
  if (!width || !height) return;
  context.clearRect(0, 0, width, height);
  const map = sourceOf(it, it.choice);
  const at = it.hover ?? it.cursor ?? { row: null, column: null };
  const alone = at.row !== null || at.column !== null;
  const shown = { row: at.row, column: at.row === null ? at.column : null };
  if (map && !map.of) it.leftOut = strokeAll(it, context, map, alone ? shown : null);
  else it.leftOut = 0;
  drawEnds(it, context, at);
}

/**
 * Lines in groups of one opacity; gives the weight's shade below which lines are left out.
 * @param {Canvas} it
 */
function strokeAll(it, context, map, alone) {
  const { rows, columns } = linesSeen(it);
  const counts = new Int32Array(256),
    last = lastRow(it, it.fit.rows);
  const visit = (act) => {
    for (
      let row = alone?.row ?? rows[0], end = alone?.row != null ? alone.row + 1 : rows[1];
      row < end && row <= last;
      row++
    )
      for (
        let column = alone?.column ?? columns[0], stop = alone?.column != null ? alone.column + 1 : columns[1];
        column < stop;
        column++
      ) {
        const i = row * map.columns + column;
        if (map.open && !map.open[i]) continue;
        const code = map.values[i];
        act(row, column, map.scales ? Math.min(255, Math.round(code * map.scales[row])) : map.table[code]);
      }
  };
  visit((row, column, shade) => counts[shade]++);
  let floor = 255,
    sum = 0;
  while (floor > FAINTEST && sum + counts[floor] <= MOST_LINES) sum += counts[floor--];
  const groups = new Map();
  visit((row, column, shade) => {
    if (shade <= floor && shade < 255) return;
    const strong = alone !== null || it.rows.includes(row);
    const group = `${strong ? 1 : 0} ${shade >> 4}`;
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group).push([row, column]);
  });
  context.strokeStyle = it.colors.strong;
  for (const group of [...groups.keys()].sort()) strokeGroup(it, context, group, groups.get(group));
  context.globalAlpha = 1;
  return floor;
}

/** @param {Canvas} it */
function strokeGroup(it, context, group, pairs) {
  const [strong, level] = group.split(" ").map(Number);
  const share = (level + 1) / 16;
  const { left, width } = it.fit,
    end = left + width;
  context.globalAlpha = share * (strong ? 1 : 0.45);
  context.lineWidth = level < 4 ? 1 : 1 + share * (strong ? 4 : 2) * (fontSize(it) / 12);
  context.beginPath();
  for (const [row, column] of pairs) {
    const [a, b] = [placeOn(it, "query", row), placeOn(it, "key", column)];
    context.moveTo(left, a);
    context.bezierCurveTo(left + width * 0.4, a, end - width * 0.4, b, end, b);
  }
  context.stroke();
}

/**
 * @param {Canvas} it
 * @returns {{ rows: [from: number, to: number], columns: [from: number, to: number] }}
 */
export function linesSeen(it) {
  /** @returns {[number, number]} */
  const of = (from, side, count) => [
    Math.max(0, Math.floor(from)),
    Math.min(count, Math.ceil(from + it.fit.height / heightOf(it, side))),
  ];
  return { rows: of(it.seen.y, "query", it.fit.rows), columns: of(it.seen.x, "key", it.fit.columns) };
}

/** @param {Canvas} it */
function drawEnds(it, context, at) {
  const { rows, columns } = linesSeen(it),
    size = fontSize(it),
    { left, width } = it.fit;
  context.textBaseline = "middle";
  const side = (name, [from, to], chosen, x, align) => {
    context.textAlign = align;
    for (const index of written(from, to, everyWhich(heightOf(it, name), size + 1), chosen))
      label(
        it,
        context,
        it.labels[name][index],
        x,
        placeOn(it, name, index),
        chosen.includes(index),
        it.special[name].has(index),
      );
  };
  side("query", rows, [...new Set([...it.rows, at.row ?? -1])], left - BESIDE, "right");
  side("key", columns, [...new Set([...it.keys, at.column ?? -1])], left + width + BESIDE, "left");
  const colored = (name, range, across) => {
    const cell = heightOf(it, name),
      edge = (index) => clamp(placeOn(it, name, index - 0.5), it.fit.top, it.fit.top + it.fit.height);
    bands(context, it.colors.bars[name], {
      range,
      cell,
      down: true,
      bar: (from, to) => [edge(from), edge(to), across],
    });
  };
  colored("query", rows, left - 5);
  colored("key", columns, left + width + 2);
}
