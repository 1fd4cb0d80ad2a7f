// The text itself, shaded by weights. Tokens reach the page through textContent alone.

/** @import { Canvas, Chip, Side } from "./types.js" */
import { css } from "../shared/colors.js";
import { clamp, make } from "../shared/helpers.js";
import { listed, mapNumber, nameOf, ofKeys, ofRows, rowPlaces, shareOf, top, valueSaid } from "./numbers.js";
import { current, isMasked, weightOf } from "./state.js";

export const SIDES = { strip: null, "query-text": "query", "key-text": "key" };

/**
 * Fills a list with the chips of one side, if they are not in it already. The list may outlive the state that filled it.
 * @param {Canvas} it
 * @param {string} name
 * @param {Side} side
 */
export function fill(it, name, side) {
  const list = it.$(name),
    now = `${it.meta.revision} ${side}`;
  if (list.dataset.holds === now && it.chips[name]) return;
  list.dataset.holds = now;
  const chips = it.meta[`${side}_text`].map(([text, place, special, joined], index) => {
    const chip = make(
      "span",
      ["chip", special && "special", joined && "joined", place < 0 && "gone"].filter(Boolean).join(" "),
      text || "\u00a0",
    );
    if (special) chip.dir = "ltr"; // it says nothing about the direction of the text around it
    if (place >= 0) {
      [chip.id, chip.dataset.place] = [`${name}-${place}`, place];
      chip.setAttribute("role", "option");
    } else chip.title = it.say("hidden_chip");
    return index && !joined ? [" ", chip] : [chip];
  });
  list.replaceChildren(...chips.flat());
  it.chips[name] = new Map(
    /** @type {Chip[]} */ ([...list.children])
      .filter((chip) => chip.dataset.place)
      .map((chip) => [Number(chip.dataset.place), chip]),
  );
}

/**
 * Which rows and columns are spoken of: those under the pointer or the cursor, else the selected ones.
 * @param {Canvas} it
 * @returns {{ rows: number[], keys: number[], side: Side }}
 */
export function spoken(it) {
  const at = it.hover ?? it.cursor;
  if (!at || (at.row === null && at.column === null))
    return { rows: it.rows, keys: it.keys, side: it.by === "keys" && it.keys.length ? "query" : "key" };
  if (at.row === null) return { rows: it.rows, keys: [at.column], side: "query" };
  return { rows: [at.row], keys: [], side: "key" };
}

/** @param {Canvas} it */
export function drawTexts(it) {
  const { rows, keys, side } = spoken(it),
    weight = weightOf(it);
  const columns = weight && ofRows(weight, it.meta.key.length, rows).mean;
  const given = weight && keys.length ? ofKeys(weight, it.meta.query.length, keys) : null;
  const text = it.choice.view === "text";
  it.shaded = [];
  for (const [name, fixed] of Object.entries(SIDES)) {
    if (text === (name === "strip")) continue;
    const of = fixed ?? side;
    fill(it, name, of);
    const values = of === "key" ? columns : given;
    shade(it, name, of, values, of === "key" ? keys : rows, of === "key" ? rows : []);
    if (values) it.shaded.push([name, of, values]);
  }
  titles(it, rows, keys, side);
}

/**
 * A long text is scrolled to its strongest token when something else was chosen, never under the pointer.
 * @param {Canvas} it
 */
export function bringForward(it) {
  if (it.hover || it.cursor) return;
  for (const [name, of, values] of it.shaded) {
    const now = [it.meta.revision, of, mapNumber(it.meta.shape, it.choice), it.rows, it.keys, it.choice.view].join("|"),
      list = it.$(name);
    if (list.dataset.brought === now) continue;
    list.dataset.brought = now;
    const chip = it.chips[name].get(top(values, 1, (place) => it.special[of].has(place))[0]);
    if (!chip || list.scrollHeight <= list.clientHeight) continue;
    const [box, own] = [list.getBoundingClientRect(), chip.getBoundingClientRect()];
    if (own.top < box.top || own.bottom > box.bottom)
      list.scrollTop += (own.top + own.bottom - box.top - box.bottom) / 2;
  }
}

/**
 * @param {Canvas} it
 * @param {number[]} rows from which what they may not look at is hatched
 */
