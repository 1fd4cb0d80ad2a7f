// A touch on the map of parameters opens the area of the next level that holds what was touched; the heading of the open
// area leads back. Plotly's own answer would skip levels, and tell nobody.

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

/** The maps as plotly has drawn them. @returns {any[]} */
const find = () => [...document.querySelectorAll(":is(.st-key-parameters, .st-key-parameters_beside) .js-plotly-plot")];

export default function ({ parentElement, setTriggerValue }) {
  /** @type {Set<any>} */
  const listens = new Set(); // the methods of the drawn maps, which plotly makes anew with the map
  /** @param {any} event */
  const touched = ({ points: [{ data, pointNumber }] }) => {
    setTriggerValue("touched", opens({ ...data, level: data.level ?? data.ids[0] }, data.ids[pointNumber]));
    return false; // plotly opens nothing by itself
  };
  const look = () => {
    for (const drawn of find()) {
      if (!drawn.on || listens.has(drawn.on)) continue;
      listens.add(drawn.on);
      drawn.on("plotly_treemapclick", touched);
      markReady(parentElement);
    }
  };
  look();
  const looking = setInterval(look, LOOKS);
  return () => {
    clearInterval(looking);
    for (const drawn of find()) if (listens.has(drawn.on)) drawn.removeListener?.("plotly_treemapclick", touched);
  };
}
