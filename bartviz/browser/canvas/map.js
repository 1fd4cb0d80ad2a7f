// The large map: cells, hatching, frames, token axes.

/** @import { Canvas } from "./types.js" */
import { BESIDE, bands, fillMasked } from "../shared/drawing.js";
import { wayDone } from "../shared/motion.js";
import { maskedRuns, paintMap } from "./pixels.js";
import { fontSize, label, title } from "./labels.js";
import { mapNumber } from "./numbers.js";
import { current, sourceOf } from "./state.js";
import { lastRow, veil } from "./veil.js";
import { everyWhich, placeOf, written } from "./window.js";

/** @param {Canvas} it */
export function drawMap(it) {
  const { context, width, height } = it.plot;
  if (!width || !height) return;
  context.clearRect(0, 0, width, height);
  const { left, top, width: wide, height: high } = it.fit;
  paintPlot(it);
  context.drawImage(it.picture, left, top, wide, high);
  context.save();
  context.beginPath();
  context.rect(left, top, wide, high);
  context.clip();
  hatchMasked(it, context);
  gaps(it, context);
  veilMap(it, context);
  marks(it, context);
  context.restore();
  context.strokeStyle = it.colors.line;
  context.lineWidth = 1;
  context.strokeRect(left - 0.5, top - 0.5, wide + 1, high + 1);
  axes(it, context);
}

/**
 * The cells as pixels of the screen; again only when another part of another map is seen.
 * @param {Canvas} it
 */
function paintPlot(it) {
  const { fit, seen } = it,
    { ratio } = it.plot;
  const now = [
    it.meta.revision,
    mapNumber(it.meta.shape, it.choice),
    Boolean(current(it)),
    it.paints,
    seen.x,
    seen.y,
    seen.z,
    fit.width,
    fit.height,
  ].join();
  if (it.pictured === now) return;
  it.pictured = now;
  Object.assign(it.$("plot").dataset, { column: seen.x.toFixed(1), zoom: seen.z.toFixed(2) });
  const sheet = (it.picture ??= document.createElement("canvas"));
  [sheet.width, sheet.height] = [
    Math.max(1, Math.round(fit.width * ratio)),
    Math.max(1, Math.round(fit.height * ratio)),
  ];
  const context = sheet.getContext("2d");
  const map = sourceOf(it, it.choice);
  if (!map) return;
  const image = context.createImageData(sheet.width, sheet.height);
  const across = map.columns / fit.columns,
    down = map.rows / fit.rows; // cells of the small map to one of ours
  const part = { x: seen.x * across, y: seen.y * down, w: map.columns / seen.z, h: map.rows / seen.z };
  paintMap(
    {
      pixels: new Uint32Array(image.data.buffer),
      stride: sheet.width,
      left: 0,
      top: 0,
      width: sheet.width,
      height: sheet.height,
    },
    map,
    part,
    it.colors.table,
  );
  context.putImageData(image, 0, 0);
}

/**
 * @param {Canvas} it
 * @returns {{ rows: [from: number, to: number], columns: [from: number, to: number] }}
 */
export function seenRange(it) {
  const { fit, seen } = it;
  /** @returns {[number, number]} */
  const of = (from, count) => [Math.floor(from), Math.min(count, Math.ceil(from + count / seen.z))];
  return { rows: of(seen.y, fit.rows), columns: of(seen.x, fit.columns) };
}

/** @param {Canvas} it */
function hatchMasked(it, context) {
  if (!it.open) return;
  const { rows, columns } = seenRange(it),
    { fit, seen } = it;
  context.beginPath();
  for (const { row, from, to } of maskedRuns(it.open, fit.columns, rows, columns)) {
    const { x, y } = placeOf(fit, seen, row, from);
    context.rect(x, y, (to - from) * fit.w * seen.z, fit.h * seen.z + 0.3);
  }
  fillMasked(context, it.colors, it.hatch);
}

/** @param {Canvas} it */
function veilMap(it, context) {
  const { fit, seen } = it,
    { x, y } = placeOf(fit, seen, 0, 0);
  veil(it, context, { left: x, top: y, wide: fit.columns * fit.w * seen.z, high: fit.h * seen.z, rows: fit.rows });
}

