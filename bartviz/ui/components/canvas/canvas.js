// State, pointer and frames. Streamlit calls the default export again on every change of data or theme.

const STATES = new WeakMap(); // parentElement -> state
const REST = 220; // ms of rest before Python hears of a choice
const SOON = 60; // the same, where an exact map is missed
const MOST_MAPS = 24_000_000; // bytes of maps that were sent on demand and are kept

function begin(parentElement) {
  const root = parentElement.querySelector(".attention");
  const named = new Map([...root.querySelectorAll("[data-is]")].map((node) => [node.dataset.is, node]));
  return {
    root, $: (name) => named.get(name), maps: new Map(), chips: {}, choice: null, rows: [0], keys: [], by: "rows",
    hover: null, cursor: null, pointed: null, seen: { x: 0, y: 0, z: 1 }, large: false, paints: 0, serial: null,
  };
}

export const current = (it) => it.maps.get(mapNumber(it.meta.shape, it.choice)) ?? null;

/** (row, column) -> weight of what is shown; null while the exact map is on its way. */
export function weightOf(it) {
  const map = current(it), columns = it.meta.key.length, { unit } = it.meta;
  return map && ((row, column) => map.values[row * columns + column] / unit);
}

function take(it, { data, setStateValue }) {
  it.setStateValue = setStateValue;
  if (it.data === data) return;
  const { meta, arrays } = decode(data);
  const anew = it.meta?.revision !== meta.revision;
  Object.assign(it, { data, meta, arrays });
  if (anew) renew(it);
  keep(it);
  if (anew || it.serial !== meta.serial) go(it, meta.begin);
  it.serial = meta.serial;
}

function renew(it) {
  const [, , rows, columns] = it.meta.shape;
  Object.assign(it, { maps: new Map(), chips: {}, hover: null, cursor: null, seen: { x: 0, y: 0, z: 1 } });
  it.open = it.arrays.mask ? unpacked(it.arrays.mask, rows, columns) : null;
  it.shades = shadesOf(it.meta.span, it.meta.unit);
  it.smallShades = smallShades(it.meta.small);
  it.special = { query: new Set(it.meta.query_special), key: new Set(it.meta.key_special) };
}

/** Takes in the maps that have come; the oldest go, where not all can stay. */
function keep(it) {
  const [, , rows, columns] = it.meta.shape, { tiles, hidden } = it.arrays, size = rows * columns;
  it.meta.tiles.forEach((number, i) => {
    it.maps.delete(number);
    it.maps.set(number, { values: tiles.subarray(i * size, (i + 1) * size), hidden: hidden?.subarray(i * rows, (i + 1) * rows) });
  });
  if (it.meta.exact) return;
  const most = Math.max(it.meta.tiles.length, Math.floor(MOST_MAPS / (2 * size)));
  for (const number of it.maps.keys()) {
    if (it.maps.size <= most) break;
    it.maps.delete(number);
  }
}

function go(it, { layer, head, what, row, view, rows, keys }) {
  it.choice = { layer, head, what, view };
  it.rows = rows.length ? [...rows] : [row];
  it.keys = [...keys];
  it.anchor = { rows: row, keys: keys[0] ?? 0 };
  it.by = keys.length && rows.length <= 1 ? "keys" : "rows";
  it.primary = row;
}

// Colours of the theme: the kind's ramp, and plain colours for canvas.
function paint(it) {
  const style = getComputedStyle(it.root), color = (name) => style.getPropertyValue(name).trim();
  const ground = color("--st-background-color"), ink = color("--st-text-color"), dark = isDark(ground);
  const now = [ground, ink, it.meta.kind].join();
  if (it.theme === now) return;
  const colors = ramp([ground, ...it.meta.ramps[it.meta.kind][dark ? 1 : 0].slice(1)]);
  const masked = mixed(ink, ground, 0.09), faint = css(mixed(ink, ground, 0.62)), strong = css(colors[dark ? 190 : 170]);
  it.colors = {
    ramp: colors, table: packedColors([...colors, masked]), ink, ground, strong, faint,
    text: css(mixed(ink, ground, 0.85)), line: css(mixed(ink, ground, 0.2)), hatch: css(mixed(ink, ground, 0.32)), masked: css(masked),
    inks: colors.map((rgb) => (isDark(css(rgb)) ? "#ffffff" : "#000000")), font: color("--st-font"), mono: color("--st-code-font"),
  };
  it.root.style.setProperty("--kind", strong);
  it.root.style.setProperty("--ramp", `linear-gradient(90deg, ${[0, 64, 128, 192, 255].map((i) => css(colors[i])).join(",")})`);
  it.root.style.colorScheme = dark ? "dark" : "light";
  it.theme = now;
  it.paints++;
}

