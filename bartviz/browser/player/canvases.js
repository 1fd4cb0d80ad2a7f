// The two canvases: the alignment matrix that grows row by row, and the curve of certainty.

/** @import { Player } from "./types.js" */
import { BESIDE, bands, fillMasked, hatching, measured, shortened, widest } from "../shared/drawing.js";
import { layout, rowOf, signed, strongest } from "./numbers.js";

/**
 * Everything about the canvases that stays the same from step to step: sizes, places, labels as they fit, the hatching.
 * @param {Player} it
 */
export function measure(it) {
  it.curve = measured(it.$("curve"));
  it.matrix = measured(it.$("matrix"));
  const { context, width, height } = it.matrix;
  const labels = {
    reads: it.meta.steps.map(({ reads }) => reads),
    predicts: it.meta.steps.map(({ predicts }) => predicts),
  };
  context.font = `bold 12px ${it.colors.mono}`;
  const left = Math.min(widest(context, [...labels.reads, ...labels.predicts]) + BESIDE + 3, width * 0.3, 110);
  const top = Math.min(widest(context, it.meta.columns) + BESIDE + 5, height * 0.3, 84);
  it.place = layout(width, height, it.count, it.columns, left, top);
  const fitting = (texts, room) => texts.map((text) => shortened(context, text, room));
  it.labels = {
    reads: fitting(labels.reads, left - BESIDE - 1),
    predicts: fitting(labels.predicts, left - BESIDE - 1),
    columns: fitting(it.meta.columns, top - BESIDE - 3),
  };
  it.hatch = hatching(context, it.colors.hatch);
}

/**
 * The rows up to the current one, with all labels; of that one as much as `reveal` (0 to 1) says.
 * @param {Player} it
 */
export function drawMatrix(it, reveal = 1) {
  const { context, width, height } = it.matrix;
  if (!width || !height) return;
  const { left, top, w, h } = it.place;
  context.clearRect(0, 0, width, height);
  context.lineWidth = 1;
  context.strokeStyle = it.colors.line;
  context.strokeRect(left - 0.5, top - 0.5, w * it.columns + 1, h * it.count + 1);
  context.imageSmoothingEnabled = false;
  if (it.step > 0) context.drawImage(it.image, 0, 0, it.columns, it.step, left, top, w * it.columns, h * it.step);
  drawMasked(it, context);
  drawToCome(it, context);
  drawRowLabels(it, context);
  drawColumnLabels(it, context);
  drawColors(it, context);
  uncover(it, reveal);
}

/**
 * What one frame of growth costs: a part of one row.
 * @param {Player} it
 */
export function uncover(it, reveal) {
  const { context } = it.matrix;
  const { left, top, w, h } = it.place;
  context.save();
  context.beginPath();
  context.rect(left, top + h * it.step, w * it.columns * reveal, h);
  context.clip();
  context.drawImage(it.image, 0, it.step, it.columns, 1, left, top + h * it.step, w * it.columns, h);
  hatchRow(it, context, it.step);
  context.restore();
  context.strokeStyle = it.colors.ink;
  context.lineWidth = 1.5;
  context.strokeRect(left, top + h * it.step, w * it.columns, h);
}

/**
 * Cells that a mask hides: hatched grey, never white as zero.
 * @param {Player} it
 */
function drawMasked(it, context) {
  for (let row = 0; row < it.step; row++) hatchRow(it, context, row);
}

/** @param {Player} it */
function hatchRow(it, context, row) {
  const { left, top, w, h } = it.place;
  const from = it.meta.kind === "decoder" ? it.meta.steps[row].row + 1 : it.columns;
  context.beginPath();
  if (from < it.columns) context.rect(left + from * w, top + row * h, (it.columns - from) * w, h + 0.3);
  for (const column of it.meta.masked)
    if (column < from) context.rect(left + column * w, top + row * h, w + 0.3, h + 0.3);
  fillMasked(context, it.colors, it.hatch);
}

/** The rows of later steps are empty, and say so where they have room. @param {Player} it */
function drawToCome(it, context) {
  const { left, top, w, h } = it.place,
    rows = it.count - it.step - 1,
    said = it.say("to_come");
  context.font = `12px ${it.colors.font}`;
  if (rows * h < 20 || context.measureText(said).width > w * it.columns - 8) return;
  context.fillStyle = it.colors.faint;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(said, left + (w * it.columns) / 2, top + (it.count - rows / 2) * h);
}

/** @param {Player} it */
function drawRowLabels(it, context) {
  const { left, top, h, everyRow } = it.place;
  const labels = it.labels[it.reading];
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (let row = 0; row <= it.step; row++) {
    const current = row === it.step;
    if (!current && (row % everyRow || it.step - row < everyRow)) continue;
    context.font = `${current ? "bold " : ""}12px ${it.colors.mono}`;
    context.fillStyle = current ? it.colors.ink : it.colors.faint;
    context.fillText(labels[row], left - BESIDE, top + (row + 0.5) * h);
  }
}

