// The overview: every head small, the chosen one framed.

/** @import { Canvas } from "./types.js" */
import { measured, shortened } from "../shared/drawing.js";
import { paintMap } from "./pixels.js";
import { fontSize } from "./labels.js";
import { mapNumber } from "./numbers.js";
import { sourceOf } from "./state.js";
import { uncovered, veil } from "./veil.js";
import { everyWhich, overviewCells, written } from "./window.js";

/** @param {Canvas} it */
export function measureOverview(it) {
  if (it.meta.alone) return;
  it.small = measured(it.$("overview"));
  const { width, height } = it.small;
  const size = fontSize(it);
  const only = it.meta.layers === "layer" ? it.choice.layer : null;
  it.cells = overviewCells(it.meta.shape, {
    width,
    height,
    left: only === null ? size * 2.6 : 0,
    top: only === null ? size * 1.7 : 0,
    only,
    caption: only === null ? 0 : size * 1.4,
  });
}

const GAP = 3;

/** @param {Canvas} it */
function paintOverview(it) {
  const { width, height, ratio } = it.small;
  const sheet = (it.sheet ??= document.createElement("canvas"));
  [sheet.width, sheet.height] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  const context = sheet.getContext("2d"),
    image = context.createImageData(sheet.width, sheet.height);
  const pixels = new Uint32Array(image.data.buffer);
  const at = (size) => Math.round(size * ratio);
  for (const place of it.cells.places) {
    const map = sourceOf(it, place);
    if (!map) continue;
    const target = { left: at(place.x + 1), top: at(place.y + 1), width: at(place.w - GAP), height: at(place.h - GAP) };
    const whole = { x: 0, y: 0, w: map.columns, h: map.rows };
    if (target.width > 0 && target.height > 0)
      paintMap({ pixels, stride: sheet.width, ...target }, map, whole, it.colors.table);
  }
  context.putImageData(image, 0, 0);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  for (const place of it.cells.places) plainFrame(it, context, place);
}

/**
 * What every small map has around it; and where a mean is not there yet, its name.
 * @param {Canvas} it
 */
function plainFrame(it, context, place) {
  frame(context, place, it.colors.line, 1);
  if (place.what === "head" || it.maps.has(mapNumber(it.meta.shape, place))) return;
  context.font = `${Math.min(fontSize(it), place.w / 3)}px ${it.colors.font}`;
  context.fillStyle = it.colors.faint;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(it.say("mean"), place.x + place.w / 2, place.y + place.h / 2);
}

function frame(context, { x, y, w, h }, color, thick) {
  context.strokeStyle = color;
  context.lineWidth = thick;
  context.strokeRect(x + 0.5, y + 0.5, w - GAP + 1, h - GAP + 1);
}

/** @param {Canvas} it */
const means = (it) =>
  it.cells.places.filter((place) => place.what !== "head" && it.maps.has(mapNumber(it.meta.shape, place))).length;

/**
 * Again only when something of it is another: most of what the pointer does changes nothing here.
 * @param {Canvas} it
 */
export function drawOverview(it) {
  if (it.meta.alone) return;
  const { context, width, height, ratio } = it.small;
  if (!width || !height) return;
  const painted = [
    it.meta.revision,
    it.meta.span,
    it.paints,
    width,
    height,
    it.meta.layers === "layer" ? it.choice.layer : "",
    means(it),
  ].join();
  const marked = [it.choice, it.pointed].map((place) => place && mapNumber(it.meta.shape, place));
  const now = [painted, ...marked, it.meta.steps && it.at ? [it.at.step, it.primary, uncovered(it)] : ""].join();
  if (it.overviewed === now && it.overviewOn === it.small) return;
  [it.overviewed, it.overviewOn] = [now, it.small];
  if (it.painted !== painted) paintOverview(it);
  it.painted = painted;
  context.clearRect(0, 0, width, height);
  context.drawImage(it.sheet, 0, 0, it.sheet.width / ratio, it.sheet.height / ratio);
  const [, , rows] = it.meta.shape;
  if (it.meta.steps && it.at) for (const place of it.cells.places) stepOf(it, context, place, rows);
  labelOverview(it, context);
  const [chosen, pointed] = marked.map((number) =>
    it.cells.places.find((place) => mapNumber(it.meta.shape, place) === number),
  );
  if (pointed && pointed !== chosen) frame(context, pointed, it.colors.strong, 2);
  if (chosen) frame(context, chosen, it.colors.ink, 3);
}

/**
 * The row of the player's step in a small map, and what is still to come.
 * @param {Canvas} it
 */
function stepOf(it, context, { x, y, w, h }, rows) {
  const box = { left: x + 1, top: y + 1, wide: w - GAP, high: (h - GAP) / rows, rows };
  veil(it, context, box);
  context.strokeStyle = it.colors.ink;
  context.lineWidth = 1;
  context.strokeRect(box.left - 0.5, box.top + it.primary * box.high - 0.5, box.wide + 1, Math.max(box.high, 2) + 1);
}

/** @param {Canvas} it */
function labelOverview(it, context) {
  const size = fontSize(it) - 1,
    [layers, heads] = it.meta.shape;
  context.font = `${size}px ${it.colors.mono}`;
  context.textBaseline = "middle";
  if (it.meta.layers === "layer") return captions(it, context, size);
  const { places, across } = it.cells;
  const cellsWide = everyWhich(places[0].w, size * 2.3),
    cellsHigh = everyWhich(places[0].h, size);
  const write = (text, x, y, strong) => {
    context.fillStyle = strong ? it.colors.ink : it.colors.faint;
    context.fillText(text, x, y);
  };
  context.textAlign = "center";
  for (const head of written(0, heads, cellsWide, it.choice.what === "head" ? [it.choice.head] : []))
    write(
      `H${head}`,
      places[head].x + places[head].w / 2,
      size * 0.7,
      it.choice.what === "head" && head === it.choice.head,
    );
  write(
    context.measureText(it.say("mean")).width < places[heads].w ? it.say("mean") : "Ø",
    places[heads].x + places[heads].w / 2,
    size * 0.7,
    it.choice.what === "layer",
  );
  context.textAlign = "right";
  for (const layer of written(0, layers, cellsHigh, it.choice.what === "all" ? [] : [it.choice.layer]))
    write(
      `L${layer}`,
      size * 2.2,
      places[layer * across].y + places[layer * across].h / 2,
      it.choice.what !== "all" && layer === it.choice.layer,
    );
  const last = places[places.length - 1];
  write(it.say("mean_all"), last.x - 6, last.y + last.h / 2, it.choice.what === "all");
}

/** @param {Canvas} it */
function captions(it, context, size) {
  context.textAlign = "left";
  for (const place of it.cells.places) {
    const chosen = mapNumber(it.meta.shape, place) === mapNumber(it.meta.shape, it.choice);
    context.fillStyle = chosen ? it.colors.ink : it.colors.faint;
    const text = { head: `L${place.layer}H${place.head}`, layer: it.say("mean_layer", place), all: it.say("mean_all") }[
      place.what
    ];
    context.fillText(shortened(context, text, place.w - 4), place.x + 1, place.y - size * 0.6);
  }
}

/**
 * @param {Canvas} it
 * @param {number} x
 * @param {number} y
 */
export const cellAt = (it, x, y) =>
  it.cells.places.find((place) => x >= place.x && x < place.x + place.w && y >= place.y && y < place.y + place.h) ??
  null;
