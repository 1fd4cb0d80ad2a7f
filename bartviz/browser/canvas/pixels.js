// Colours, and maps as pixels: pure functions, tested with `node --test`.

/** @import { Shaded } from "./types.js" */
import { shareOf } from "./numbers.js";

export const MASKED_SHADE = 256; // the place behind the 256 colours

/** As numbers for an image, red first in memory. */
export const packedColors = (colors) =>
  Uint32Array.from(colors, ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0);

/** code -> place on the colour scale, for the spans where that is the same in every row. */
export function shadesOf(span, unit = 65535) {
  return Uint16Array.from({ length: unit + 1 }, (_, code) => Math.round(255 * shareOf(code / unit, span)));
}

/** byte of a small map -> place on the colour scale. */
export const smallShades = ({ one, masked }) =>
  Uint16Array.from({ length: 256 }, (_, v) =>
    v === masked ? MASKED_SHADE : Math.min(255, Math.round((v / one) * 255)),
  );

const edges = (count, from, step, last) =>
  Int32Array.from({ length: count + 1 }, (_, i) => Math.min(last, Math.floor(from + i * step + 1e-6)));

/**
 * Paints a part of a map into pixels: each shows the largest weight of what it covers, so that no strong link is lost;
 * of differences the one that is farthest from none.
 * target {pixels, stride, left, top, width, height}; map {values, rows, columns, open?, table?, scales?, skip?}; part {x, y, w, h} in cells.
 * @param {{ pixels: Uint32Array, stride: number, left: number, top: number, width: number, height: number }} target
 * @param {Shaded} map
 * @param {{ x: number, y: number, w: number, h: number }} part in cells
 * @param {Uint32Array} colors
 */
export function paintMap(target, map, part, colors) {
  const { pixels, stride, left, top, width, height } = target,
    { columns, table, scales, middle } = map;
  const xs = edges(width, part.x, part.w / width, columns),
    ys = edges(height, part.y, part.h / height, map.rows);
  const most = scales ? new Float64Array(columns) : new Int32Array(columns);
  let before = [-1, -1];
  for (let py = 0; py < height; py++) {
    const to = (top + py) * stride + left;
    const first = Math.min(ys[py], map.rows - 1),
      last = Math.max(ys[py + 1], first + 1);
    if (first === before[0] && last === before[1]) {
      pixels.copyWithin(to, to - stride, to - stride + width);
      continue;
    }
    before = [first, last];
    strongest(
      map,
      first,
      last,
      Math.min(xs[0], columns - 1),
      Math.max(xs[width], Math.min(xs[width - 1], columns - 1) + 1),
      most,
    );
    for (let px = 0, from = -1, until = -1; px < width; px++) {
      const begin = Math.min(xs[px], columns - 1),
        end = Math.max(xs[px + 1], begin + 1);
      if (begin === from && end === until) {
        pixels[to + px] = pixels[to + px - 1]; // the same cells continue
        continue;
      }
      [from, until] = [begin, end];
      let best = most[begin];
      for (let column = begin + 1; column < end; column++)
        if (middle ? farther(most[column], best, middle) : most[column] > best) best = most[column];
      pixels[to + px] = colors[best < 0 ? MASKED_SHADE : scales ? Math.min(255, Math.round(best)) : table[best]];
    }
  }
}

/** Whether a difference is farther from none than another one; -1 is masked. */
const farther = (one, other, middle) => one >= 0 && (other < 0 || Math.abs(one - middle) > Math.abs(other - middle));

/**
 * The largest of some rows, column by column: codes, or places on the row's own scale; -1 where all is masked.
 * @param {Shaded} map
 */
function strongest({ values, columns, open, scales, middle, skip = -1 }, first, last, from, to, most) {
  most.fill(-1, from, to);
  for (let row = first; row < last; row++) {
    const scale = scales ? scales[row] : 1;
    for (let column = from, i = row * columns + from; column < to; column++, i++) {
      const value = scales ? values[i] * scale : values[i];
      const more = middle ? farther(value, most[column], middle) : value > most[column];
      if (more && !(open && !open[i]) && value !== skip) most[column] = value;
    }
  }
}

/** Masked cells of a part as rectangles {row, from, to}: one for each run. */
export function maskedRuns(open, columns, [rowFrom, rowTo], [from, to]) {
  const runs = [];
  if (!open) return runs;
  for (let row = rowFrom; row < rowTo; row++) {
    let start = -1;
    for (let column = from; column <= to; column++) {
      const masked = column < to && !open[row * columns + column];
      if (masked && start < 0) start = column;
      if (!masked && start >= 0) {
        runs.push({ row, from: start, to: column });
        start = -1;
      }
    }
  }
  return runs;
}