function arrange(it) {
  it.root.classList.toggle("large", it.large);
  it.$("stage").dataset.view = it.choice.view;
  it.$("large").setAttribute("aria-pressed", it.large);
  for (const view of ["map", "lines", "text"]) it.$(view).setAttribute("aria-pressed", it.choice.view === view);
  const ends = { fixed: ["0", "1"], row: ["0", "row’s largest"], log: ["≤ 0.0001", "1"] }[it.meta.span];
  [it.$("low").textContent, it.$("high").textContent] = ends;
  measureOverview(it);
  measurePlot(it);
}

/** The next frame draws everything that has changed; several changes are one frame. */
export function draw(it) {
  it.frame ||= requestAnimationFrame(() => {
    it.frame = 0;
    render(it);
  });
}

function render(it) {
  if (!it.root.isConnected || !it.meta) return;
  const start = performance.now();
  if (it.unmeasured) {
    arrange(it);
    it.unmeasured = false;
  }
  drawOverview(it);
  if (it.choice.view === "map") drawMap(it);
  if (it.choice.view === "lines") drawLines(it);
  drawTexts(it);
  say(it);
  buildTable(it);
  it.root.dataset.drew = (performance.now() - start).toFixed(1);
}

/** The sentence of what is under the pointer or the cursor, else of the selection; and the tip at the pointer. */
function say(it) {
  const { meta } = it, name = nameOf(meta, it.choice), weight = weightOf(it);
  it.$("name").textContent = name[0].toUpperCase() + name.slice(1);
  it.$("overview").setAttribute("aria-label", `All heads, small. Chosen: ${name}. Arrow keys choose another, Enter goes to the large map.`);
  it.$("plot").setAttribute("aria-label", `${name}: ${meta.query.length} rows attend to ${meta.key.length} columns. Arrow keys move, Enter chooses a row, space a column.`);
  it.said = weight ? sentence(it, weight) : `${name}: the exact numbers are on their way.`;
  it.$("said").textContent = it.said;
  const tip = it.$("tip"), at = it.hover;
  tip.hidden = !at || at.x === undefined || at.row === null || at.column === null;
  if (tip.hidden) return;
  const value = !weight ? "…" : masked(it, at.row, at.column) ? "masked" : weight(at.row, at.column).toFixed(3);
  it.$("tip-value").textContent = value;
  it.$("tip-said").textContent = `${meta.query[at.row]} → ${meta.key[at.column]}`;
  const right = at.x > it.plot.width * 0.6;
  tip.style.transform = `translate(${Math.round(at.x + (right ? -14 : 14))}px, ${Math.round(at.y + 14)}px)${right ? " translateX(-100%)" : ""}`;
}

const masked = (it, row, column) => Boolean(it.open && !it.open[row * it.meta.key.length + column]);
const maskedWholly = (it, row) => Boolean(it.open) && !it.open.subarray(row * it.meta.key.length, (row + 1) * it.meta.key.length).some(Boolean);

function sentence(it, weight) {
  const { meta } = it, at = it.hover ?? it.cursor;
  if (at && at.row !== null && at.column !== null) return `${nameOf(meta, it.choice)}. ${cellSaid(meta, at.row, at.column, weight(at.row, at.column), masked(it, at.row, at.column))}`;
  const { rows, keys } = spoken(it);
  const said = rowsSaid(meta, rows, ofRows(weight, meta.key.length, rows), (row) => maskedWholly(it, row));
  const less = it.choice.view === "lines" && it.leftOut > FAINTEST ? ` Only the ${MOST_LINES} strongest lines are drawn.` : "";
  if (!keys.length) return said + less;
  const columns = keysSaid(meta, rows, keys, ofKeys(weight, meta.query.length, keys));
  return (at?.column != null || it.by === "keys" ? columns : `${said} ${columns}`) + less;
}

