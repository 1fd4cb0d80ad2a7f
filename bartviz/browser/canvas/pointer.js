// Pointer and wheel.

/** @import { Canvas, View } from "./types.js" */
import { choose, enlarge, select, tellTouch, zoomBy } from "./choice.js";
import { ASKS, askSteps, follow } from "./following.js";
import { draw } from "./frame.js";
import { onKey, onPageKey } from "./keys.js";
import { underLines } from "./lines.js";
import { nameOf } from "./numbers.js";
import { cellAt } from "./overview.js";
import { focusedNode } from "./state.js";
import { SIDES, buildTable } from "./text.js";
import { panned, pinched, under, zoomed } from "./window.js";
import { onLight } from "../shared/touched.js";

/**
 * @param {HTMLElement} node
 * @param {{ clientX: number, clientY: number }} event
 * @returns {[x: number, y: number]}
 */
function pointOf(node, event) {
  const box = node.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

const STILL = { mouse: 4, touch: 8 }; // pixels within which a pointer has not moved

/** @param {Canvas} it */
const underPlot = (it, x, y) => (it.choice.view === "lines" ? underLines(it, x, y) : under(it.fit, it.seen, x, y));

/**
 * A mouse chooses a label where it is pressed, and can go on to a range; a finger chooses where it is lifted, as one that
 * moves scrolls the page.
 * @param {Canvas} it
 */
function onPlotDown(it, event) {
  if (event.button !== 0 || it.pinch) return;
  const [x, y] = pointOf(it.$("plot"), event),
    at = underPlot(it, x, y);
  it.drag = { x, y, at, moved: false, seen: it.seen };
  const list = at.row !== null && at.column === null ? "rows" : at.column !== null && at.row === null ? "keys" : null;
  if (list) it.drag.list = list;
  if (event.pointerType === "touch") return;
  it.$("plot").setPointerCapture(event.pointerId);
  if (list) selectLabel(it, event, list, at);
}

/** @param {Canvas} it */
function selectLabel(it, event, list, at) {
  select(it, list, at.row ?? at.column, {
    add: event.ctrlKey || event.metaKey || (list === "keys" && it.keys.length === 1 && it.keys[0] === at.column),
    extend: event.shiftKey,
  });
}

/** @param {Canvas} it */
function onPlotMove(it, event) {
  if (it.pinch) return;
  const [x, y] = pointOf(it.$("plot"), event),
    at = underPlot(it, x, y),
    { drag } = it,
    touch = event.pointerType === "touch";
  it.cursor = null;
  it.hover = at.row === null && at.column === null ? null : { ...at, x, y };
  if (drag) {
    drag.moved ||= Math.hypot(x - drag.x, y - drag.y) > (touch ? STILL.touch : STILL.mouse);
    const index = drag.list === "rows" ? at.row : at.column;
    if (drag.list && drag.moved && index !== null && !touch) select(it, drag.list, index, { extend: true });
    if (!drag.list && drag.moved && it.seen.z > 1)
      it.seen = panned(it.fit, drag.seen, x - drag.x, it.choice.view === "lines" ? 0 : y - drag.y);
  }
  draw(it);
}

/** @param {Canvas} it */
function onPlotUp(it, event) {
  const { drag } = it;
  it.drag = null;
  if (!drag) return;
  if (!drag.moved) tellTouch(it, drag.at);
  if (drag.list && !drag.moved && event.pointerType === "touch") selectLabel(it, event, drag.list, drag.at);
  if (drag.list || drag.moved || drag.at.row === null) return;
  select(it, "rows", drag.at.row, { add: event.ctrlKey || event.metaKey, extend: event.shiftKey });
}

/**
 * Two fingers: their middle in pixels of the map's box, and how far apart they are.
 * @param {Canvas} it
 */
function fingers(it, { touches: [a, b] }) {
  const [ax, ay] = pointOf(it.$("plot"), a),
    [bx, by] = pointOf(it.$("plot"), b);
  const [x, y] = [(ax + bx) / 2 - it.fit.left, (ay + by) / 2 - it.fit.top];
  return { x: it.choice.view === "lines" ? y : x, y, apart: Math.hypot(ax - bx, ay - by) };
}

/**
 * Two fingers zoom and move the map; one scrolls the page.
 * @param {Canvas} it
 */
function onTouch(it, event) {
  if (event.touches.length !== 2) return void (it.pinch = event.touches.length ? it.pinch : null);
  event.preventDefault();
  const now = fingers(it, event);
  Object.assign(it, { drag: null, hover: null, cursor: null });
  if (event.type === "touchstart") it.pinch = { from: now, seen: it.seen };
  else if (it.pinch) it.seen = pinched(it.fit, it.pinch.seen, it.pinch.from, now);
  draw(it);
}

/**
 * The wheel zooms where cells are too small to read, or when Ctrl is held; elsewhere the page scrolls.
 * @param {Canvas} it
 */
function onWheel(it, event) {
  const focused = focusedNode(it) === it.$("plot");
  const small = Math.min(it.fit.w, it.fit.h) < 9;
  const inward = event.deltaY < 0;
  if (!(event.ctrlKey || focused || small || it.seen.z > 1) || (!inward && it.seen.z <= 1)) return;
  event.preventDefault();
  const [x, y] = pointOf(it.$("plot"), event),
    lines = it.choice.view === "lines";
  it.seen = zoomed(
    it.fit,
    it.seen,
    Math.exp(-event.deltaY / 400),
    lines ? y - it.fit.top : x - it.fit.left,
    y - it.fit.top,
  );
  draw(it);
}

/** @param {Canvas} it */
function onChip(it, event, name) {
  const chip = event.composedPath()[0],
    place = chip.dataset?.place;
  if (place === undefined) return;
  const side = it.$(name).dataset.holds.endsWith("query") ? "row" : "column",
    list = side === "row" ? "rows" : "keys";
  if (event.type === "pointerover") it.hover = { row: null, column: null, [side]: Number(place) };
  else {
    tellTouch(it, { [side]: Number(place) });
    select(it, list, Number(place), {
      add: event.ctrlKey || event.metaKey || (list === "keys" && it.keys.includes(Number(place))),
      extend: event.shiftKey,
    });
  }
  it.cursor = null;
  draw(it);
}

/** @param {Canvas} it */
const unhover = (it) => {
  Object.assign(it, { hover: null, pointed: null });
  draw(it);
};

/**
 * The row or column of a word that a lesson names; the chosen row, where the word is on both sides.
 * @param {Canvas} it
 * @param {string | null} label
 */
function light(it, label) {
  const [row, column] = [it.meta.query, it.meta.key].map((labels) => labels.indexOf(label));
  const byRow = row >= 0 && (column < 0 || it.meta.query[it.primary] === label);
  it.hover = byRow ? { row, column: null } : column >= 0 ? { row: null, column } : null;
  draw(it);
}

/** @param {Canvas} it */
function listenToTexts(it) {
  for (const name of Object.keys(SIDES)) {
    const list = it.$(name);
    // The strip describes what is chosen: a hover there would change the text under the pointer.
    if (name !== "strip") list.onpointerover = (event) => event.pointerType !== "touch" && onChip(it, event, name);
    list.onpointerleave = () => unhover(it);
    list.onblur = () => ((it.cursor = null), draw(it));
    list.onclick = (event) => onChip(it, event, name);
  }
}

/** @param {Canvas} it */
export function listen(it) {
  const { $ } = it,
    plot = $("plot"),
    overview = $("overview");
  overview.onpointermove = (event) => {
    it.pointed = cellAt(it, ...pointOf(overview, event));
    overview.title = it.pointed ? nameOf(it.meta, it.pointed) : "";
    draw(it);
  };
  overview.onpointerleave = () => unhover(it);
  overview.onclick = (event) => {
    const place = cellAt(it, ...pointOf(overview, event));
    if (!place) return;
    tellTouch(it, place);
    choose(it, { layer: place.layer, head: place.what === "head" ? place.head : it.choice.head, what: place.what });
  };
  plot.onpointerdown = (event) => onPlotDown(it, event);
  plot.onpointermove = (event) => onPlotMove(it, event);
  plot.onpointerup = (event) => onPlotUp(it, event);
  plot.onpointercancel = () => (it.drag = null);
  plot.onpointerleave = () => unhover(it);
  for (const type of ["touchstart", "touchmove", "touchend", "touchcancel"])
    plot.addEventListener(type, (event) => onTouch(it, event), { passive: false });
  plot.onblur = () => ((it.cursor = null), draw(it));
  plot.addEventListener("wheel", (event) => onWheel(it, event), { passive: false });
  listenToTexts(it);
  for (const view of /** @type {View[]} */ (["map", "lines", "text"]))
    $(view).onclick = () => choose(it, { ...it.choice, view });
  $("out").onclick = () => zoomBy(it, 1 / 1.5);
  $("in").onclick = () => zoomBy(it, 1.5);
  $("whole").onclick = () => zoomBy(it, 0);
  $("large").onclick = () => enlarge(it);
  for (const [name, asked] of Object.entries({ "step-back": ASKS[","], "step-play": ASKS.p, "step-next": ASKS["."] }))
    $(name).onclick = () => askSteps(it, asked);
  const [unfollow, unlight] = [follow(it), onLight((label) => light(it, label))];
  it.unfollow = () => (unfollow(), unlight());
  $("details").ontoggle = () => buildTable(it);
  it.root.onkeydown = (event) => onKey(it, event);
  it.anywhere = (event) => onPageKey(it, event);
  document.addEventListener("keydown", it.anywhere);
  it.resized = new ResizeObserver(() => {
    it.unmeasured = true;
    draw(it);
  });
  for (const name of ["stage", "plot"]) it.resized.observe($(name));
  document.fonts?.ready.then(() => {
    it.unmeasured = true;
    draw(it);
  });
}
