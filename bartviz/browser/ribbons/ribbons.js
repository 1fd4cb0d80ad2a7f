// Two lines of words and ribbons between them. Text reaches the page only through textContent.
// data is UTF-8 JSON: {kind, above: [{pieces, special, color}], below: [...], edges: [[t, s, weight]],
// say: {above: [...], below: [...]}, labels, glosses: a text for each word below, or none, taps: what to do, or nothing,
// chosen: the word below that was chosen on another page, or null, asked: the one that a newcomer is to follow, or null}

import { markReady } from "../shared/ready.js";
import { onLight, sayTouched } from "../shared/touched.js";

const PACE = 3000; // milliseconds for each word while it plays
const WAIT = 5000; // milliseconds until it begins by itself: what stands above it has been read
const WIDEST = 26; // pixels of a ribbon of weight 1
const STEPS = 24; // of the sides of a ribbon
const SMALLEST = 0.62; // of the letters' size, for a line that is to fit
const LONG = 0.8; // of the letters' size, for lines that are moved sideways

/** Ribbons as polygons: each takes a share of its chips' edges in proportion to its weight.
 *  edges [[t, s, w]]; above, below: boxes {x, width, y} where the ribbons leave and arrive. -> [{t, s, path}] */
export function shape(edges, above, below) {
  const place = (boxes, end, other) => {
    const sums = boxes.map(() => 0);
    for (const edge of edges) sums[edge[end]] += edge[2];
    const unit = boxes.map((box, i) => Math.min(WIDEST, (0.92 * box.width) / Math.max(sums[i], 1e-9)));
    const next = boxes.map((box, i) => box.x + box.width / 2 - (sums[i] * unit[i]) / 2);
    const sides = new Map();
    for (const edge of [...edges].sort((a, b) => a[other] - b[other])) {
      const i = edge[end],
        width = edge[2] * unit[i];
      sides.set(edge, [next[i], next[i] + width, boxes[i].y]);
      next[i] += width;
    }
    return sides;
  };
  const tops = place(above, 1, 0),
    bottoms = place(below, 0, 1);
  return edges.map((edge) => {
    const left = [],
      right = [];
    for (let at = 0; at <= STEPS; at += 1) {
      const [x, y, across, along] = crossSection(tops.get(edge), bottoms.get(edge), at / STEPS);
      left.push(`${(x - across).toFixed(1)},${(y + along).toFixed(1)}`);
      right.unshift(`${(x + across).toFixed(1)},${(y - along).toFixed(1)}`);
    }
    return { t: edge[0], s: edge[1], path: `M${[...left, ...right].join(" L")} Z` };
  });
}

/** A place on the middle of a ribbon, `way` of 0 to 1 down, and how far its right side is from there, to the right and
 *  up: at right angles to the middle, so that a slanted ribbon is as wide as an upright one. */
function crossSection([a, b, top], [c, d, bottom], way) {
  const [from, to] = [(a + b) / 2, (c + d) / 2],
    left = 1 - way;
  const x = from + (to - from) * way * way * (3 - 2 * way), // upright at both ends
    y = top + (bottom - top) * (1.5 * left * way + way ** 3);
  const dx = 6 * (to - from) * left * way,
    dy = 1.5 * (bottom - top) * (left * left + way * way),
    long = Math.hypot(dx, dy) || 1;
  const half = (b - a + (d - c - b + a) * way) / 2;
  return [x, y, (half * dy) / long, (half * dx) / long];
}

/** The word that an arrow key moves to: left and right along a line (`backwards`: it is
 *  read from right to left), up and down to the other at the same share of it. */
export function neighbour(place, key, counts, backwards = false) {
  const count = counts[place.line];
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const index = place.index + ((key === "ArrowRight") !== backwards ? 1 : -1);
    return index < 0 || index >= count ? null : { line: place.line, index };
  }
  const line = { ArrowUp: "above", ArrowDown: "below" }[key];
  if (!line || line === place.line) return null;
  return {
    line,
    index: Math.min(counts[line] - 1, Math.round((place.index / Math.max(count - 1, 1)) * (counts[line] - 1))),
  };
}

let played = false; // by itself it plays once in a visit
let touched = { line: "", words: new Set() }; // of the lower line that was last shown, those a newcomer has touched
const VIEWS = new WeakMap(); // parentElement -> view; the default export runs again on every change of data or theme

class View {
  constructor(root, data, choose) {
    const find = (name) => root.querySelector(name);
    this.data = data;
    this.choose = choose; // tells the other pages which word was touched
    this.pan = find(".pan");
    this.stage = find(".stage");
    this.svg = find("svg");
    this.sentence = find(".sentence");
    this.task = find(".task");
    this.button = find(".play");
    root.dataset.kind = data.kind; // its colour
    root.setAttribute("aria-label", data.labels.ribbons);
    this.counts = { above: data.above.length, below: data.below.length };
    this.words = { above: this.line(find(".above"), "above"), below: this.line(find(".below"), "below") };
    this.kept = null; // the word that was clicked or reached by keyboard
    const line = JSON.stringify(data.below.map((word) => word.pieces));
    if (line !== touched.line) touched = { line, words: new Set() }; // another text begins with the first task
    this.table(find("table"));
    this.button.onclick = () => (this.timer ? this.stop() : this.play());
    this.observer = new ResizeObserver(() => this.draw());
    for (const element of [this.pan, this.stage]) this.observer.observe(element);
    this.sent = []; // rows that the app has been told, and not answered yet
    this.begin(data.chosen);
    this.label();
    document.fonts?.ready.then(() => this.draw());
    this.unlight = onLight((label) => this.name(label));
  }

