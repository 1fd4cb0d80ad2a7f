// Which part of a map is seen, and where: pure functions, tested with `node --test`.
// A window is {x, y, z}: the column and the row at its top left corner, and how much larger than fitted it is.

/** @import { Cell, Fingers, Fit, Place, Seen } from "./types.js" */
import { clamp } from "../shared/helpers.js";

const READABLE = 44; // pixels of a cell beyond which zooming ends
const SMALLEST = 1e-9;
const LINE = 48; // pixels of a row or a column that may be much longer than its cells are wide
const WIDEST = 96; // pixels of a cell of a short text

/** Fitted into a box that leaves room for labels: origin, size of a cell, and of the whole map. */
export function fitted(width, height, rows, columns, left, top, scale = 1) {
  const wide = Math.max(1, width - left - 1) / columns,
    high = Math.max(1, height - top - 1) / rows;
  const w = Math.min(wide, Math.max(high * 2.4, LINE * scale), WIDEST * scale),
    h = Math.min(high, Math.max(wide * 2.4, LINE * scale), WIDEST * scale);
  return { left, top, w, h, rows, columns, width: w * columns, height: h * rows };
}

/** @param {Fit} fit */
export const furthest = (fit) => Math.max(1, READABLE / Math.max(SMALLEST, Math.min(fit.w, fit.h)));

/**
 * The window with its factor in bounds, and nothing but the map in it.
 * @param {Fit} fit
 * @param {Seen} seen
 * @returns {Seen}
 */
export function bounded(fit, { x, y, z }) {
  const zoom = clamp(z, 1, furthest(fit));
  return { x: clamp(x, 0, fit.columns * (1 - 1 / zoom)), y: clamp(y, 0, fit.rows * (1 - 1 / zoom)), z: zoom };
}

/**
 * Zoomed by a factor, so that the point (in pixels of the map's box) stays where it is.
 * @param {Fit} fit
 * @param {Seen} seen
 * @returns {Seen}
 */
export function zoomed(fit, seen, factor, px, py) {
  const z = clamp(seen.z * factor, 1, furthest(fit));
  const at = (from, pixels, size) => from + pixels / (size * seen.z) - pixels / (size * z);
  return bounded(fit, { x: at(seen.x, px, fit.w), y: at(seen.y, py, fit.h), z });
}

/**
 * @param {Fit} fit
 * @param {Seen} seen
 * @returns {Seen}
 */
export const panned = (fit, seen, dx, dy) =>
  bounded(fit, { ...seen, x: seen.x - dx / (fit.w * seen.z), y: seen.y - dy / (fit.h * seen.z) });

/**
 * Two fingers {x, y, apart} that went from one place to another: what was between them stays between them.
 * @param {Fit} fit
 * @param {Seen} seen
 * @param {Fingers} from
 * @param {Fingers} to
 * @returns {Seen}
 */
export function pinched(fit, seen, from, to) {
  const near = zoomed(fit, seen, to.apart / Math.max(from.apart, 1), from.x, from.y);
  return panned(fit, near, to.x - from.x, to.y - from.y);
}

/**
 * The window moved so far that a cell is in it.
 * @param {Fit} fit
 * @param {Seen} seen
 * @returns {Seen}
 */
export function revealing(fit, seen, row, column) {
  const wide = fit.columns / seen.z,
    high = fit.rows / seen.z;
  return bounded(fit, { ...seen, x: clamp(seen.x, column + 1 - wide, column), y: clamp(seen.y, row + 1 - high, row) });
}

/**
 * The position of a cell, in pixels of the canvas.
 * @param {Fit} fit
 * @param {Seen} seen
 */
export const placeOf = (fit, seen, row, column) => ({
  x: fit.left + (column - seen.x) * fit.w * seen.z,
  y: fit.top + (row - seen.y) * fit.h * seen.z,
});

/**
 * What is under a point: {row, column}; on the labels one of them is null, elsewhere both.
 * @param {Fit} fit
 * @param {Seen} seen
 * @returns {Cell}
 */
export function under(fit, seen, px, py) {
  const column = Math.floor(seen.x + (px - fit.left) / (fit.w * seen.z)),
    row = Math.floor(seen.y + (py - fit.top) / (fit.h * seen.z));
  const inX = px >= fit.left && px < fit.left + fit.width && column < fit.columns,
    inY = py >= fit.top && py < fit.top + fit.height && row < fit.rows;
  if (inX && inY) return { row, column };
  if (inX && py < fit.top) return { row: null, column };
  if (inY && px < fit.left) return { row, column: null };
  return { row: null, column: null };
}

/** Every which label fits, for cells of this size. */
export const everyWhich = (cell, line) => Math.max(1, Math.ceil(line / Math.max(cell, SMALLEST)));

/**
 * The labels that are written, where only every n-th fits: the marked ones, and others that do not touch them.
 * @param {number} from
 * @param {number} to
 * @param {number} every
 * @param {number[]} marked
 */
export function written(from, to, every, marked) {
  const kept = new Set(marked.filter((i) => i >= from && i < to));
  if (kept.size * every > (to - from) * 1.5) return new Set([...kept].filter((i) => i % every === 0));
  for (let i = Math.ceil(from / every) * every; i < to; i += every)
    if (![...kept].some((other) => other !== i && Math.abs(other - i) < every)) kept.add(i);
  return kept;
}

const TALL = 1.6; // times its width: the most that a small map is high

/**
 * The overview's cells: layers down and heads across, a mean at the end of each line, the mean of all last; or one
 * layer's heads in several lines, with room for a caption above each.
 * @param {number[]} shape
 * @param {{ width: number, height: number, left: number, top: number, only?: number | null, caption?: number }} box
 * @returns {{ places: Place[], across: number }}
 */
export function overviewCells([layers, heads], { width, height, left, top, only = null, caption = 0 }) {
  const across =
    only === null ? heads + 1 : Math.max(1, Math.ceil(Math.sqrt(((heads + 2) * width) / Math.max(height, 1))));
  const down = only === null ? layers + 1 : Math.ceil((heads + 2) / across);
  const w = (width - left) / across,
    pitch = Math.min((height - top) / down, w * TALL + caption),
    h = pitch - caption;
  const places = [];
  const put = (place, choice) =>
    places.push({
      ...choice,
      x: left + (place % across) * w,
      y: top + Math.floor(place / across) * pitch + caption,
      w,
      h,
    });
  for (let layer = only ?? 0; layer < (only === null ? layers : only + 1); layer++) {
    const first = only === null ? layer * across : 0;
    for (let head = 0; head < heads; head++) put(first + head, { layer, head, what: "head" });
    put(first + heads, { layer, head: heads - 1, what: "layer" });
  }
  put(only === null ? layers * across + heads : heads + 1, { layer: only ?? layers - 1, head: heads - 1, what: "all" });
  return { places, across };
}
