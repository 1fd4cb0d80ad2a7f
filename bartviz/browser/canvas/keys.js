// Keyboard: arrows in the overview move through heads, in the map and the texts through cells and tokens.

/** @import { Canvas } from "./types.js" */
import { isNowhere } from "../shared/steps.js";
import { clamp } from "../shared/helpers.js";
import { choose, clear, enlarge, select, tellTouch, zoomBy } from "./choice.js";
import { ASKS, askSteps } from "./following.js";
import { render } from "./frame.js";
import { mapNumber, neighbour, nextHead } from "./numbers.js";
import { LIVE } from "./state.js";
import { revealing } from "./window.js";

/** @type {Record<string, [dx: number, dy: number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const VIEWS = { 1: "map", 2: "lines", 3: "text" };

/** @param {Canvas} it */
export function onOverviewKey(it, event) {
  const arrow = ARROWS[event.key],
    { shape } = it.meta;
  const ends = {
    Home: { ...it.choice, head: 0, what: "head" },
    End: { ...it.choice, head: shape[1] - 1, what: "head" },
  };
  const page = { PageUp: -1, PageDown: 1 }[event.key];
  if (event.key === "Enter") {
    tellTouch(it, {});
    it.$(it.choice.view === "text" ? "query-text" : "plot").focus();
    return true;
  }
  if (arrow) choose(it, it.meta.layers === "layer" ? within(it, ...arrow) : neighbour(shape, it.choice, ...arrow));
  else if (ends[event.key]) choose(it, ends[event.key]);
  else if (page)
    choose(it, {
      ...it.choice,
      layer: clamp(it.choice.layer + page, 0, shape[0] - 1),
      what: it.choice.what === "all" ? "layer" : it.choice.what,
    });
  else return false;
  announce(it);
  return true;
}

/**
 * In one layer's heads, which are in several lines: up and down by a line.
 * @param {Canvas} it
 */
function within(it, dx, dy) {
  const places = it.cells.places,
    now = places.findIndex((place) => mapNumber(it.meta.shape, place) === mapNumber(it.meta.shape, it.choice));
  const { layer, head, what } = places[clamp(now + dx + dy * it.cells.across, 0, places.length - 1)];
  return { layer, head, what };
}

/** @param {Canvas} it */
export function onPlotKey(it, event) {
  const arrow = ARROWS[event.key],
    [, , rows, columns] = it.meta.shape;
  const lines = it.choice.view === "lines";
  const at = it.cursor ?? { row: it.rows[0], column: lines ? null : (it.keys[0] ?? 0) };
  if (arrow)
    it.cursor = lines
      ? alongLines(at, arrow, rows, columns)
      : {
          row: clamp((at.row ?? 0) + arrow[1], 0, rows - 1),
          column: clamp((at.column ?? 0) + arrow[0], 0, columns - 1),
        };
  else if (event.key === "Home") it.cursor = { ...at, column: 0 };
  else if (event.key === "End") it.cursor = { ...at, column: columns - 1 };
  else if (event.key === "PageUp" || event.key === "PageDown")
    it.cursor = { ...at, row: clamp((at.row ?? 0) + (event.key === "PageUp" ? -10 : 10), 0, rows - 1) };
  else if (event.key === "Enter" || event.key === " ") {
    const chooses = at.column === null || (event.key === "Enter" && at.row !== null) ? "rows" : "keys";
    tellTouch(it, at);
    select(it, chooses, chooses === "rows" ? at.row : at.column, { add: event.shiftKey });
  } else return false;
  if (!arrow && !it.cursor) it.cursor = at;
  it.hover = null;
  if (event.shiftKey && arrow)
    select(it, arrow[0] ? "keys" : "rows", arrow[0] ? it.cursor.column : it.cursor.row, { extend: true });
  reveal(it);
  announce(it);
  return true;
}

/** In the lines: left and right change the side, up and down go along it. */
function alongLines(at, [dx, dy], rows, columns) {
  const left = dx ? dx < 0 : at.row !== null,
    index = (at.row ?? at.column ?? 0) + dy;
  return left ? { row: clamp(index, 0, rows - 1), column: null } : { row: null, column: clamp(index, 0, columns - 1) };
}