/** @param {Player} it */
function drawColumnLabels(it, context) {
  const { left, top, w, everyColumn } = it.place;
  const step = it.meta.steps[it.step];
  const row = rowOf(it.rows, it.columns, it.step, it.meta.scale);
  const best = strongest(row, it.meta.special, it.meta.kind === "decoder" ? step.row + 1 : it.columns);
  context.textAlign = "left";
  context.textBaseline = "middle";
  for (let column = 0; column < it.columns; column++) {
    if (column !== best && (column % everyColumn || Math.abs(best - column) < everyColumn)) continue;
    context.save();
    context.translate(left + (column + 0.5) * w, top - BESIDE);
    context.rotate(-Math.PI / 2);
    context.font = `${column === best ? "bold " : ""}12px ${it.colors.mono}`;
    context.fillStyle = column === best ? it.colors.ink : it.colors.faint;
    context.fillText(it.labels.columns[column], 0, 0);
    context.restore();
  }
}

/** The colours of words between the labels and the cells. @param {Player} it */
function drawColors(it, context) {
  const { left, top, w, h } = it.place;
  const rows = it.meta.steps.slice(0, it.step + 1).map(({ row }) => it.words[it.reading][row]);
  bands(context, rows, {
    range: [0, rows.length],
    cell: h,
    down: true,
    bar: (from, to) => [top + from * h, top + to * h, left - 5],
  });
  bands(context, it.words.columns, {
    range: [0, it.columns],
    cell: w,
    down: false,
    bar: (from, to) => [left + from * w, left + to * w, top - 5],
  });
}

/**
 * Above: log p of each step (bars) and its running sum (line). Below: entropy in bits.
 * @param {Player} it
 */
export function drawCurve(it) {
  const { context, width, height } = it.curve;
  if (!width || !height) return;
  context.clearRect(0, 0, width, height);
  const { steps } = it.meta;
  const finite = (name) => steps.map((step) => step[name] ?? 0);
  const charts = [
    {
      title: it.say("curve_log"),
      bars: finite("log_probability"),
      line: finite("running_log_probability"),
      from: 18,
      to: height * 0.5 - 8,
    },
    { title: it.say("curve_bits"), bars: finite("entropy_bits"), line: null, from: height * 0.5 + 16, to: height - 20 },
  ];
  const left = 44,
    pitch = Math.min((width - left - 6) / it.count, 60);
  context.fillStyle = it.colors.masked;
  context.fillRect(left + pitch * it.step, 18, pitch, height - 38);
  for (const chart of charts) drawChart(it, context, chart, left, pitch);
  drawTicks(it, context, left, pitch, height);
}

/** @param {Player} it */
function drawChart(it, context, { title, bars, line, from, to }, left, pitch) {
  const values = line ? [...bars, ...line] : bars;
  const [low, high] = [Math.min(0, ...values), line ? 0 : Math.max(1, ...values)];
  const y = (value) => from + ((high - value) / (high - low || 1)) * (to - from);
  const end = left + pitch * it.count;
  context.font = `11px ${it.colors.font}`;
  context.textBaseline = "middle";
  context.strokeStyle = it.colors.line;
  for (const value of new Set([high, low])) {
    context.beginPath();
    context.moveTo(left, Math.round(y(value)) + 0.5);
    context.lineTo(end, Math.round(y(value)) + 0.5);
    context.stroke();
    context.fillStyle = it.colors.faint;
    context.textAlign = "right";
    context.fillText(signed(value, 1), left - 6, y(value));
  }
  context.textAlign = "left";
  context.fillText(title, left, from - 10);
  bars.forEach((value, i) => {
    /** @type {[x: number, y: number, wide: number, high: number]} */
    const bar = [
      left + pitch * (i + 0.18),
      Math.min(y(value), y(0)),
      pitch * 0.64,
      Math.max(1, Math.abs(y(value) - y(0))),
    ];
    context.globalAlpha = i === it.step ? 1 : i < it.step ? 0.8 : 0.16; // of what is still to come the edge is seen
    context.fillStyle = context.strokeStyle = it.colors.strong[it.meta.kind];
    context.fillRect(...bar);
    context.globalAlpha = 1;
    if (i > it.step) context.strokeRect(...bar);
  });
  if (line) drawLine(it, context, line, left, pitch, y);
}

/** @param {Player} it */
function drawLine(it, context, line, left, pitch, y) {
  context.strokeStyle = context.fillStyle = it.colors.ink;
  context.beginPath();
  line.slice(0, it.step + 1).forEach((value, i) => context.lineTo(left + pitch * (i + 0.5), y(value)));
  context.stroke();
  const value = line[it.step];
  context.beginPath();
  context.arc(left + pitch * (it.step + 0.5), y(value), 3, 0, 7);
  context.fill();
}

/** @param {Player} it */
function drawTicks(it, context, left, pitch, height) {
  context.font = `11px ${it.colors.mono}`;
  context.textAlign = "center";
  const every = Math.ceil(26 / pitch);
  it.meta.steps.forEach((step, i) => {
    if (i !== it.step && (i % every || Math.abs(i - it.step) < every)) return;
    context.fillStyle = i === it.step ? it.colors.ink : it.colors.faint;
    const text = every > 1 ? String(i + 1) : shortened(context, step.predicts, pitch - 2);
    context.fillText(text, left + pitch * (i + 0.5), height - 9);
  });
}