/** What a key has done is read aloud; what the pointer does is not. */
export function announce(it) {
  it.frame && cancelAnimationFrame(it.frame);
  it.frame = 0;
  render(it);
  it.$("live").textContent = it.said;
}

/** Another head, mean or view. */
export function choose(it, to) {
  const before = it.choice;
  it.choice = { layer: to.layer, head: to.head, what: to.what, view: to.view ?? before.view };
  if (before.view !== it.choice.view || (it.meta.small.of === "layer" && before.layer !== it.choice.layer)) it.unmeasured = true;
  if (before.view !== it.choice.view) Object.assign(it, { hover: null, cursor: null, seen: { x: 0, y: 0, z: 1 } });
  draw(it);
  later(it);
}

/** Rows or keys chosen: one, one more, or all from the anchor on. */
export function select(it, list, index, { add = false, extend = false } = {}) {
  const from = extend ? it.anchor[list] : null;
  it[list] = picked(it[list], index, { add, from, fewest: list === "rows" ? 1 : 0 });
  if (!extend) it.anchor[list] = index;
  if (list === "rows") it.primary = it.rows.includes(index) ? index : it.rows[0];
  it.by = list === "keys" && !it.keys.length ? "rows" : list;
  draw(it);
  later(it);
}

export function clear(it) {
  Object.assign(it, { hover: null, cursor: null, keys: [], rows: [it.primary], by: "rows" });
  later(it);
}

export function enlarge(it) {
  it.large = !it.large;
  it.root.classList.toggle("large", it.large);
  it.unmeasured = true;
  draw(it);
}

/** Zoom about the cursor, else about the middle; 0 shows the whole map. */
export function zoomBy(it, factor) {
  if (it.choice.view === "text") return;
  const at = it.cursor && it.cursor.row !== null && it.cursor.column !== null ? placeOf(it.fit, it.seen, it.cursor.row, it.cursor.column) : null;
  const [px, py] = at ? [at.x - it.fit.left, at.y - it.fit.top] : [it.fit.width / 2, it.fit.height / 2];
  it.seen = factor ? zoomed(it.fit, it.seen, factor, px, py) : { x: 0, y: 0, z: 1 };
  draw(it);
}

// Python hears of a choice when the visitor rests on it; at once where it is to send the exact map.
function later(it) {
  clearTimeout(it.timer);
  it.timer = setTimeout(() => tell(it), current(it) ? REST : SOON);
}

function tell(it) {
  const { layer, head, what, view } = it.choice;
  const said = { revision: it.meta.revision, layer, head, what, row: it.primary, view, rows: it.rows.length > 1 ? it.rows : [], keys: it.keys, known: Boolean(current(it)) };
  const text = JSON.stringify(said);
  if (it.told === text) return;
  it.told = text;
  it.setStateValue("choice", said);
}

