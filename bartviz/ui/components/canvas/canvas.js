// State, pointer and frames. Streamlit calls the default export again on every change of data or theme.

const STATES = new WeakMap(); // parentElement -> state
const LIVE = (globalThis[Symbol.for("bartviz.canvas")] ??= new Set()); // all canvases of the page
const REST = 220; // ms of rest before Python hears of a choice
const SOON = 60; // the same, where an exact map is missed

function arrange(it) {
  it.type = typeSize();
  it.root.classList.toggle("large", it.large);
  it.root.dataset.view = it.choice.view;
  it.$("large").setAttribute("aria-pressed", it.large);
  for (const view of ["map", "lines", "text"]) it.$(view).setAttribute("aria-pressed", it.choice.view === view);
  const ends = { fixed: ["0", "1"], row: ["0", it.say("row_largest")], log: ["≤ 0.0001", "1"] }[it.meta.span];
  [it.$("low").textContent, it.$("high").textContent] = ends;
  it.$("masked").hidden = !it.open;
  it.root.classList.toggle("alone", Boolean(it.meta.alone));
  it.$("overview").hidden = it.$("small-keys").hidden = it.$("small-keys-said").hidden = it.$("next-keys").hidden = Boolean(it.meta.alone);
  it.$("step-keys").hidden = it.$("step-keys-said").hidden = !it.meta.steps;
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
    if (it.refocus) it.$(it.choice.view === "text" ? "query-text" : "plot").focus(); // what had the focus is not seen any more
    it.refocus = false;
  }
  drawOverview(it);
  if (it.choice.view === "map") drawMap(it);
  if (it.choice.view === "lines") drawLines(it);
  drawTexts(it);
  say(it);
  afterwards(it);
  it.root.dataset.drew = (performance.now() - start).toFixed(1);
  if (uncovered(it) < 1) draw(it);
  else it.grew = null;
}

/** What waits until the frame is on the screen: it reads sizes, which would lay the page out once more, or is long. */
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

/** Another head, mean or view. */
export function choose(it, to) {
  const before = it.choice;
  if (it.meta.alone) to = { ...before, view: to.view }; // the page says which head stands alone
  it.choice = { layer: to.layer, head: to.head, what: to.what, view: to.view ?? before.view };
  if (before.view !== it.choice.view || (it.meta.layers === "layer" && before.layer !== it.choice.layer)) it.unmeasured = true;
  const focused = it.root.getRootNode().activeElement?.dataset?.is;
  if (before.view !== it.choice.view && ["plot", "strip", "query-text", "key-text"].includes(focused)) it.refocus = true;
  if (before.view !== it.choice.view) Object.assign(it, { hover: null, cursor: null, seen: { x: 0, y: 0, z: 1 } });
  draw(it);
  chosen(it);
}

/** Rows or keys chosen: one, one more, or all from the anchor on. */
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

export function clear(it) {
  Object.assign(it, { hover: null, cursor: null, keys: [], rows: [it.primary], by: "rows" });
  chosen(it);
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

function chosen(it) {
  it.moved = true; // by the visitor, and Python has not heard of it
  later(it);
}

// Python hears of a choice when the visitor rests on it; at once where it is to send the exact map.
function later(it) {
  clearTimeout(it.timer);
  it.timer = setTimeout(() => tell(it), current(it) ? REST : SOON);
}

function tell(it) {
  const { layer, head, what, view } = it.choice;
  // The serial tells two visits of one choice apart, where Python has led elsewhere in between.
  const said = { revision: it.meta.revision, serial: it.serial, layer, head, what, row: it.primary, view, rows: it.rows.length > 1 ? it.rows : [], keys: it.keys, known: Boolean(current(it)) };
  const text = JSON.stringify(said);
  it.moved = false;
  if (it.told === text) return;
  it.told = text;
  it.setStateValue("choice", said);
}

export default function (component) {
  const { parentElement } = component;
  let it = STATES.get(parentElement);
  const first = !it || !it.root.isConnected;
  if (first) it = begin(parentElement);
  STATES.set(parentElement, it);
  LIVE.add(it);
  take(it, component);
  if (it.meta) paint(it);
  if (first) listen(it);
  if (it.meta) showStepper(it);
  if (it.meta?.steps) askSteps(it, { where: true });
  if (it.meta && !current(it)) later(it);
  it.unmeasured = true;
  if (first) render(it);
  else draw(it);
  return () => {
    cancelAnimationFrame(it.frame);
    clearTimeout(it.timer);
    it.gone = true;
    it.resized.disconnect();
    it.unfollow();
    document.removeEventListener("keydown", it.anywhere);
    STATES.delete(parentElement);
    LIVE.delete(it);
  };
}
