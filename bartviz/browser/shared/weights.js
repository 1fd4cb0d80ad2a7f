// The weights of one head as a picture: a row for each word that is written, a column for each that is read.

import { css, inkOn } from "./colors.js";
import { GROWTH, measured, PROJECTED, shortened, widest } from "./drawing.js";

const TALL = -Math.PI / 4; // the angle of words above the columns
const MOST = 0.5; // of a row's weight: from there a cell says its own, the colour says that of others
const OBLONG = 2.5; // times its height: the most that a cell is wide

/**
 * Width and height of a cell: never higher than wide.
 * @param {number} wide what there is of both
 * @param {number} high
 */
export function cellOf(wide, high) {
  const height = Math.min(high, wide);
  return [Math.min(wide, OBLONG * height), height];
}

/** The margin left of the rows: their words, and what rows and columns are. */
function marginOf(context, { kept, axes }, size, width, theme) {
  context.font = `${size}px ${theme.font}`;
  const named = widest(context, [axes.rows, axes.columns]);
  context.font = `${size}px ${theme.mono}`;
  return Math.min(Math.max(widest(context, kept), named) + 6, width / 3);
}

/** Where all is with letters of this size and no word turned; undefined if a word is wider than its column. */
function upright(context, words, size, { width, height }, theme) {
  const left = marginOf(context, words, size, width, theme),
    top = 2.5 * size + 4,
    [wide, high] = cellOf((width - left - 1) / words.columns.length, (height - top) / words.most);
  const fits = widest(context, words.columns) + 4 <= wide && 1.2 * size <= high;
  return fits ? { size, left, top, wide, high, tall: false } : undefined;
}

/** The same with the words above the columns turned. */
function slanted(context, words, size, { width, height }, theme) {
  const left = marginOf(context, words, size, width, theme),
    room = size < 40 ? Math.min(0.75 * widest(context, words.columns) + size, width / 3) : size + 8,
    top = Math.max(room, 2.5 * size + 4),
    [wide, high] = cellOf((width - left - 1.5 * size) / words.columns.length, (height - top) / words.most);
  return { size, left, top, wide, high, tall: true };
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{ rows: string[], columns: string[], share: (row: number, column: number) => number, kept?: string[],
 *   height?: number, axes: { rows: string, columns: string } }} what  labels, the weight of a cell, labels that the left
 *   margin is always kept for, for how many rows there is room, and what rows and columns are
 * @param {any} theme
 * @param {any} colors
 * @param {number} scale of the type
 */
export function drawWeights(
  canvas,
  { rows, columns, share, kept = rows, height: most = rows.length, axes },
  theme,
  colors,
  scale,
) {
  const { context, width, height } = measured(canvas),
    usual = 12 * scale;
  context.clearRect(0, 0, width, height);
  const words = { columns, kept, axes, most },
    sizes = (scale > PROJECTED ? [...GROWTH, 1] : [1]).map((growth) => growth * usual),
    placed = sizes.map((size) => upright(context, words, size, { width, height }, theme)).find(Boolean),
    { size, left, top, wide, high, tall } = placed ?? slanted(context, words, usual, { width, height }, theme);
  context.textBaseline = "middle";
  context.fillStyle = theme.text;
  context.textAlign = "right";
  context.font = `${size}px ${theme.font}`;
  context.fillText(axes.columns, left - 5, top - 1.95 * size, left - 5);
  context.fillText(axes.rows, left - 5, top - 0.75 * size, left - 5);
  context.font = `${size}px ${theme.mono}`;
  context.fillStyle = theme.ink;
  columns.forEach((label, column) => {
    context.save();
    context.translate(left + (column + 0.5) * wide, top - 6);
    const turned = tall && label.length > 1; // a letter always fits
    if (turned) context.rotate(TALL);
    context.textAlign = turned ? "left" : "center";
    context.fillText(shortened(context, label, width / 3), 0, turned ? 0 : -size / 2 + 2);
    context.restore();
  });
  context.textAlign = "right";
  rows.forEach((label, row) => {
    context.fillStyle = theme.ink;
    context.fillText(shortened(context, label, left - 4), left - 5, top + (row + 0.5) * high);
    for (let column = 0; column < columns.length; column++) {
      const value = share(row, column),
        color = colors[Math.round(255 * Math.min(1, value))];
      context.fillStyle = css(color);
      context.fillRect(left + column * wide, top + row * high, wide - 1, high - 1);
      if (wide < 2.7 * usual || high < 1.2 * usual || value < MOST) continue;
      context.fillStyle = inkOn(color);
      context.textAlign = "center";
      context.font = `${usual}px ${theme.mono}`;
      context.fillText(value.toFixed(2), left + (column + 0.5) * wide - 0.5, top + (row + 0.5) * high);
      context.textAlign = "right";
      context.font = `${size}px ${theme.mono}`;
    }
  });
  context.strokeStyle = theme.faint;
  context.strokeRect(left - 0.5, top - 0.5, columns.length * wide, most * high);
}
