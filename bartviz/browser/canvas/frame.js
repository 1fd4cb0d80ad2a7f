// One frame: what is measured when something has changed its size, and the order in which all is drawn.

/** @import { Canvas } from "./types.js" */
import { BESIDE, GROWTH, hatching, measured, PROJECTED, shortened, typeSize, widest } from "../shared/drawing.js";
import { fadeFrom, wayDone } from "../shared/motion.js";
import { fontSize, titleHeight, titleWidth } from "./labels.js";
import { drawLines, fittedLines } from "./lines.js";
import { drawMap } from "./map.js";
import { drawOverview, measureOverview } from "./overview.js";
import { say } from "./description.js";
import { bringForward, buildTable, drawTexts } from "./text.js";
import { uncovered } from "./veil.js";
import { bounded, fitted } from "./window.js";

const WIDE = 1100; // pixels of a canvas from which on its type grows with it
const SHORT = 24; // rows or columns whose words can be read without a closer look
const LARGE_MAP = 500; // pixels of a canvas from which on that is so
const KEPT_MAP = 0.85; // of the area of a map at least, if its type grows
const ROOMY = 1.5; // lines of type that a row has at least
const LABELS = 0.36; // of the width of a canvas at most for the words of rows: two maps side by side on a phone name their axes

/** @param {Canvas} it */
function arrange(it) {
  it.usual = typeSize(it.root) * Math.min(Math.max(it.root.clientWidth / WIDE, 1), 1.4);
  it.type = it.usual;
  it.root.classList.toggle("large", it.large);
  it.root.dataset.view = it.choice.view;
  it.root.classList.toggle("long", Math.max(...it.meta.shape.slice(2)) > SHORT);
  it.$("large").setAttribute("aria-pressed", String(it.large));
  for (const view of ["map", "lines", "text"]) it.$(view).setAttribute("aria-pressed", String(it.choice.view === view));
  it.root.classList.toggle("apart", Boolean(it.meta.limit));
  const ends = {
    fixed: it.meta.plain ? ["0%", "100%"] : ["0", "1"],
    row: ["0", it.say("row_largest")],
    log: ["≤ 0.0001", "1"],
  }[it.meta.span];
  [it.$("low").textContent, it.$("high").textContent] = it.meta.limit ? apart(it, it.meta.limit) : ends;
  it.$("masked").hidden = !it.open;
  it.root.classList.toggle("alone", Boolean(it.meta.alone));
  it.$("overview").hidden =
    it.$("small-keys").hidden =
    it.$("small-keys-said").hidden =
    it.$("next-keys").hidden =
      Boolean(it.meta.alone);
  it.$("step-keys").hidden = it.$("step-keys-said").hidden = !it.meta.steps;
  measureOverview(it);
  measurePlot(it);
}

/**
 * The ends of the colours of a difference: which of the two looks more, and at most by how much.
 * @param {Canvas} it @param {number} most
 */
function apart(it, most) {
  const limit = it.meta.plain ? Math.round(100 * most) : most.toFixed(2);
  return [it.say("a_more", { limit }), it.say("b_more", { limit })];
}

/** @param {Canvas} it */
export function measurePlot(it) {
  it.plot = measured(it.$("plot"));
  lay(it, it.usual);
  const large = it.plot.width >= LARGE_MAP && typeSize(it.root) > PROJECTED;
  if (large && it.meta.alone && it.choice.view === "map") grow(it);
  it.seen = bounded(it.fit, it.seen);
  it.hatch = hatching(it.plot.context, it.colors.hatch);
}

/**
 * The largest type with which the words around a map stay whole, and none is turned that was not, and the map about as
 * large.
 * @param {Canvas} it
 */
function grow(it) {
  const { fit, upright } = it,
    cut = (labels) => [...labels.query, ...labels.key].filter((label) => label.endsWith("…")).length,
    before = cut(it.labels);
  for (const growth of GROWTH) {
    lay(it, it.usual * growth);
    const { left, w, h, width, height } = it.fit,
      whole = it.upright === upright && titleWidth(it) + BESIDE <= left && cut(it.labels) <= before;
    if (whole && ROOMY * fontSize(it) <= Math.min(w, h) && width * height >= KEPT_MAP * fit.width * fit.height) return;
  }
  lay(it, it.usual);
}

/**
 * Where the map and its labels are, with type of this size.
 * @param {Canvas} it @param {number} type
 */
function lay(it, type) {
  it.type = type;
  const { context, width, height } = it.plot;
  const [, , rows, columns] = it.meta.shape,
    scale = fontSize(it) / 12;
  context.font = `bold ${fontSize(it)}px ${it.colors.mono}`;
  const roomFor = (labels) => widest(context, [...labels, ...it.meta.beside]) + 15;
  const lines = it.choice.view === "lines";
  const title = lines ? 0 : titleWidth(it) + BESIDE;
  const left = Math.min(Math.max(roomFor(it.meta.query), title), width * LABELS, 130 * scale);
  const longest = roomFor(it.meta.key),
    low = titleHeight(it);
  it.upright = !lines && longest - 10 <= fitted(width, height, rows, columns, left, low, scale).w;
  const top = it.upright ? low : lines ? 4 : Math.min(Math.max(longest, low), height * 0.3, 104 * scale);
  it.fit = lines ? fittedLines(it, left) : fitted(width, height, rows, columns, left, top, scale);
  const fitting = (labels, room) => labels.map((label) => shortened(context, label, room));
  it.labels = {
    query: fitting(it.meta.query, left - 11),
    key: fitting(it.meta.key, it.upright ? it.fit.w - 2 : (lines ? it.fit.right : top) - 11),
  };
}

/**
 * The next frame draws everything that has changed; several changes are one frame.
 * @param {Canvas} it
 */
export function draw(it) {
  it.frame ||= requestAnimationFrame(() => {
    it.frame = 0;
    render(it);
  });
}

/** @param {Canvas} it */
export function render(it) {
  if (!it.root.isConnected || !it.meta) return;
  const start = performance.now();
  if (it.unmeasured) {
    arrange(it);
    it.unmeasured = false;
    if (it.refocus) it.$(it.choice.view === "text" ? "query-text" : "plot").focus(); // the focused node is hidden now
    it.refocus = false;
  }
  drawOverview(it);
  if (it.choice.view === "map") drawMap(it);
  if (it.choice.view === "lines") drawLines(it);
  if (it.choice.view !== "text") fadeFrom(it.plot.context, it.left, it.plot.width, it.plot.height);
  it.root.classList.toggle("moving", wayDone(it.left) < 1);
  drawTexts(it);
  say(it);
  afterwards(it);
  it.root.dataset.drew = (performance.now() - start).toFixed(1);
  if (uncovered(it) === 1) it.grew = null;
  if (wayDone(it.left) === 1) it.left = null;
  if (it.grew !== null || it.left) draw(it);
}

/**
 * What waits until the frame is on the screen: it reads sizes, which would cause another layout, or takes long.
 * @param {Canvas} it
 */
function afterwards(it) {
  it.after ||= requestAnimationFrame(() => {
    it.after = setTimeout(() => {
      it.after = 0;
      if (it.gone || !it.root.isConnected) return;
      bringForward(it);
      buildTable(it);
    });
  });
}