function pointOf(node, event) {
  const box = node.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

const underPlot = (it, x, y) => (it.choice.view === "lines" ? underLines(it, x, y) : under(it.fit, it.seen, x, y));

function onPlotDown(it, event) {
  if (event.button !== 0) return;
  const [x, y] = pointOf(it.$("plot"), event), at = underPlot(it, x, y);
  it.drag = { x, y, at, moved: false, seen: it.seen };
  if (event.pointerType !== "touch") it.$("plot").setPointerCapture(event.pointerId);
  const list = at.row !== null && at.column === null ? "rows" : at.column !== null && at.row === null ? "keys" : null;
  if (!list) return;
  it.drag.list = list;
  select(it, list, at.row ?? at.column, { add: event.ctrlKey || event.metaKey || (list === "keys" && it.keys.length === 1 && it.keys[0] === at.column), extend: event.shiftKey });
}

function onPlotMove(it, event) {
  const [x, y] = pointOf(it.$("plot"), event), at = underPlot(it, x, y), { drag } = it;
  it.cursor = null;
  it.hover = at.row === null && at.column === null ? null : { ...at, x, y };
  if (drag) {
    drag.moved ||= Math.hypot(x - drag.x, y - drag.y) > 4;
    const index = drag.list === "rows" ? at.row : at.column;
    if (drag.list && drag.moved && index !== null) select(it, drag.list, index, { extend: true });
    if (!drag.list && drag.moved && it.seen.z > 1) it.seen = panned(it.fit, drag.seen, x - drag.x, it.choice.view === "lines" ? 0 : y - drag.y);
  }
  draw(it);
}

function onPlotUp(it, event) {
  const { drag } = it;
  it.drag = null;
  if (!drag || drag.list || drag.moved || drag.at.row === null) return;
  select(it, "rows", drag.at.row, { add: event.ctrlKey || event.metaKey, extend: event.shiftKey });
}

/** The wheel zooms where cells are too small to read, or when Ctrl is held; elsewhere the page scrolls. */
function onWheel(it, event) {
  const focused = it.root.getRootNode().activeElement === it.$("plot");
  const small = Math.min(it.fit.w, it.fit.h) < 9;
  const inward = event.deltaY < 0;
  if (!(event.ctrlKey || focused || small || it.seen.z > 1) || (!inward && it.seen.z <= 1)) return;
  event.preventDefault();
  const [x, y] = pointOf(it.$("plot"), event), lines = it.choice.view === "lines";
  it.seen = zoomed(it.fit, it.seen, Math.exp(-event.deltaY / 400), lines ? y - it.fit.top : x - it.fit.left, y - it.fit.top);
  draw(it);
}

function onChip(it, event, name) {
  const chip = event.composedPath()[0], place = chip.dataset?.place;
  if (place === undefined) return;
  const side = it.$(name).dataset.holds.endsWith("query") ? "row" : "column", list = side === "row" ? "rows" : "keys";
  if (event.type === "pointerover") it.hover = { row: null, column: null, [side]: Number(place) };
  else select(it, list, Number(place), { add: event.ctrlKey || event.metaKey || (list === "keys" && it.keys.includes(Number(place))), extend: event.shiftKey });
  it.cursor = null;
  draw(it);
}

const unhover = (it) => {
  Object.assign(it, { hover: null, pointed: null });
  draw(it);
};

function listenToTexts(it) {
  for (const name of Object.keys(SIDES)) {
    const list = it.$(name);
    // The strip speaks of what is chosen: a hover there would change the text under the pointer.
    if (name !== "strip") list.onpointerover = (event) => event.pointerType !== "touch" && onChip(it, event, name);
    list.onpointerleave = () => unhover(it);
    list.onclick = (event) => onChip(it, event, name);
  }
}

function listen(it) {
  const { $ } = it, plot = $("plot"), overview = $("overview");
  overview.onpointermove = (event) => {
    it.pointed = cellAt(it, ...pointOf(overview, event));
    overview.title = it.pointed ? nameOf(it.meta, it.pointed) : "";
    draw(it);
  };
  overview.onpointerleave = () => unhover(it);
  overview.onclick = (event) => {
    const place = cellAt(it, ...pointOf(overview, event));
    if (place) choose(it, { layer: place.layer, head: place.what === "head" ? place.head : it.choice.head, what: place.what });
  };
  plot.onpointerdown = (event) => onPlotDown(it, event);
  plot.onpointermove = (event) => onPlotMove(it, event);
  plot.onpointerup = (event) => onPlotUp(it, event);
  plot.onpointercancel = () => (it.drag = null);
  plot.onpointerleave = () => unhover(it);
  plot.onblur = () => ((it.cursor = null), draw(it));
  plot.addEventListener("wheel", (event) => onWheel(it, event), { passive: false });
  listenToTexts(it);
  for (const view of ["map", "lines", "text"]) $(view).onclick = () => choose(it, { ...it.choice, view });
  $("out").onclick = () => zoomBy(it, 1 / 1.5);
  $("in").onclick = () => zoomBy(it, 1.5);
  $("whole").onclick = () => zoomBy(it, 0);
  $("large").onclick = () => enlarge(it);
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

export default function (component) {
  const { parentElement } = component;
  let it = STATES.get(parentElement);
  const first = !it || !it.root.isConnected;
  if (first) it = begin(parentElement);
  STATES.set(parentElement, it);
  take(it, component);
  paint(it);
  if (first) listen(it);
  it.unmeasured = true;
  if (first) render(it);
  else draw(it);
  return () => {
    cancelAnimationFrame(it.frame);
    clearTimeout(it.timer);
    it.resized.disconnect();
    document.removeEventListener("keydown", it.anywhere);
    STATES.delete(parentElement);
  };
}