function shade(it, name, side, values, framed, rows) {
  const most = values ? Math.max(...values) : 1,
    at = it.hover ?? it.cursor;
  const pointed =
    at &&
    (name === "query-text" || (name === "strip" && it.$("strip").dataset.holds.endsWith("query")) ? at.row : at.column);
  for (const [place, chip] of it.chips[name]) {
    const share = values ? clamp(shareOf(values[place], it.meta.span, most), 0, 1) : 0;
    const level = Math.round(share * 255);
    if (chip.level !== level || chip.paints !== it.paints) {
      chip.style.background = level ? css(it.colors.ramp[level]) : "";
      chip.style.color = level ? it.colors.inks[level] : "";
      chip.style.setProperty("--word", it.colors.bars[side][place] ?? "transparent");
      [chip.level, chip.paints] = [level, it.paints];
    }
    const out = rows.length > 0 && rows.every((row) => isMasked(it, row, place));
    if (chip.out !== out) chip.classList.toggle("out", (chip.out = out));
    const title = values ? valueSaid(it.meta, values[place], out) : "",
      looks = `${framed.includes(place)} ${pointed === place}`;
    if (chip.title !== title) chip.title = title;
    if (chip.looks === looks) continue;
    chip.looks = looks;
    chip.classList.toggle("framed", framed.includes(place));
    chip.classList.toggle("pointed", pointed === place);
    chip.setAttribute("aria-selected", framed.includes(place));
  }
}

/** @param {Canvas} it */
function titles(it, rows, keys, side) {
  const { key } = it.meta,
    many = rows.length > 1,
    row = many ? { count: rows.length } : rowPlaces(it.meta, rows[0]);
  const whom = {
    names: listed(
      it.meta,
      keys.map((column) => key[column]),
    ),
    count: keys.length,
  };
  it.$("strip-title").textContent =
    side === "key" ? it.say(many ? "rows_look" : "looks", row) : it.say("looked_at", whom);
  it.$("query-title").textContent = keys.length ? it.say("rows_shaded", whom) : it.say("rows_plain");
  it.$("key-title").textContent = it.say(many ? "columns_shaded_by_rows" : "columns_shaded", row);
  it.$("strip").setAttribute("aria-label", it.say(side === "key" ? "columns_list" : "rows_list"));
  hiddenShare(it, rows);
}

/**
 * What the hidden columns took of these rows.
 * @param {Canvas} it
 */
function hiddenShare(it, rows) {
  const map = current(it),
    bar = it.$("hidden");
  bar.hidden = !it.meta.hidden.length || !map?.hidden;
  if (bar.hidden) return;
  const share = rows.reduce((sum, row) => sum + map.hidden[row], 0) / rows.length / it.meta.unit;
  it.$("hidden-share").style.width = `${100 * share}%`;
  it.$("hidden-said").textContent = it.say("hidden", {
    share: Math.round(100 * share),
    names: listed(it.meta, it.meta.hidden),
  });
}

/** The numbers as a table: the whole map if it is small, else the chosen rows as columns. */
const MOST_CELLS = 5000;

/** @param {Canvas} it */
export function buildTable(it) {
  const { meta } = it,
    weight = weightOf(it),
    whole = meta.query.length * meta.key.length <= MOST_CELLS;
  if (!it.$("details").open) return;
  const now = [meta.revision, mapNumber(meta.shape, it.choice), Boolean(weight), whole ? "" : it.rows].join();
  if (it.tabled !== now) fillTable(it, weight, whole);
  it.tabled = now;
  if (whole)
    it.$("table")
      .querySelectorAll("tbody tr")
      .forEach((line, row) => markRow(line, it.rows.includes(row)));
}

/** Mark a row of the table as chosen, for the eye and for screen readers. */
function markRow(line, chosen) {
  line.classList.toggle("chosen", chosen);
  if (chosen) line.setAttribute("aria-current", "true");
  else line.removeAttribute("aria-current");
}

/** @param {Canvas} it */
function fillTable(it, weight, whole) {
  const { meta } = it;
  const table = make("table");
  table.createCaption().textContent = it.say(whole ? "table_whole" : "table_rows", {
    name: nameOf(meta, it.choice),
    count: meta.query.length,
  });
  const heading = (text, scope) => Object.assign(make("th", "", text), { scope });
  const cell = (row, column) =>
    isMasked(it, row, column) ? it.say("masked") : weight ? valueSaid(meta, weight(row, column)) : "";
  const rows = meta.query.map((text, row) => `${row} ${text}`),
    columns = meta.key.map((text, column) => `${column} ${text}`);
  const across = whole ? columns : it.rows.map((row) => rows[row]);
  const lines = (whole ? rows : columns).map((name, place) => {
    const line = make("tr");
    const cells = across.map((_, at) => (whole ? cell(place, at) : cell(it.rows[at], place)));
    line.append(heading(name, "row"), ...cells.map((text) => make("td", "", text)));
    return line;
  });
  const first = make("tr");
  const corner = heading(it.say(whole ? "table_corner" : "table_corner_rows"), "col");
  first.append(corner, ...across.map((name) => heading(name, "col")));
  table.createTHead().append(first);
  table.createTBody().append(...lines);
  it.$("table").replaceChildren(table);
}
