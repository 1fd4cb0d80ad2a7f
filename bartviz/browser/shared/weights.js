// The weights of one head as a picture: a row for each word that is written, a column for each that is read.

import { css, inkOn } from "./colors.js";
import { measured, shortened, widest } from "./drawing.js";

const TALL = -Math.PI / 4; // the angle of words above the columns
const MOST = 0.5; // of a row's weight: from there a cell says its own, the colour says that of others

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{ rows: string[], columns: string[], share: (row: number, column: number) => number, kept?: string[],
 *   height?: number }} what  labels, the weight of a cell, labels that the left margin is always kept for, and for how
 *   many rows there is room
 * @param {any} theme
 * @param {any} colors
 * @param {number} scale of the type
 */
export function drawWeights(
  canvas,
  { rows, columns, share, kept = rows, height: most = rows.length },
  theme,
  colors,
  scale,
) {
  const { context, width, height } = measured(canvas),
    size = 12 * scale;
  context.clearRect(0, 0, width, height);
  context.font = `${size}px ${theme.mono}`;
  const left = Math.min(widest(context, kept) + 6, width / 3),
    tall = Math.max(...columns.map((label) => label.length)) > 1,
    top = tall && size < 40 ? Math.min(0.75 * widest(context, columns) + size, width / 3) : size + 8,
    cell = Math.min((width - left - 1.5 * size) / columns.length, (height - top) / most);
  context.textBaseline = "middle";
  context.fillStyle = theme.ink;
  columns.forEach((label, column) => {
    context.save();
    context.translate(left + (column + 0.5) * cell, top - 6);
    if (tall) context.rotate(TALL);
    context.textAlign = tall ? "left" : "center";
    context.fillText(shortened(context, label, width / 3), 0, tall ? 0 : -size / 2 + 2);
    context.restore();
  });
  context.textAlign = "right";
  rows.forEach((label, row) => {
    context.fillStyle = theme.ink;
    context.fillText(shortened(context, label, left - 4), left - 5, top + (row + 0.5) * cell);
    for (let column = 0; column < columns.length; column++) {
      const value = share(row, column),
        color = colors[Math.round(255 * Math.min(1, value))];
      context.fillStyle = css(color);
      context.fillRect(left + column * cell, top + row * cell, cell - 1, cell - 1);
      if (cell < 2.7 * size || value < MOST) continue;
      context.fillStyle = inkOn(color);
      context.textAlign = "center";
      context.fillText(value.toFixed(2), left + (column + 0.5) * cell - 0.5, top + (row + 0.5) * cell);
      context.textAlign = "right";
    }
  });
  context.strokeStyle = theme.faint;
  context.strokeRect(left - 0.5, top - 0.5, columns.length * cell, most * cell);
}