  /** Begins with the word below that the app says is chosen, or with none. */
  begin(chosen) {
    this.answered = chosen;
    this.kept = chosen === null ? null : { line: "below", index: chosen };
    if (this.kept) this.count(this.kept); // on another page, or before: it need not be touched again
    if (this.kept) this.light(this.kept);
    else this.rest();
  }

  /** Takes over a choice that was not made here, as the browser's Back makes one. */
  follow(chosen) {
    const own = this.sent.indexOf(chosen);
    if (own >= 0) this.sent.splice(0, own + 1);
    else if (chosen !== this.answered) {
      this.stop();
      return this.begin(chosen);
    }
    this.answered = chosen;
  }

  /** Lights a word that a lesson names; back to what was lit, where it names none. */
  name(label) {
    for (const line of ["below", "above"]) {
      const index = this.data[line].findIndex((word) => word.pieces.join("") === label);
      if (index >= 0) return this.visit({ line, index });
    }
    if (this.kept) this.light(this.kept);
    else this.rest();
  }

  line(element, name) {
    element.setAttribute("aria-label", this.data.labels[name]);
    const words = this.data[name].map((word, index) => {
      const chip = document.createElement("button");
      chip.type = "button";
      chip.className = word.special ? "word special" : "word";
      chip.tabIndex = index === 0 ? 0 : -1;
      if (word.special) chip.dir = "ltr"; // it says nothing about the direction of the text around it
      if (word.color >= 0) chip.style.setProperty("--word", `var(--bv-word${word.color})`);
      const gloss = name === "below" ? this.data.glosses?.[index] : "";
      if (gloss) chip.dataset.gloss = `↑ ${gloss}`;
      chip.append(
        ...word.pieces.map((text) =>
          Object.assign(document.createElement("span"), { className: "piece", textContent: text }),
        ),
      );
      const place = { line: name, index };
      chip.onpointerenter = (event) => event.pointerType !== "touch" && this.visit(place);
      chip.onpointerleave = (event) =>
        event.pointerType !== "touch" && (this.kept ? this.light(this.kept) : this.rest());
      chip.onfocus = () => chip.matches(":focus-visible") && this.keep(place);
      chip.onclick = ({ detail: byPointer }) => {
        const taken = sayTouched(chip, { [name]: index, label: word.pieces.join("") });
        const asked = taken && name === "above" ? this.data.asked : null;
        // A lesson's question is of one word below: its ribbons are looked at, whatever word above is the answer.
        if (typeof asked === "number") this.keep({ line: "below", index: asked });
        // A key's word is kept by its focus.
        else this.keep(byPointer && this.kept && this.same(this.kept, place) ? null : place);
      };
      chip.onkeydown = (event) => this.key(event, place);
      return chip;
    });
    element.replaceChildren(...words);
    return words;
  }

  table(element) {
    element.caption.textContent = this.data.labels.table;
    const rows = this.data.edges.map(([t, s, weight]) => {
      const row = document.createElement("tr");
      const cells = [this.data.below[t].pieces.join(""), this.data.above[s].pieces.join(""), weight.toFixed(3)];
      row.append(...cells.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
      return row;
    });
    element.tBodies[0].replaceChildren(...rows);
  }

  /** Letters a little smaller, where that makes the lines fit; longer ones are moved sideways. */
  fit() {
    const { classList, style } = this.stage;
    classList.remove("long");
    classList.add("measured");
    style.removeProperty("--fit");
    const lines = Object.values(this.words)
      .map((words) => words[0]?.parentElement)
      .filter(Boolean);
    const fitting = () => Math.min(1, ...lines.map((line) => line.clientWidth / line.scrollWidth));
    const scale = fitting();
    if (scale < 1) style.setProperty("--fit", (0.98 * scale).toFixed(3));
    const long = scale <= SMALLEST || (scale < 1 && fitting() < 1); // no letter is lower than the least size of the style
    classList.remove("measured");
    classList.toggle("long", long);
    if (long) style.setProperty("--fit", LONG);
    if (long && !this.long) this.center(this.words.above[0]); // a line from right to left begins at its right end
    this.long = long;
  }

  /** Move the lines sideways until a word is in their middle. */
  center(chip, behavior = "instant") {
    const [box, room] = [chip, this.pan].map((element) => element.getBoundingClientRect());
    this.pan.scrollBy({ left: box.left + box.width / 2 - room.left - room.width / 2, behavior });
  }

  draw() {
    this.fit();
    const stage = this.stage.getBoundingClientRect();
    if (!stage.width) return;
    const boxes = (name, edge) =>
      this.words[name].map((chip) => {
        const box = chip.getBoundingClientRect();
        return { x: box.left - stage.left, width: box.width, y: box[edge] - stage.top };
      });
    this.svg.setAttribute("viewBox", `0 0 ${stage.width} ${stage.height}`);
    this.paths = shape(this.data.edges, boxes("above", "bottom"), boxes("below", "top")).map(({ t, s, path }) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", "path");
      element.setAttribute("d", path);
      return Object.assign(element, { t, s });
    });
    this.svg.replaceChildren(...this.paths);
    if (this.lit) this.light(this.lit);
  }

