// What the player draws. Tokens reach the page through textContent and fillText alone.

/** @import { Bar, Heat, Kind, Player, Step } from "./types.js" */
import { across, css, inkOn, rampOn, strongOf, themeOf } from "../shared/colors.js";
import { roomBelow, typeSize } from "../shared/drawing.js";
import { clamp, filled, make, nameAll } from "../shared/helpers.js";
import { percent, weightSaid } from "../shared/percentages.js";
import {
  MARKS,
  PLAIN_MARKS,
  barsOf,
  cutBars,
  cutOf,
  frameWidth,
  fullShade,
  kinship,
  lookedAt,
  massOf,
  onScale,
  pieceOf,
  quantity,
  readingOf,
  restOf,
  rowOf,
  scientific,
  sentenceOf,
  shade,
  fineShare,
  sideOf,
  signed,
} from "./numbers.js";

const [FEWEST_BARS, MOST_BARS, MOST_PLAIN] = [5, 10, 6];
const BELOW = 8; // pixels of air

/**
 * Theme and data -> colours: the kind's ramp of this theme, and plain colours for canvas.
 * @param {Player} it
 */
export function paint(it) {
  const theme = themeOf(it.root),
    { ramps } = it.meta;
  const colors = Object.fromEntries(Object.entries(ramps).map(([kind, both]) => [kind, rampOn(theme, both)]));
  it.colors = {
    ...theme,
    masked: css(theme.masked),
    ramps: colors,
    strong: Object.fromEntries(Object.entries(colors).map(([kind, table]) => [kind, strongOf(theme, table)])),
  };
  for (const [kind, value] of Object.entries(it.colors.strong)) it.root.style.setProperty(`--${kind}`, value);
  it.root.style.colorScheme = theme.dark ? "dark" : "light";
  it.root.style.setProperty("--kind", it.colors.strong[it.meta.kind]);
  it.root.style.setProperty("--ramp", across(colors[it.meta.kind]));
  it.words = Object.fromEntries(
    Object.entries(it.meta.colors).map(([name, places]) => [
      name,
      places.map((place) => it.meta.palette[theme.dark ? 1 : 0][place]),
    ]),
  );
  it.image = rowsImage(it);
}

/** Underline a word in its colour, if it has one. */
const colored = (node, color) => node.style.setProperty("--word", color ?? "transparent");

/**
 * Every row of the matrix, one pixel a cell; playback uncovers it.
 * @param {Player} it
 */
