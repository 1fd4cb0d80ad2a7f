// Playback, keys and pointer. Streamlit calls the default export again on every change of data or theme.

/** @import { Component, Player } from "./types.js" */
import { markReady } from "../shared/ready.js";
import { pointOn } from "../shared/drawing.js";
import { calm, onSteps, isNowhere, sendSteps } from "../shared/steps.js";
import { clamp, speaker } from "../shared/helpers.js";
import { weightSaid } from "../shared/percentages.js";
import { onLight, sayTouched } from "../shared/touched.js";
import { drawCurve, drawMatrix, measure, uncover } from "./canvases.js";
import { advance, cellAt, readingOf, rowOf } from "./numbers.js";
import {
  build,
  buildCost,
  buildTable,
  fit,
  lengthOf,
  moveBar,
  paint,
  placeOf,
  rowsImage,
  show,
  showDegrees,
} from "./picture.js";

const STATES = new WeakMap(); // parentElement -> state
const REVEAL = 320; // ms in which a new row is uncovered
const REPORT = 350; // ms without a change before Python is notified of a step

/**
 * @param {Component} component
 * @returns {Player}
 */
function create(component) {
  /** @type {HTMLElement} */
  const root = component.parentElement.querySelector(".player");
  const named = new Map(
    [.../** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-is]"))].map((node) => [
      node.dataset.is,
      node,
    ]),
  );
  const it = /** @type {Player} */ ({
    root,
    $: (name) => /** @type {any} */ (named.get(name)),
    step: 0,
    range: "fixed",
    warm: -1,
    cutK: 0,
    cutP: -1,
    playing: false,
    twins: [],
    beyond: 0,
    since: 0,
    raf: 0,
    timer: 0,
  });
  it.go = (step, report) => go(it, step, report);
  return it;
}

/**
 * @param {Player} it
 * @param {Component} component
 */
export function receive(it, { data, setStateValue, setTriggerValue }) {
  const renewed = it.meta?.revision !== data.meta.revision;
  const parted = data.meta.branch && it.meta?.branch?.revision !== data.meta.branch.revision;
  const led = !renewed && it.led !== data.meta.led; // to another step, not by the visitor
  const flat = (table) => table.getChild("w").toArray();
  Object.assign(it, {
    meta: data.meta,
    rows: flat(data.rows),
    own: flat(data.own),
    other: flat(data.other),
    heat: data.heat ? flat(data.heat) : new Float32Array(0),
    setStateValue,
    setTriggerValue,
    say: speaker(data.meta.words),
  });
  it.columns = it.meta.columns.length;
  it.count = it.meta.steps.length;
  it.led = it.meta.led;
  if (renewed || led) {
    rest(it);
    it.step = it.reported = it.meta.start;
    it.reading = it.meta.reading;
  }
  if (renewed) it.warm = -1; // it begins at the temperature of this text
  if (led) tell(it);
  if (renewed || parted || !data.meta.branch) it.beyond = 0;
  const parting = parted && !renewed && it.meta.follows && it.meta.branch.parts !== null;
  it.step = clamp(parting ? it.meta.branch.parts : it.step, 0, it.count - 1);
  if (parting) later(it); // what Python draws of the step moves along
}

/** @param {Player} it */
function draw(it) {
  paint(it);
  build(it);
  buildCost(it);
  fit(it);
  measure(it);
  if (it.$("details").open) buildTable(it);
  refresh(it);
}

/** @param {Player} it */
function refresh(it, reveal = 1) {
  show(it);
  drawMatrix(it, reveal);
  drawCurve(it);
}

/** @param {Player} it */
function go(it, step, report) {
  const to = clamp(step, 0, it.count - 1);
  it.beyond = clamp(step - to, 0, Math.max(0, it.twins.length - it.count));
  const grown = to === it.step + 1 && !calm();
  it.step = to;
  it.since = performance.now();
  refresh(it, grown ? 0 : 1);
  if (grown && !it.playing) animate(it);
  if (report) later(it);
  tellPlace(it);
}

/**
 * Followers of the player are notified of its step.
 * @param {Player} it
 */
const tellPlace = (it) =>
  sendSteps("at", { record: it.meta.revision, step: it.step, count: it.count, playing: it.playing });

/** @param {Player} it */
function onAsked(it, { to, by, play: playing, where }) {
  if (to !== undefined) stepTo(it, to);
  if (by !== undefined) stepTo(it, placeOf(it) + by);
  if (playing) play(it);
  if (where) tellPlace(it);
}

/**
 * Python is notified of a step when the visitor pauses at it: never during playback.
 * @param {Player} it
 */
function later(it) {
  clearTimeout(it.timer);
  it.timer = setTimeout(() => {
    if (!it.playing && it.reported !== it.step) tell(it);
  }, REPORT);
}

/** @param {Player} it */
function tell(it) {
  it.reported = it.step;
  it.setStateValue("place", { revision: it.meta.revision, step: it.step, reading: it.reading });
}

/** @param {Player} it */
function animate(it) {
  cancelAnimationFrame(it.raf);
  it.raf = requestAnimationFrame((time) => tick(it, time));
}

/** @param {Player} it */
function tick(it, time) {
  const elapsed = time - it.since;
  const interval = 1000 / Number(it.$("speed").value);
  if (it.playing) {
    const next = advance(placeOf(it), lengthOf(it), elapsed, interval);
    if (next.moved) go(it, next.step, false);
    if (next.ended) return stop(it, true, true);
  }
  const reveal = calm() ? 1 : clamp((time - it.since) / Math.min(REVEAL, interval * 0.6), 0, 1);
  if (elapsed < interval && it.drawn !== `${it.step} ${reveal}`) uncover(it, reveal);
  it.drawn = `${it.step} ${reveal}`;
  if (it.playing || reveal < 1) animate(it);
}

/** @param {Player} it */
function play(it) {
  if (it.playing) return stop(it, true);
  if (lengthOf(it) < 2) return;
  it.playing = true;
  mark(it);
  go(it, placeOf(it) === lengthOf(it) - 1 ? 0 : placeOf(it), false);
  animate(it);
}

/**
 * Discard the state of the previous record.
 * @param {Player} it
 */
function rest(it) {
  cancelAnimationFrame(it.raf);
  clearTimeout(it.timer);
  it.playing = false;
  mark(it);
}

/**
 * `settle`: the last row is still being uncovered.
 * @param {Player} it
 */
function stop(it, report, settle = false) {
  it.playing = false;
  mark(it);
  refresh(it, settle && !calm() ? 0 : 1);
  if (settle) animate(it);
  if (report) later(it);
}

/** @param {Player} it */
function mark(it) {
  it.$("play").classList.toggle("playing", it.playing);
  it.$("play").setAttribute("aria-label", it.say(it.playing ? "pause" : "play"));
  tellPlace(it);
}

/** @param {Player} it */
function stepTo(it, to) {
  if (it.playing) stop(it, false);
  go(it, to, true);
}

/** @param {Player} it */
function rename(it, reading) {
  it.reading = reading;
  refresh(it);
  tell(it);
}

/** @param {Player} it */
function shadeBy(it, range) {
  it.range = range;
  it.image = rowsImage(it);
  refresh(it);
}

/**
 * Ask Python for a branch at this step, by a candidate's id or by a typed text; or what to do with the branch.
 * @param {Player} it
 */
function ask(it, wish) {
  if (it.playing) stop(it, false);
  it.setTriggerValue("ask", { revision: it.meta.revision, step: it.step, ...wish });
}

/** @param {Player} it */
function onSubmit(it, event) {
  event.preventDefault();
  const field = it.$("said");
  const text = field.value;
  field.setCustomValidity(text.trim() ? "" : it.say("ask_blank")); // the browser says it at the field
  if (field.reportValidity()) ask(it, { text });
}

/** @param {Player} it */
function onKey(it, event, anywhere) {
  const target = event.composedPath()[0];
  if (event.altKey || event.ctrlKey || event.metaKey || target.tagName === "SELECT") return;
  if (target.matches?.("input[type=text], [data-is=temperature]")) return;
  if (target.dataset?.token && [" ", "Enter"].includes(event.key))
    return void (event.preventDefault(), event.stopPropagation(), target.click());
  const way = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (target.dataset?.token && way)
    return void (event.preventDefault(), event.stopPropagation(), moveBar(it, target, way));
  const keys = { ArrowLeft: placeOf(it) - 1, ArrowRight: placeOf(it) + 1, Home: 0, End: lengthOf(it) - 1 };
  const space = event.key === " " && target.tagName !== "BUTTON" && target.tagName !== "SUMMARY" && !anywhere;
  if (!space && !(event.key in keys)) return;
  if (anywhere && !event.key.startsWith("Arrow")) return;
  event.preventDefault();
  event.stopPropagation();
  if (space) play(it);
  else stepTo(it, keys[event.key]);
}

/** @param {Player} it */
function onPointer(it, event) {
  const cell = it.place && cellAt(it.place, ...pointOn(it.$("matrix"), event));
  if (!cell || cell.row > it.step) return void (it.$("axes").textContent = readingOf(it.meta, it.step));
  const weight = rowOf(it.rows, it.columns, cell.row, it.meta.scale)[cell.column];
  const { reads, predicts } = it.meta.steps[cell.row];
  it.$("axes").textContent = it.say(it.meta.plain ? "cell_plain" : "cell", {
    row: cell.row + 1,
    reads,
    predicts,
    column: it.meta.columns[cell.column],
    weight: weightSaid(it.meta, weight),
  });
}

/** @param {Player} it */
function listen(it) {
  const { $ } = it;
  $("first").onclick = () => stepTo(it, 0);
  $("back").onclick = () => stepTo(it, placeOf(it) - 1);
  $("next").onclick = () => stepTo(it, placeOf(it) + 1);
  $("play").onclick = () => play(it);
  $("scrub").oninput = () => stepTo(it, Number($("scrub").value));
  $("matrix").onpointermove = (event) => onPointer(it, event);
  $("matrix").onpointerleave = () => ($("axes").textContent = readingOf(it.meta, it.step));
  $("matrix").onclick = (event) => {
    const cell = cellAt(it.place, ...pointOn($("matrix"), event));
    if (cell) stepTo(it, cell.row);
    if (cell) sayTouched(it.root, { row: cell.row, column: cell.column });
  };
  $("bars").onclick = (event) => {
    const bar = /** @type {Element} */ (event.target).closest("li"),
      token = bar?.dataset.token;
    const label = bar?.querySelector(".name").textContent;
    if (bar && sayTouched(it.root, { candidate: label, frame: it.step })) return; // an answer, not a branch
    if (token) ask(it, { token: Number(token) });
  };
  $("frames").addEventListener("click", ({ target }) => {
    const frame = it.frames.findIndex((one) => one.contains(/** @type {Element} */ (target)));
    if (frame >= 0) sayTouched(it.root, { frame });
  });
  $("source").onclick = ({ target }) => {
    const word = it.segments.find(({ node }) => node === target);
    if (word?.columns.length) sayTouched(it.root, { column: word.columns[0], frame: it.step });
  };
  $("ask").onsubmit = (event) => onSubmit(it, event);
  $("said").oninput = () => $("said").setCustomValidity("");
  $("temperature").oninput = () => {
    it.warm = Number($("temperature").value);
    showDegrees(it);
    show(it);
  };
  $("cut-k").onchange = () => ((it.cutK = Number($("cut-k").value)), show(it));
  $("cut-p").onchange = () => ((it.cutP = Number($("cut-p").value)), show(it));
  $("draw").onclick = () => {
    const { temperatures, shares } = it.meta.heat;
    const share = it.cutP < 0 ? 1 : shares[it.cutP];
    ask(it, { wish: "draw", temperature: temperatures[it.warm], top_k: it.cutK, top_p: share });
  };
  for (const name of ["adopt", "drop"]) $(name).onclick = () => ask(it, { wish: name });
  for (const name of ["predicts", "reads"]) $(name).onclick = () => rename(it, name);
  for (const name of ["fixed", "row"]) $(name).onclick = () => shadeBy(it, name);
  $("details").ontoggle = () => $("details").open && buildTable(it);
  it.root.onkeydown = (event) => onKey(it, event, false);
  it.anywhere = (event) => it.meta.page_keys !== false && isNowhere(event.target) && onKey(it, event, true);
  document.addEventListener("keydown", it.anywhere);
  const [unfollow, unlight] = [
    onSteps(
      "ask",
      () => it.meta.revision,
      (asked) => onAsked(it, asked),
    ),
    onLight((label) => light(it, label)),
  ];
  it.unfollowed = () => (unfollow(), unlight());
  it.resized = new ResizeObserver(() => it.frames && (fit(it), measure(it), refresh(it)));
  for (const node of [it.root, document.documentElement]) it.resized.observe(node); // its room is the window's
}

/**
 * The places of a word that a lesson names: in the source, in the output, among the candidates; null for none.
 * @param {Player} it
 * @param {string | null} label
 */
function light(it, label) {
  for (const name of /** @type {const} */ (["source", "output", "bars"]))
    for (const node of it.$(name).children) {
      const said = (node.querySelector(".name") ?? node).textContent.trim();
      node.classList.toggle("lit", label !== null && said === label);
    }
}

export default function (component) {
  const { parentElement } = component;
  let it = STATES.get(parentElement);
  if (!it || !it.root.isConnected) {
    it = create(component);
    STATES.set(parentElement, it);
    receive(it, component);
    listen(it);
  } else receive(it, component);
  draw(it);
  tellPlace(it);
  markReady(component.parentElement);
  return () => {
    it.unfollowed();
    cancelAnimationFrame(it.raf);
    clearTimeout(it.timer);
    it.resized.disconnect();
    document.removeEventListener("keydown", it.anywhere);
    STATES.delete(parentElement);
  };
}