/** @param {Canvas} it */
function gaps(it, context) {
  const { fit, seen } = it,
    [w, h] = [fit.w * seen.z, fit.h * seen.z];
  if (Math.min(w, h) < 9) return;
  const { rows, columns } = seenRange(it);
  context.strokeStyle = it.colors.ground;
  context.lineWidth = 1;
  context.beginPath();
  for (let row = rows[0]; row <= rows[1]; row++) {
    const y = Math.round(placeOf(fit, seen, row, 0).y) + 0.5;
    context.moveTo(fit.left, y);
    context.lineTo(fit.left + fit.width, y);
  }
  for (let column = columns[0]; column <= columns[1]; column++) {
    const x = Math.round(placeOf(fit, seen, 0, column).x) + 0.5;
    context.moveTo(x, fit.top);
    context.lineTo(x, fit.top + fit.height);
  }
  context.stroke();
}

/**
 * Where the frame of a row is: between that of before and its own while the picture moves.
 * @param {Canvas} it
 */
function onItsWay(it, row) {
  const from = it.left?.row;
  return from == null || row !== it.primary ? row : from + (row - from) * wayDone(it.left);
}

/** @param {Canvas} it */
function marks(it, context) {
  const { fit, seen } = it,
    [w, h] = [fit.w * seen.z, fit.h * seen.z];
  const band = (row, column) => {
    const { x, y } = placeOf(fit, seen, row ?? 0, column ?? 0);
    const [wide, high] = [Math.max(w, 3), Math.max(h, 3)];
    if (row === null) context.strokeRect(x, fit.top + 1, wide, fit.height - 2);
    else if (column === null) context.strokeRect(fit.left + 1, y, fit.width - 2, high);
    else context.strokeRect(x, y, wide, high);
  };
  context.strokeStyle = it.colors.ink;
  context.lineWidth = Math.min(w, h) < 5 ? 1 : 1.75; // a frame shall not hide what it frames
  for (const row of it.rows) band(onItsWay(it, row), null);
  context.setLineDash([4, 3]);
  for (const column of it.keys) band(null, column);
  context.setLineDash([]);
  const at = it.hover ?? it.cursor;
  if (!at) return;
  context.lineWidth = Math.min(w, h) < 5 ? 1 : 2.5;
  if (at.row !== null || at.column !== null) band(at.row, at.column);
}

/** @param {Canvas} it */
function axes(it, context) {
  const { fit, seen } = it,
    { rows, columns } = seenRange(it),
    size = fontSize(it);
  const at = it.hover ?? it.cursor ?? { row: null, column: null };
  const [w, h] = [fit.w * seen.z, fit.h * seen.z];
  context.textBaseline = "middle";
  context.textAlign = "right";
  const strongRows = [...new Set([...it.rows, at.row ?? -1])];
  for (const row of written(...rows, everyWhich(h, size + 1), strongRows)) {
    const y = placeOf(fit, seen, row, 0).y + h / 2;
    if (y < fit.top - 1 || y > fit.top + fit.height + 1) continue;
    label(
      it,
      context,
      it.labels.query[row],
      fit.left - BESIDE,
      y,
      strongRows.includes(row),
      it.special.query.has(row) || row > lastRow(it, fit.rows),
    );
  }
  context.textAlign = it.upright ? "center" : "left"; // where each fits over its column, none is turned
  const strongColumns = [...new Set([...it.keys, at.column ?? -1])];
  for (const column of written(...columns, everyWhich(w, size + 1), strongColumns)) {
    const x = placeOf(fit, seen, 0, column).x + w / 2;
    if (x < fit.left - 1 || x > fit.left + fit.width + 1) continue;
    context.save();
    context.translate(x, fit.top - BESIDE - (it.upright ? size / 2 : 0));
    if (!it.upright) context.rotate(-Math.PI / 2);
    label(it, context, it.labels.key[column], 0, 0, strongColumns.includes(column), it.special.key.has(column));
    context.restore();
  }
  title(it, context);
  const { top, left, width, height } = fit;
  bands(context, it.colors.bars.query, {
    range: rows,
    cell: h,
    down: true,
    bar: (from, to) => [
      Math.max(top, placeOf(fit, seen, from, 0).y),
      Math.min(top + height, placeOf(fit, seen, to, 0).y),
      left - 5,
    ],
  });
  bands(context, it.colors.bars.key, {
    range: columns,
    cell: w,
    down: false,
    bar: (from, to) => [
      Math.max(left, placeOf(fit, seen, 0, from).x),
      Math.min(left + width, placeOf(fit, seen, 0, to).x),
      top - 5,
    ],
  });
}