/** @param {Canvas} it */
function reveal(it) {
  const { row, column } = it.cursor;
  it.seen = revealing(it.fit, it.seen, row ?? Math.floor(it.seen.y), column ?? Math.floor(it.seen.x));
}

/**
 * In a text: arrows move from token to token; Enter chooses. `side` is what its tokens are.
 * @param {Canvas} it
 */
export function onTextKey(it, event, name) {
  const side = it.$(name).dataset.holds.endsWith("query") ? "row" : "column";
  const count = it.meta[side === "row" ? "query" : "key"].length,
    list = side === "row" ? it.rows : it.keys;
  const at = it.cursor?.[side] ?? list[0] ?? 0;
  const on = getComputedStyle(it.$(name)).direction === "rtl" ? -1 : 1; // where the text continues
  const move = { ArrowLeft: -on, ArrowUp: -1, ArrowRight: on, ArrowDown: 1, Home: -count, End: count }[event.key];
  if (move) {
    it.cursor = { row: null, column: null, [side]: clamp(at + move, 0, count - 1) };
    if (event.shiftKey) select(it, side === "row" ? "rows" : "keys", it.cursor[side], { extend: true });
  } else if (event.key === "Enter" || event.key === " ") {
    tellTouch(it, { [side]: at });
    select(it, side === "row" ? "rows" : "keys", at, { add: event.shiftKey });
  } else return false;
  it.hover = null;
  const now = it.cursor?.[side] ?? at;
  it.$(name).setAttribute("aria-activedescendant", `${name}-${now}`);
  it.chips[name]?.get(now)?.scrollIntoView({ block: "nearest" });
  announce(it);
  return true;
}

/**
 * Keys that mean the same everywhere in the canvas.
 * @param {Canvas} it
 */
export function onAnyKey(it, event) {
  const steps = { "[": -1, "]": 1 }[event.key];
  if (event.key === "Escape") clear(it);
  else if (event.key === "+" || event.key === "=") zoomBy(it, 1.5);
  else if (event.key === "-") zoomBy(it, 1 / 1.5);
  else if (event.key === "0") zoomBy(it, 0);
  else if (event.key === "l" || event.key === "L") enlarge(it);
  else if (event.key === "?") return showKeys(it);
  else if (VIEWS[event.key] && !it.meta.limit) choose(it, { ...it.choice, view: VIEWS[event.key] });
  else if (it.meta.steps && event.key in ASKS) askSteps(it, ASKS[event.key]);
  else if (steps && !it.meta.alone) choose(it, { ...it.choice, ...nextHead(it.meta.shape, it.choice, steps) });
  else return false;
  announce(it);
  return true;
}

/**
 * Opens the list of keys and moves to it, or closes it again.
 * @param {Canvas} it
 */
function showKeys(it) {
  const list = it.$("keys");
  list.open = !list.open;
  (list.open ? list.querySelector("summary") : it.$(it.choice.view === "text" ? "query-text" : "plot")).focus();
  return true;
}

/** @param {Canvas} it */
export function onKey(it, event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const name = event.composedPath()[0].dataset?.is;
  const own = {
    overview: onOverviewKey,
    plot: onPlotKey,
    strip: onTextKey,
    "query-text": onTextKey,
    "key-text": onTextKey,
  }[name];
  if (!(own?.(it, event, name) || onAnyKey(it, event))) return;
  event.preventDefault();
  event.stopPropagation();
}

/**
 * From anywhere on the page, where nothing else has the focus, and one canvas alone: the next head, and larger type.
 * @param {Canvas} it
 */
export function onPageKey(it, event) {
  if (
    LIVE.size > 1 ||
    it.meta.alone ||
    !it.meta.page_keys ||
    !isNowhere(event.target) ||
    event.altKey ||
    event.ctrlKey ||
    event.metaKey
  )
    return;
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step) choose(it, { ...it.choice, ...nextHead(it.meta.shape, it.choice, step) });
  else if (event.key.toLowerCase() === "l") enlarge(it);
  else return;
  event.preventDefault();
}

/**
 * What a key has done is read aloud; what the pointer does is not.
 * @param {Canvas} it
 */
export function announce(it) {
  it.frame && cancelAnimationFrame(it.frame);
  it.frame = 0;
  render(it);
  it.$("live").textContent = it.said;
}