  light(place) {
    this.lit = place;
    const end = place.line === "below" ? "t" : "s",
      other = end === "t" ? "s" : "t";
    const reached = new Set();
    for (const path of this.paths ?? []) {
      const on = path[end] === place.index;
      path.classList.toggle("lit", on);
      if (on) reached.add(path[other]);
    }
    for (const name of ["above", "below"])
      this.words[name].forEach((chip, index) => {
        const chosen = name === place.line && index === place.index;
        chip.classList.toggle("chosen", chosen);
        chip.classList.toggle("lit", chosen || (name !== place.line && reached.has(index)));
      });
    this.stage.classList.add("focused");
    this.say(this.data.say[place.line][place.index]);
    this.task.textContent = this.next();
  }

  rest() {
    this.lit = null;
    this.stage.classList.remove("focused");
    for (const part of [...(this.paths ?? []), ...this.words.above, ...this.words.below])
      part.classList.remove("chosen", "lit");
    this.task.textContent = "";
    if (this.next()) this.say(this.next());
    else this.say(this.data.labels.hint, true);
  }

  count(place) {
    if (place.line === "below") touched.words.add(this.data.below[place.index].pieces.join(""));
  }

  /** What a newcomer is asked to do next, or nothing. */
  next() {
    const taps = this.data.taps ?? [];
    return taps[Math.min(touched.words.size, taps.length - 1)] ?? "";
  }

  say(text, hint = false) {
    this.sentence.textContent = text;
    this.sentence.classList.toggle("hint", hint);
  }

  visit(place) {
    this.stop();
    this.light(place);
  }

  keep(place) {
    this.stop();
    this.sentence.setAttribute("aria-live", "polite");
    this.kept = place;
    if (place) this.count(place);
    if (place) this.light(place);
    else this.rest();
    if (!place) return;
    if (place.line === "below" || this.data.kind !== "cross") this.sent.push(place.index); // of one text: one row
    this.choose(place);
  }

  key(event, place) {
    if (event.key === "Escape") this.keep(null);
    const line = this.words[place.line][place.index].parentElement;
    const next = neighbour(place, event.key, this.counts, getComputedStyle(line).direction === "rtl");
    if (!next) return;
    event.preventDefault();
    this.words[place.line][place.index].tabIndex = -1;
    const chip = this.words[next.line][next.index];
    chip.tabIndex = 0;
    chip.focus();
    this.keep(next);
  }

  same(a, b) {
    return a.line === b.line && a.index === b.index;
  }

  play() {
    this.kept = null;
    this.sentence.removeAttribute("aria-live"); // what plays by itself is not read aloud
    const order = this.data.below.map((word, index) => index).filter((index) => !this.data.below[index].special);
    const next = () => {
      const index = order.shift();
      if (index === undefined || this.property("--bv-waits")) {
        this.stop();
        this.rest();
        return;
      }
      this.light({ line: "below", index });
      this.center(this.words.below[index], "smooth");
      this.timer = setTimeout(next, PACE);
    };
    next();
    this.label();
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
    this.label();
  }

  /** Whether a lesson asks where it looks, so that the picture must not say it. */
  isAsked() {
    return this.property("--bv-said") === "hidden";
  }

  /** What the page says of its parts, such as whether another run is under way. */
  property(name) {
    return getComputedStyle(this.stage).getPropertyValue(name).trim();
  }

  label() {
    this.button.textContent = this.timer ? this.data.labels.pause : this.data.labels.play;
  }

  end() {
    this.stop();
    this.unlight();
    this.observer.disconnect();
  }
}

export default function ({ parentElement, data, setStateValue }) {
  const sent = JSON.parse(new TextDecoder().decode(data));
  const text = JSON.stringify({ ...sent, chosen: null });
  const known = VIEWS.get(parentElement);
  if (known?.text === text) {
    known.view.follow(sent.chosen); // else only the theme changed: the colours are variables
    return known.close;
  }
  known?.view.end();
  const view = new View(parentElement.querySelector(".ribbons"), sent, (place) => setStateValue("word", place));
  const close = () => {
    view.end();
    VIEWS.delete(parentElement);
  };
  VIEWS.set(parentElement, { view, text, close });
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (!played && !still && !view.kept) {
    view.timer = setTimeout(() => (view.isAsked() ? view.stop() : view.play()), WAIT);
    view.label();
  }
  played = true;
  markReady(parentElement);
  return close;
}
