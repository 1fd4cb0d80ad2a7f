// A touch on the map of parameters opens the area of the next level that holds what was touched; the heading of the open
// area, and the names of the path, lead back. Plotly's own answer would skip levels, and tell nobody.

import { markReady } from "../../browser/shared/ready.js";

const LOOKS = 250; // milliseconds between two looks for a map that has been drawn anew

/** The area to open: the touched one has this id. ids and parents are those of all areas, level that which fills the map. */
export function opens({ ids, parents, level }, touched) {
  const parent = (id) => parents[ids.indexOf(id)] ?? "";
  const above = [];
  for (let id = level; id; id = parent(id)) above.push(id);
  if (touched === level) return parent(level) || level;
  if (above.includes(touched)) return touched;
  let next = touched;
  while (parent(next) && parent(next) !== level) next = parent(next);
  return next;
}

/** The map as plotly has drawn it, or null. @returns {any} */
const find = () => document.querySelector(".st-key-parameters .js-plotly-plot");

export default function ({ parentElement, setTriggerValue }) {
  /** @type {any} */
  let listens = null; // the method of the drawn map, which plotly makes anew with the map
  /** @param {any} event */
  const touched = ({ points: [{ data, pointNumber }] }) => {
    setTriggerValue("touched", opens({ level: data.ids[0], ...data }, data.ids[pointNumber]));
    return false; // plotly opens nothing by itself
  };
  const look = () => {
    const drawn = find();
    if (!drawn?.on || drawn.on === listens) return;
    listens = drawn.on;
    drawn.on("plotly_treemapclick", touched);
    markReady(parentElement);
  };
  look();
  const looking = setInterval(look, LOOKS);
  return () => {
    clearInterval(looking);
    const drawn = find();
    if (drawn?.on === listens) drawn?.removeListener?.("plotly_treemapclick", touched);
  };
}
