// What is under the pointer or the cursor, in words; and the tip at the pointer.

/** @import { Canvas } from "./types.js" */
import { capital, isolated } from "../shared/helpers.js";
import { FAINTEST, MOST_LINES } from "./lines.js";
import { cellSaid, keysSaid, nameOf, ofKeys, ofRows, rowsSaid, valueSaid } from "./numbers.js";
import { isMasked, weightOf } from "./state.js";
import { spoken } from "./text.js";

/**
 * The sentence of what is under the pointer or the cursor, else of the selection; and the tip at the pointer.
 * @param {Canvas} it
 */
export function say(it) {
  const { meta } = it,
    name = nameOf(meta, it.choice),
    weight = weightOf(it);
  it.$("name").textContent = capital(name);
  const labelled = (said) => (meta.label ? it.say("labelled", { label: meta.label, said }) : said);
  it.root.setAttribute("aria-label", meta.alone ? labelled(it.say("alone", { name })) : it.say("canvas"));
  it.$("overview").setAttribute("aria-label", it.say("overview", { name }));
  it.$("plot").setAttribute(
    "aria-label",
    labelled(it.say("plot", { name, rows: meta.query.length, columns: meta.key.length })),
  );
  it.said = weight ? sentence(it, weight) : it.say("waiting", { name });
  it.$("said").textContent = it.said;
  it.root.classList.toggle("resting", !(it.hover ?? it.cursor));
  const tip = it.$("tip"),
    at = it.hover;
  tip.hidden = !at || at.x === undefined || at.row === null || at.column === null;
  if (tip.hidden) return;
  const value = () => valueSaid(meta, weight(at.row, at.column), isMasked(it, at.row, at.column));
  it.$("tip-value").textContent = weight ? value() : "…";
  it.$("tip-said").textContent = `${isolated(meta.query[at.row])} → ${isolated(meta.key[at.column])}`;
  const right = at.x > it.plot.width * 0.6;
  tip.style.transform = `translate(${Math.round(at.x + (right ? -14 : 14))}px, ${Math.round(at.y + 14)}px)${right ? " translateX(-100%)" : ""}`;
}

/** @param {Canvas} it */
function sentence(it, weight) {
  const { meta } = it,
    at = it.hover ?? it.cursor;
  if (at && at.row !== null && at.column !== null)
    return it.say("of_head", {
      name: nameOf(meta, it.choice),
      said: cellSaid(meta, at.row, at.column, weight(at.row, at.column), isMasked(it, at.row, at.column)),
    });
  const { rows, keys } = spoken(it);
  const said = rowsSaid(meta, rows, ofRows(weight, meta.key.length, rows), (row, column) => isMasked(it, row, column));
  const less =
    it.choice.view === "lines" && it.leftOut > FAINTEST ? ` ${it.say("few_lines", { count: MOST_LINES })}` : "";
  if (!keys.length || meta.limit) return said + less;
  const columns = keysSaid(meta, rows, keys, ofKeys(weight, meta.query.length, keys));
  return (at?.column != null || it.by === "keys" ? columns : `${said} ${columns}`) + less;
}