export function rowsImage(it) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [it.columns, it.count];
  const context = canvas.getContext("2d");
  const image = context.createImageData(it.columns, it.count);
  const table = it.colors.ramps[it.meta.kind];
  for (let row = 0; row < it.count; row++) {
    const weights = rowOf(it.rows, it.columns, row, it.meta.scale);
    const full = fullShade(weights, it.range);
    weights.forEach((weight, i) => image.data.set([...shade(table, weight / full), 255], (row * it.columns + i) * 4));
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/**
 * What stays the same for every step: the source text, the chips, the frames, the titles.
 * @param {Player} it
 */
export function build(it) {
  const { meta, $ } = it;
  writeWords(it);
  for (const [part, title] of Object.entries(meta.titles)) $(`${part}-title`).textContent = title;
  it.segments = segmentsOf(it);
  $("source").replaceChildren(...it.segments.map(({ node }) => node));
  const letters = meta.source.reduce((sum, [text]) => sum + text.length, 0);
  it.short = letters <= 80;
  $("source").classList.toggle("short", it.short);
  $("source").classList.toggle("long", letters > 200);
  it.chips = meta.reads.slice(meta.first).map(([label, special, joined], i) => {
    const node = make(
      "span",
      `${special ? "special" : "token"}${joined && i ? " joined" : ""}`,
      pieceOf(label, joined && i),
    );
    if (special) node.dir = "ltr"; // it says nothing about the direction of the text around it
    colored(node, it.words.reads[meta.first + i]);
    return { node, column: meta.first + i };
  });
  it.now = make("span", "now");
  $("output").replaceChildren(...it.chips.map(({ node }) => node), make("span", "arrow", "→"), it.now);
  $("output").classList.toggle("long", it.count > 24);
  $("ask").hidden = !meta.asks;
  it.frames = meta.steps.map((step, i) => frame(it, step, i));
  $("frames").replaceChildren(...it.frames);
  buildTwins(it);
  buildHeat(it);
  const all = [...meta.steps, ...(meta.branch?.steps ?? [])];
  it.root.classList.toggle(
    "tagged",
    all.some((step) => step.tag),
  );
  const length = lengthOf(it);
  $("scrub").max = String(length - 1);
  $("scrub").hidden = length < 2;
  for (const name of /** @type {const} */ (["first", "back", "play", "next"])) $(name).disabled = length < 2;
  it.root.style.setProperty("--steps", String(length));
}

/**
 * The words of the markup, in the reader's language.
 * @param {Player} it
 */
function writeWords(it) {
  nameAll(it.root, it.say);
  it.$("costs").hidden = !it.meta.costs;
  it.root.classList.toggle("plain", it.meta.plain);
  it.$("scale").replaceChildren(...scaleMarks(it));
  it.$("naming").hidden = !it.meta.naming;
  it.root.setAttribute("aria-label", it.say("player"));
  it.$("said").placeholder = it.say("ask");
  for (const option of it.$("speed").options) option.textContent = it.say("pace", { count: Number(option.value) });
}

/**
 * The axis of the bars: its marks, and that each stands for ten times as much, if it does.
 * @param {Player} it
 */
function scaleMarks(it) {
  const { plain } = it.meta;
  const marks = (plain ? PLAIN_MARKS : MARKS).map(({ at, label }) => {
    const node = make("span", "", label);
    node.style.left = `${at * 100}%`;
    return node;
  });
  const axis = make("div", "axis");
  axis.append(...marks);
  return plain ? [axis] : [axis, make("span", "tenfold", it.say("tenfold"))];
}

/**
 * The second strip and the two texts shaded by both rows; hidden where there is no branch.
 * @param {Player} it
 */
function buildTwins(it) {
  const { meta, $ } = it;
  const branch = meta.branch;
  for (const name of ["twins", "twin", "which"]) $(name).hidden = !branch;
  it.root.classList.toggle("branched", Boolean(branch));
  it.twins = [];
  if (!branch) return;
  $("course").textContent = branch.said;
  it.twins = branch.steps.map((step, i) => {
    const node = frame(it, step, i);
    const kin = kinship(branch, i, 1);
    if (kin) node.classList.add(kin);
    return node;
  });
  $("twin").replaceChildren(...it.twins);
  it.pair = ["main-source", "branch-source"].map((name) => {
    const made = segmentsOf(it);
    $(name).replaceChildren(...made.map(({ node }) => node));
    return made;
  });
  it.written = [meta.steps, branch.steps].map((steps, side) => steps.map((step, i) => written(it, step, i, side)));
  for (const [side, name] of ["main-written", "branch-written"].entries()) {
    $(name).replaceChildren(...it.written[side]);
    $(name).classList.toggle("long", lengthOf(it) > 24);
  }
}

/**
 * A token of one of the two written texts, marked where they differ.
 * @param {Player} it
 * @param {Step} step
 * @param {number} side 0 for the main text, 1 for the branch
 */
function written(it, step, i, side) {
  const node = make("span", step.special ? "special" : "token", pieceOf(step.predicts, step.joined && i > 0));
  if (step.joined && i) node.classList.add("joined");
  node.classList.add(kinship(it.meta.branch, i, side) || "differs");
  node.title = it.say("frame", { step: i + 1, token: step.predicts, share: percent(step.probability) });
  node.onclick = () => it.go(i, true);
  return node;
}

/** @param {Player} it */
const segmentsOf = (it) =>
  it.meta.source.map(([text, columns, special]) => {
    const node = make("span", special ? "special" : columns.length ? "token" : "", text);
    if (special) node.dir = "ltr";
    colored(node, it.words.columns[columns[0]]);
    return { node, columns };
  });

/** @param {Player} it */
function frame(it, step, i) {
  const { tag } = step,
    share = percent(step.probability);
  const node = make("div", `frame${tag ? " ruled" : ""}`);
  const well = make("div", "well"),
    bar = make("i");
  bar.style.height = `${Math.max(0, step.probability) * 100}%`;
  well.append(bar);
  node.append(make("div", "tag", tag), well, make("div", "name", step.predicts));
  node.title = it.say(tag ? "frame_rule" : "frame", { step: i + 1, token: step.predicts, share, rule: step.decided });
  node.onclick = () => it.go(i, true);
  return node;
}

/**
 * How many bars have room beside that of all others, the axis and the note of the step; few for a beginner.
 * @param {HTMLElement} bars
 * @param {boolean} plain
 */
function roomFor(bars, plain) {
  const parts = /** @type {HTMLElement[]} */ ([...bars.parentElement.children]);
  const taken = parts.reduce((sum, node) => sum + (node === bars ? 0 : node.offsetHeight + 4), 0);
  const row = parseFloat(getComputedStyle(bars).gridAutoRows) + 3;
  return clamp(
    Math.floor((bars.parentElement.clientHeight - taken) / row) - 1,
    FEWEST_BARS,
    plain ? MOST_PLAIN : MOST_BARS,
  );
}

/**
 * The room of the picture, so that what is pressed below it is on the screen. Where the picture would be too low for what
 * it holds, the type is smaller than the page's.
 * @param {Player} it
 */
function makeRoom({ root, $ }) {
  const size = typeSize(root),
    stage = $("stage");
  const pixels = (node, name) => parseFloat(getComputedStyle(node).getPropertyValue(name)) || 0;
  root.style.zoom = String(size);
  const lowest = pixels(stage, "min-height");
  if (!lowest) return; // a narrow window, where the page scrolls
  const [whole, picture, pressed] = [root, stage, $("strip")].map((node) => node.getBoundingClientRect());
  const around = (pressed.bottom - whole.top - picture.height) / size + BELOW;
  const lesson = pixels(root, "--bv-strip"); // it covers the page above
  const seen = lesson ? innerHeight - lesson - BELOW : roomBelow(root);
  const zoom = clamp(seen / (around + lowest), 1, size);
  root.style.zoom = String(zoom);
  root.style.setProperty("--room", `${seen / zoom - around}px`);
}

/**
 * What depends on the size: the width of a frame; all of them where they fit, else the film scrolls.
 * @param {Player} it
 */
export function fit(it) {
  makeRoom(it);
  const source = it.$("source");
  source.classList.toggle("short", it.short);
  if (source.scrollHeight > source.clientHeight + 2) source.classList.remove("short"); // smaller type, and all of it
  const width = frameWidth(it.$("film").clientWidth, lengthOf(it));
  it.root.style.setProperty("--frame", `${width}px`);
  const scrolls = it.root.classList.toggle("scrolls", width * lengthOf(it) > it.$("film").clientWidth + 1);
  it.$("film").tabIndex = scrolls ? 0 : -1; // a stop of the Tab key only where there is something to move
  const { encoder, table } = it.meta.cost;
  it.cell = clamp(
    Math.floor((it.lanes[0].lane.clientWidth || 200) / Math.max(encoder?.tokens ?? 0, table.all_rows.at(-1))),
    1,
    14,
  );
  it.root.style.setProperty("--cell", `${it.cell}px`);
}

/**
 * Everything that belongs to the current step, without the canvases.
 * @param {Player} it
 */
export function show(it) {
  const { meta, $ } = it;
  const step = meta.steps[it.step];
  const row = rowOf(it.rows, it.columns, it.step, meta.scale);
  const own = meta.kind === "cross" ? rowOf(it.own, meta.reads.length, it.step, meta.scale) : row;
  const looked = meta.branch ? showTwins(it, row) : showSource(it, row);
  showOutput(it, own, step);
  showChoice(it, step);
  $("sentence").setAttribute("aria-live", it.playing ? "off" : "polite");
  $("sentence").textContent = sentenceOf(meta, it.step, row) + ending(it);
  $("axes").textContent = readingOf(meta, it.step);
  $("matrix").setAttribute(
    "aria-label",
    it.say("matrix", { step: it.step + 1, count: it.count, said: $("sentence").textContent }),
  );
  $("curve").setAttribute(
    "aria-label",
    it.say("curve", {
      step: it.step + 1,
      log_p: signed(step.running_log_probability),
      entropy: signed(step.entropy_bits),
    }),
  );
  $("counter").textContent = `${placeOf(it) + 1} / ${lengthOf(it)}`;
  $("scrub").value = String(placeOf(it));
  $("scrub").setAttribute("aria-valuetext", placeSaid(it));
  for (const name of ["predicts", "reads"]) $(name).setAttribute("aria-pressed", String(it.reading === name));
  for (const name of ["fixed", "row"]) $(name).setAttribute("aria-pressed", String(it.range === name));
  it.frames.forEach((node, i) => {
    node.classList.toggle("done", i < it.step);
    node.classList.toggle("current", i === placeOf(it));
  });
  it.twins.forEach((node, i) => {
    node.classList.toggle("done", i < placeOf(it));
    node.classList.toggle("current", i === placeOf(it));
  });
  showCost(it);
  for (const [box, node] of looked) if (node) keepInView(box, node, "y"); // positions are read after everything was written
  keepInView($("output"), it.now, "y");
  keepInView($("film"), it.twins[placeOf(it)] ?? it.frames[it.step], "x");
}

/**
 * How many steps there are to play: those of the longer strip.
 * @param {Player} it
 */
export const lengthOf = (it) => Math.max(it.count, it.twins.length);

/**
 * The step that both strips show: beyond the main text's end where the branch is longer and the visitor went there.
 * @param {Player} it
 */
export const placeOf = (it) => it.step + (it.beyond ?? 0);

/**
 * The place in words: the branch's step where the main text has ended already.
 * @param {Player} it
 */
function placeSaid(it) {
  const at = placeOf(it),
    { predicts, probability } = at < it.count ? it.meta.steps[at] : it.meta.branch.steps[at];
  return it.say("place", { step: at + 1, count: lengthOf(it), token: predicts, share: percent(probability) });
}

/** @param {Player} it */
const ending = (it) => (it.step === it.count - 1 && it.meta.stopped ? ` ${it.say("stopped", it.meta)}` : "");

/** @param {Player} it */
function shadeChip(it, node, table, weight, full) {
  const color = shade(table, weight / full);
  node.style.backgroundColor = css(color);
  node.style.color = weight / full > 0.02 ? inkOn(color) : "";
  node.title = it.say("weight", { weight: weightSaid(it.meta, weight) });
}

/** @param {Player} it */
const showSource = (it, row) => [[it.$("source"), shadeText(it, it.segments, row)]];

/**
 * Both written texts, and the source twice: where the main text looks at this step, and where the branch does.
 * @param {Player} it
 */
function showTwins(it, row) {
  const { meta, $ } = it;
  const { branch } = meta;
  const at = placeOf(it);
  const none = new Float32Array(branch.columns);
  const other = at < branch.steps.length ? rowOf(it.other, branch.columns, at, meta.scale) : none;
  $("main-said").textContent = sideOf(meta, it.say("main"), meta.steps, at);
  $("branch-said").textContent = sideOf(meta, it.say("branch"), branch.steps, at);
  const rows = [at < it.count ? row.subarray(0, branch.columns) : none, other];
  for (const tokens of it.written) tokens.forEach((node, i) => node.classList.toggle("current", i === at));
  return [
    ...["main-source", "branch-source"].map((name, i) => [$(name), shadeText(it, it.pair[i], rows[i])]),
    ...["main-written", "branch-written"].map((name, i) => [$(name), it.written[i][at]]),
  ];
}

/**
 * Shade the segments of a text by one row of weights; gives the one that is looked at most.
 * @param {Player} it
 */
function shadeText(it, segments, row) {
  const table = it.colors.ramps[it.meta.kind];
  const full = fullShade(row, it.range);
  const seen = segments.filter(({ columns, node }) => columns.length && !node.classList.contains("special"));
  const best = seen.reduce((a, b) => (a && massOf(row, a.columns) >= massOf(row, b.columns) ? a : b), null)?.columns[0];
  let looked = null;
  for (const { node, columns } of segments) {
    if (!columns.length) continue;
    shadeChip(it, node, table, massOf(row, columns), full);
    node.classList.toggle("looked", columns.includes(best));
    if (columns.includes(best)) looked = node;
  }
  return looked;
}

/**
 * What was written, shaded by where the row looks in it: for a beginner only where that is the text that is read.
 * @param {Player} it
 */
function showOutput(it, own, step) {
  const table = it.colors.ramps.decoder;
  const full = fullShade(own, it.range);
  const shaded = !it.meta.plain || it.meta.kind !== "cross";
  for (const { node, column } of it.chips) {
    node.hidden = column > step.row;
    if (node.hidden) continue;
    if (shaded) shadeChip(it, node, table, own[column], full);
    node.classList.toggle("reads", column === step.row);
    if (shaded && column === step.row)
      node.title = it.say("reads_weight", { weight: weightSaid(it.meta, own[column]) });
  }
  it.now.textContent = step.predicts;
  it.now.className = `now${step.special ? " special" : ""}`;
  colored(it.now, it.words.predicts[step.row]);
  it.now.title = it.say("predicted", { share: percent(step.probability) });
}

/**
 * @param {Player} it
 * @param {Step} step
 */
function showChoice(it, step) {
  const { $, meta } = it;
  $("note").textContent = meta.plain ? step.why : step.note;
  let bars = barsOf(step, roomFor($("bars"), meta.plain), meta.plain);
  let count = meta.vocabulary - bars.length;
  const heat = heatOf(it),
    changed = heat && (heat.temperatures[it.warm] !== 1 || it.cutK > 0 || it.cutP >= 0);
  if (changed) {
    const cut = cutOf(step, heat, { warm: it.warm, k: it.cutK, p: it.cutP }, meta.vocabulary);
    bars = cutBars(bars, cut);
    count = Math.max(0, cut.count - bars.filter((bar) => !bar.cut).length);
  }
  const rest = count > 0 ? restOf(bars) : 0;
  const others = { count: count === 1 ? 1 : count.toLocaleString("en"), share: shareSaid(it, rest) };
  $("choice-title").textContent = changed
    ? it.say("heated", { temperature: heat.temperatures[it.warm].toFixed(1) })
    : bars.length < step.candidates.length && !meta.plain
      ? filled(meta.some, { shown: bars.length, count: step.candidates.length })
      : meta.titles.choice;
  while ($("bars").children.length <= bars.length) $("bars").append(emptyBar());
  while ($("bars").children.length > bars.length + 1) $("bars").lastChild.remove();
  bars.forEach((bar, i) => showBar(it, /** @type {HTMLElement} */ ($("bars").children[i]), bar));
  showRest(it, /** @type {HTMLElement} */ ($("bars").lastElementChild), rest, others, count);
  holdBar(it);
  $("sums").textContent = [
    it.say("sums", { log_p: signed(step.log_probability), entropy: signed(step.entropy_bits) }),
    it.say("sums_so_far", { log_p: signed(step.running_log_probability), p: scientific(step.running_probability) }),
  ].join("\n");
}

/**
 * The numbers of this step at each temperature; null where the model is not here.
 * @param {Player} it
 * @returns {Heat | null}
 */
function heatOf(it) {
  const { heat } = it.meta;
  if (!heat?.ready) return null;
  const size = heat.temperatures.length * (1 + 3 * heat.shares.length);
  return { ...heat, rows: it.heat.subarray(it.step * size, (it.step + 1) * size) };
}

/**
 * The slider of the temperature and the choices of the cut: as many as the candidates let be exact.
 * @param {Player} it
 */
function buildHeat(it) {
  const { $, meta } = it;
  $("heat").hidden = !meta.heat;
  if (!meta.heat) return;
  const { temperatures, shares, draws, ready, begin } = meta.heat;
  for (const name of /** @type {const} */ (["temperature", "cut-k", "cut-p"])) $(name).disabled = !ready;
  if (it.warm < 0) [it.warm, it.cutK, it.cutP] = [begin.warm, begin.k, begin.p];
  $("temperature").max = String(temperatures.length - 1);
  $("temperature").value = String(it.warm);
  $("draw").hidden = !draws;
  const drawn = meta.steps.some(({ candidates: [first] }) => first?.[4] != null);
  $("draw").textContent = it.say(drawn ? "draw_again" : "draw");
  const fewest = Math.min(...meta.steps.map(({ candidates }) => candidates.length));
  const sizes = [1, 2, 3, 5, 10].filter((size) => size <= fewest);
  if (!sizes.includes(it.cutK)) it.cutK = 0;
  const option = (value, text) => Object.assign(make("option", "", text), { value: String(value) });
  $("cut-k").replaceChildren(option(0, it.say("no_cut")), ...sizes.map((size) => option(size, String(size))));
  $("cut-p").replaceChildren(option(-1, it.say("no_cut")), ...shares.map((share, i) => option(i, String(share))));
  $("cut-k").value = String(it.cutK);
  $("cut-p").value = String(it.cutP);
  showDegrees(it);
}

/** @param {Player} it */
export function showDegrees(it) {
  const degrees = it.meta.heat.temperatures[it.warm].toFixed(1);
  it.$("degrees").textContent = degrees;
  it.$("temperature").setAttribute("aria-valuetext", degrees);
}

/**
 * @param {Player} it
 * @param {HTMLElement} node
 * @param {Bar} bar
 */
function showBar(it, node, { label, p, chosen, outside, token, drawn, cut }) {
  const open = it.meta.asks && !chosen;
  drawBar(it, node, label, p, drawn);
  node.classList.toggle("cut", Boolean(cut));
  if (cut) elementsOf(node)[2].textContent = it.say("cut_off");
  node.classList.toggle("chosen", chosen);
  node.classList.remove("rest");
  if (outside) elementsOf(node)[0].title = it.say("outside", { token: label });
  node.setAttribute(
    "aria-label",
    it.say(barMessage(chosen, drawn, it.meta.asks), {
      token: label,
      share: shareSaid(it, p),
      drawn: drawn === null ? "" : percent(drawn),
    }),
  );
  node.title = drawn !== null ? node.getAttribute("aria-label") : open ? it.say("instead", { token: label }) : "";
  node.dataset.token = open ? String(token) : "";
  node.setAttribute("role", open ? "button" : "img");
}

/**
 * The bars that can be chosen.
 * @param {Player} it
 */
const openBars = (it) =>
  /** @type {HTMLElement[]} */ ([...it.$("bars").children]).filter(({ dataset }) => dataset.token);

/**
 * The Tab key reaches one bar, from which the arrow keys lead to the others (`moveBar`): the one that has the focus, else
 * the first.
 * @param {Player} it
 * @param {HTMLElement | null} held
 */
function holdBar(it, held = null) {
  const open = openBars(it),
    root = /** @type {Document | ShadowRoot} */ (it.$("bars").getRootNode());
  const kept = held ?? open.find((bar) => bar === root.activeElement) ?? open[0];
  for (const bar of /** @type {HTMLElement[]} */ ([...it.$("bars").children])) bar.tabIndex = bar === kept ? 0 : -1;
}

/**
 * The bar before or after the one that has the focus.
 * @param {Player} it
 * @param {HTMLElement} from
 * @param {number} by
 */
export function moveBar(it, from, by) {
  const open = openBars(it),
    next = open[open.indexOf(from) + by];
  if (!next) return;
  holdBar(it, next);
  next.focus();
}

/**
 * The last bar: all tokens that have none of their own.
 * @param {Player} it
 * @param {HTMLElement} node
 */
function showRest(it, node, p, others, count) {
  drawBar(it, node, count ? it.say(it.meta.plain ? "rest_words" : "rest", others) : it.say("rest_none"), p, null);
  node.classList.remove("chosen", "cut");
  node.classList.add("rest");
  node.setAttribute("aria-label", it.say("others", others));
  node.title = node.getAttribute("aria-label");
  node.dataset.token = "";
  node.setAttribute("role", "img");
}

/**
 * The name, the length and the number of a bar, which moves without a new layout.
 * @param {Player} it
 */
function drawBar(it, node, label, p, drawn) {
  const long = (share) => (it.meta.plain ? share : onScale(share));
  const [name, track, value] = elementsOf(node);
  const [filling, mark] = elementsOf(track);
  name.textContent = name.title = label;
  filling.style.transform = `scaleX(${long(p)})`;
  mark.hidden = drawn === null;
  mark.style.left = `${long(drawn ?? 0) * 100}%`;
  value.textContent = shareSaid(it, p);
}

/**
 * The share of a bar, in sentences and on its axis: a beginner's as everywhere on the page, others' with two digits.
 * @param {Player} it
 */
const shareSaid = (it, p) => (it.meta.plain ? percent(p) : fineShare(p));

/** The name of a bar's message: it says what a click does, where there is somebody to ask. */
function barMessage(chosen, drawn, asks) {
  if (drawn !== null) return chosen || !asks ? "bar_drawn" : "bar_draws";
  return chosen ? "bar_chosen" : asks ? "bar" : "bar_only";
}

/** @param {HTMLElement} node */
const elementsOf = (node) => /** @type {HTMLElement[]} */ ([...node.children]);

function emptyBar() {
  const node = make("li"),
    track = make("span", "track");
  track.append(make("i"), make("span", "drawn"));
  node.append(make("span", "name"), " ", track, " ", make("span", "value")); // spaces for screen readers
  return node;
}

// Scroll a box (never the page) until a child of it is seen, clear of the 1.6em at its end where a text fades out.
function keepInView(box, child, axis) {
  const [start, size, client] =
    axis === "x" ? ["offsetLeft", "offsetWidth", "clientWidth"] : ["offsetTop", "offsetHeight", "clientHeight"];
  const scroll = axis === "x" ? "scrollLeft" : "scrollTop";
  if (axis === "y" && box.scrollHeight <= box.clientHeight) return;
  const at = child[start] - box[start];
  const faded = axis === "y" ? 1.6 * parseFloat(getComputedStyle(box).fontSize) : 0;
  if (at < box[scroll] || at + child[size] > box[scroll] + box[client] - faded)
    box[scroll] = at - (box[client] - child[size]) / 2;
}

/**
 * What is computed now and what is reused, in lanes of one cell a token.
 * @param {Player} it
 */
export function buildCost(it) {
  const { cost } = it.meta;
  /** @type {[kind: Kind, name: string][]} */
  const names = [["decoder", it.say("lane_decoder")]];
  if (cost.encoder) names.unshift(["encoder", it.say("lane_encoder")], ["cross", it.say("lane_cross")]);
  it.lanes = names.map(([kind, name]) => {
    const lane = make("div", "lane"),
      reused = make("i", "reused"),
      fresh = make("i"),
      said = make("div", "said"),
      box = make("dd");
    lane.style.setProperty("--color", it.colors.strong[kind]);
    lane.append(reused, fresh);
    box.append(lane, said);
    return { kind, name: make("dt", "", name), box, lane, reused, fresh, said };
  });
  it.$("lanes").replaceChildren(...it.lanes.flatMap(({ name, box }) => [name, box]));
}

/** @param {Player} it */
function showCost(it) {
  const { cost } = it.meta;
  const at = (name) => cost.table[name][it.step];
  const source = cost.encoder ? cost.encoder.tokens : 0;
  const first = it.step === 0;
  for (const lane of it.lanes) {
    const total = lane.kind === "decoder" ? at("all_rows") : source;
    const fresh = lane.kind === "decoder" ? at("new_rows") : first ? source : 0;
    lane.reused.style.width = `${(total - fresh) * it.cell}px`;
    lane.fresh.style.width = `${fresh * it.cell}px`;
    lane.said.textContent = {
      encoder: () => it.say(first ? "encoder_first" : "encoder_later", { tokens: source, layers: cost.encoder.layers }),
      cross: () => it.say(first ? "cross_first" : "cross_later", { bytes: quantity(at("cross_bytes"), "B") }),
      decoder: () => it.say("decoder_now", { bytes: quantity(at("self_bytes"), "B"), fresh, reused: total - fresh }),
    }[lane.kind]();
  }
  const sum = (name) => cost.table[name].slice(0, it.step + 1).reduce((a, b) => a + b, 0);
  const [now, without] = [at("operations_cached"), at("operations_uncached")];
  it.$("cost").textContent = [
    it.meta.given ? it.say("cost_given") : "",
    it.say("cost_cache", { layers: cost.layers, bytes: quantity(at("cache_bytes"), "B") }),
    it.say("cost_step", { now: quantity(now, ""), without: quantity(without, ""), times: (without / now).toFixed(1) }),
    it.say("cost_all", {
      now: quantity(sum("operations_cached"), ""),
      without: quantity(sum("operations_uncached"), ""),
    }),
  ]
    .filter(Boolean)
    .join("\n");
}

/** @param {Player} it */
export function buildTable(it) {
  const heads = [
    "step",
    "reads",
    "predicts",
    "probability",
    "log_p",
    "sum",
    "entropy",
    "decided",
    "looked_at",
    "candidates",
  ];
  const table = make("table"),
    head = make("tr");
  head.append(...heads.map((name) => make("th", "", it.say(name))));
  const lines = it.meta.steps.map((step, i) => {
    const line = make("tr");
    const others = step.candidates.map(([label, p]) => `${label} ${percent(p)}`).join("   ");
    const best = lookedAt(it.meta, i, rowOf(it.rows, it.columns, i, it.meta.scale));
    const looked = best ? `${best.text} ${weightSaid(it.meta, best.mass)}` : "";
    const cells = [
      i + 1,
      step.reads,
      step.predicts,
      percent(step.probability),
      signed(step.log_probability, 3),
      signed(step.running_log_probability, 3),
      signed(step.entropy_bits, 3),
      step.decided ?? it.say("probability"),
      looked,
      others,
    ];
    line.append(...cells.map((cell, column) => make("td", [1, 2, 8, 9].includes(column) ? "word" : "", String(cell))));
    return line;
  });
  const [top, body] = [make("thead"), make("tbody")];
  top.append(head);
  body.append(...lines);
  table.append(top, body);
  it.$("table").replaceChildren(table);
}
