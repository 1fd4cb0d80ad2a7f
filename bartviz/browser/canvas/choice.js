// What the visitor chooses: head, view, rows, keys, part of the map; and when Python is notified.

/** @import { Canvas, Choice, Selection } from "./types.js" */
import { askSteps } from "./following.js";
import { draw } from "./frame.js";
import { sayTouched } from "../shared/touched.js";
import { picked } from "./numbers.js";
import { current, focusedNode } from "./state.js";
import { placeOf, zoomed } from "./window.js";

const REST = 220; // ms without a change before Python is notified of a choice
const SOON = 60; // the same, where an exact map is missed

/**
 * Another head, mean or view.
 * @param {Canvas} it
 * @param {Partial<Choice>} to
 */
export function choose(it, to) {
  const before = it.choice;
  if (it.meta.alone) to = { ...before, view: to.view }; // the page says which head is shown alone
  it.choice = { layer: to.layer, head: to.head, what: to.what, view: to.view ?? before.view };
  if (before.view !== it.choice.view || (it.meta.layers === "layer" && before.layer !== it.choice.layer))
    it.unmeasured = true;
  const focused = focusedNode(it)?.dataset.is;
  if (before.view !== it.choice.view && ["plot", "strip", "query-text", "key-text"].includes(focused))
    it.refocus = true;
  if (before.view !== it.choice.view) Object.assign(it, { hover: null, cursor: null, seen: { x: 0, y: 0, z: 1 } });
  draw(it);
  chosen(it);
}

/**
 * Rows or keys chosen: one, one more, or all from the anchor on.
 * @param {Canvas} it
 * @param {Selection} list
 * @param {number} index
 */
export function select(it, list, index, { add = false, extend = false } = {}) {
  const step = list === "rows" && !add && !extend ? (it.meta.steps?.rows.indexOf(index) ?? -1) : -1;
  if (step >= 0 && step !== it.at?.step) return askSteps(it, { to: step }); // the player's row is everybody's
  const from = extend ? it.anchor[list] : null;
  it[list] = picked(it[list], index, { add, from, fewest: list === "rows" ? 1 : 0 });
  if (!extend) it.anchor[list] = index;
  if (list === "rows") it.primary = it.rows.includes(index) ? index : it.rows[0];
  it.by = list === "keys" && !it.keys.length ? "rows" : list;
  draw(it);
  chosen(it);
}

/**
 * A cell, row, column or head was touched, not only pointed at: a lesson may have asked for it.
 * @param {Canvas} it
 * @param {{ row?: number, column?: number, layer?: number, head?: number, what?: string }} what
 */
export const tellTouch = (it, what) => sayTouched(it.root, { kind: it.meta.kind, ...it.choice, ...what });

/** @param {Canvas} it */
export function clear(it) {
  Object.assign(it, { hover: null, cursor: null, keys: [], rows: [it.primary], by: "rows" });
  chosen(it);
}

/** @param {Canvas} it */
export function enlarge(it) {
  it.large = !it.large;
  it.root.classList.toggle("large", it.large);
  it.unmeasured = true;
  draw(it);
}

/**
 * Zoom about the cursor, else about the middle; 0 shows the whole map.
 * @param {Canvas} it
 */
export function zoomBy(it, factor) {
  if (it.choice.view === "text") return;
  const at =
    it.cursor && it.cursor.row !== null && it.cursor.column !== null
      ? placeOf(it.fit, it.seen, it.cursor.row, it.cursor.column)
      : null;
  const [px, py] = at ? [at.x - it.fit.left, at.y - it.fit.top] : [it.fit.width / 2, it.fit.height / 2];
  it.seen = factor ? zoomed(it.fit, it.seen, factor, px, py) : { x: 0, y: 0, z: 1 };
  draw(it);
}

/** @param {Canvas} it */
function chosen(it) {
  it.moved = true; // by the visitor, not yet sent to Python
  later(it);
}

/**
 * Python is notified of a choice when the visitor pauses at it; at once if it has to send the exact map.
 * @param {Canvas} it
 */
export function later(it) {
  clearTimeout(it.timer);
  it.timer = setTimeout(() => tell(it), current(it) ? REST : SOON);
}

/** @param {Canvas} it */
function tell(it) {
  const { layer, head, what, view } = it.choice;
  // The serial distinguishes two visits of one choice, if Python has moved elsewhere in between.
  const said = {
    revision: it.meta.revision,
    serial: it.serial,
    layer,
    head,
    what,
    row: it.primary,
    view,
    rows: it.rows.length > 1 ? it.rows : [],
    keys: it.keys,
    known: Boolean(current(it)),
  };
  const text = JSON.stringify(said);
  it.moved = false;
  if (it.reported === text) return;
  it.reported = text;
  it.setStateValue("choice", said);
}
