// State of the canvas: its maps, the choice, the colours of the theme.

/** @import { Canvas, Choice, Codes, Component, Shaded, Weight } from "./types.js" */
import { css, inkOn, ramp, rampOn, strongOf, themeOf } from "../shared/colors.js";
import { nameAll, speaker } from "../shared/helpers.js";
import { departure } from "../shared/motion.js";
import { packedColors, shadesOf, smallShades } from "./pixels.js";
import { decode, largest, mapNumber, unpacked } from "./numbers.js";

export const LIVE = (globalThis[Symbol.for("bartviz.canvas")] ??= new Set()); // all canvases of the page
const MOST_MAPS = 24_000_000; // bytes of maps that were sent on demand and are kept

/**
 * @param {HTMLElement} parentElement
 * @returns {Canvas}
 */
export function create(parentElement) {
  /** @type {HTMLElement} */
  const root = parentElement.querySelector(".attention");
  const named = new Map(
    [.../** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-is]"))].map((node) => [
      node.dataset.is,
      node,
    ]),
  );
  return /** @type {Canvas} */ ({
    root,
    $: (name) => /** @type {any} */ (named.get(name)),
    maps: new Map(),
    chips: {},
    choice: null,
    rows: [0],
    keys: [],
    by: "rows",
    hover: null,
    cursor: null,
    pointed: null,
    pinch: null,
    seen: { x: 0, y: 0, z: 1 },
    large: false,
    paints: 0,
    serial: null,
    moved: false,
    at: null,
    grew: null,
    left: null,
  });
}

/** @param {Canvas} it */
export const current = (it) => it.maps.get(mapNumber(it.meta.shape, it.choice)) ?? null;

/**
 * Whether a row may not look at a column.
 * @param {Canvas} it
 * @param {number} row
 * @param {number} column
 */
export const isMasked = (it, row, column) => Boolean(it.open && !it.open[row * it.meta.key.length + column]);

/**
 * (row, column) -> weight of what is shown, or difference of two; null while the exact map is pending.
 * @param {Canvas} it
 * @returns {Weight | null}
 */
export function weightOf(it) {
  const map = current(it),
    columns = it.meta.key.length,
    { unit, limit } = it.meta;
  if (map && limit) return (row, column) => ((2 * map.values[row * columns + column]) / unit - 1) * limit;
  return map && ((row, column) => map.values[row * columns + column] / unit);
}

/**
 * @param {Canvas} it
 * @param {Component} component
 */
export function receive(it, { data, setStateValue }) {
  it.setStateValue = setStateValue;
  if (it.data === data) return;
  const { meta, arrays } = decode(data);
  const renewed = it.meta?.revision !== meta.revision;
  it.data = data;
  if (renewed && meta.light)
    return setStateValue("choice", {
      ...meta.begin,
      revision: meta.revision,
      serial: meta.serial,
      known: false,
      whole: false,
    }); // what stays was lost
  Object.assign(it, { meta: { ...(renewed ? {} : it.meta), ...meta }, arrays });
  if (renewed) renew(it);
  storeMaps(it);
  // Follow the pickers, unless the visitor has chosen something newer in the canvas.
  const led = it.serial !== meta.serial && (!it.moved || it.meta.alone);
  if (renewed || led) {
    const from = it.choice && departure(it.$("plot"));
    it.left = from && { ...from, row: renewed ? null : it.primary };
    applyChoice(it, meta.begin);
  }
  it.serial = meta.serial;
}

/**
 * Everything that stays while the picture does: a light buffer contains none of it.
 * @param {Canvas} it
 */
function renew(it) {
  const [, , rows, columns] = it.meta.shape;
  it.say = speaker(it.meta.words);
  nameAll(it.root, it.say);
  Object.assign(it, {
    at: it.meta.steps ? it.at : null,
    smallMaps: null,
    maps: new Map(),
    chips: {},
    shaded: [],
    hover: null,
    cursor: null,
    seen: { x: 0, y: 0, z: 1 },
  });
  it.open = it.arrays.mask ? unpacked(it.arrays.mask, rows, columns) : null;
  if (it.arrays.small)
    it.smallMaps = { values: it.arrays.small, shape: it.meta.arrays.find(([name]) => name === "small")[2] };
  it.shades = shadesOf(it.meta.span, it.meta.unit);
  it.smallShades = smallShades(it.meta.small);
  it.special = { query: new Set(it.meta.query_special), key: new Set(it.meta.key_special) };
}

/**
 * Store the maps that arrived; the oldest are dropped beyond the limit.
 * @param {Canvas} it
 */
function storeMaps(it) {
  const [, , rows, columns] = it.meta.shape,
    { tiles, hidden } = it.arrays,
    size = rows * columns;
  it.meta.tiles.forEach((number, i) => {
    it.maps.delete(number);
    it.maps.set(number, {
      values: tiles.subarray(i * size, (i + 1) * size),
      hidden: hidden?.subarray(i * rows, (i + 1) * rows),
    });
  });
  if (it.meta.exact) return;
  const most = Math.max(it.meta.tiles.length, Math.floor(MOST_MAPS / (2 * size)));
  for (const number of it.maps.keys()) {
    if (it.maps.size <= most) break;
    it.maps.delete(number);
  }
}

/** @param {Canvas} it */
function applyChoice(it, { layer, head, what, row, view, rows, keys }) {
  it.choice = { layer, head, what, view };
  it.rows = rows.length ? [...rows] : [row];
  it.keys = [...keys];
  it.anchor = { rows: row, keys: keys[0] ?? 0 };
  it.by = keys.length && rows.length <= 1 ? "keys" : "rows";
  it.primary = row;
  it.reported = null;
  it.moved = false;
}

/**
 * Colours of the theme: the kind's ramp, those of words, and plain colours for canvas.
 * @param {Canvas} it
 */
export function paint(it) {
  const theme = themeOf(it.root),
    now = [theme.ground, theme.ink, it.meta.kind, it.meta.revision].join();
  if (it.theme === now) return;
  const colors = it.meta.limit ? ramp(it.meta.between[theme.dark ? 1 : 0]) : rampOn(theme, it.meta.ramps[it.meta.kind]),
    strong = strongOf(theme, colors);
  it.colors = {
    ...theme,
    masked: css(theme.masked),
    strong,
    ramp: colors,
    bars: { query: ofWords(it, theme, "query"), key: ofWords(it, theme, "key") },
    table: packedColors([...colors, theme.masked]),
    inks: colors.map(inkOn),
  };
  it.root.style.setProperty("--kind", strong);
  it.root.style.setProperty(
    "--ramp",
    `linear-gradient(90deg, ${[0, 64, 128, 192, 255].map((i) => css(colors[i])).join(",")})`,
  );
  it.root.style.colorScheme = theme.dark ? "dark" : "light";
  it.theme = now;
  it.paints++;
}

/** The colour of each word on one side: rows or columns. */
const ofWords = (it, theme, side) =>
  it.meta[`${side}_colors`].map((place) => it.meta.palette[theme.dark ? 1 : 0][place]);

/**
 * What a small map is painted from: the exact map where it is there, else the one that came with all the others.
 * @param {Canvas} it
 * @param {Choice} choice
 * @returns {Shaded | null}
 */
export function sourceOf(it, choice) {
  const [, heads, rows, columns] = it.meta.shape;
  const known = it.maps.get(mapNumber(it.meta.shape, choice));
  if (known) return shadedMap(it, known);
  if (choice.what !== "head" || !it.smallMaps) return null;
  const [, , h, w] = it.smallMaps.shape;
  const at = (choice.layer * heads + choice.head) * h * w;
  return {
    values: it.smallMaps.values.subarray(at, at + h * w),
    rows: h,
    columns: w,
    table: it.smallShades,
    skip: it.meta.small.masked,
    of: [rows, columns],
  };
}

/**
 * A map with what its colours need.
 * @param {Canvas} it
 * @param {Codes} map
 * @returns {Shaded}
 */
export function shadedMap(it, map) {
  const [, , rows, columns] = it.meta.shape;
  if (it.meta.span === "row" && !map.scales)
    map.scales = Float32Array.from(largest(map.values, rows, columns), (most) => (most ? 255 / most : 0));
  return {
    values: map.values,
    rows,
    columns,
    open: it.open,
    table: it.shades,
    scales: it.meta.span === "row" ? map.scales : null,
    middle: it.meta.limit ? it.meta.unit / 2 : undefined,
  };
}

/**
 * What has the keyboard's focus: of the component, which may be in a shadow root, or of the page.
 * @param {Canvas} it
 * @returns {HTMLElement | null}
 */
export function focusedNode(it) {
  const { activeElement } = /** @type {ShadowRoot} */ (it.root.getRootNode());
  return /** @type {HTMLElement | null} */ (activeElement);
}
