// A network that learns in a worker, and what is seen of it: the cross-attention of each head, two curves, and what it
// writes. Text reaches the page only through textContent. data is UTF-8 JSON: {settings, words, stops: [light, dark],
// worker: {address, name}, or {script}}.

import { across, rampOn, strongOf, themeOf } from "../../../browser/shared/colors.js";
import { measured, typeSize } from "../../../browser/shared/drawing.js";
import { make, nameAll, speaker } from "../../../browser/shared/helpers.js";
import { component } from "../../../browser/shared/ready.js";
import { calm } from "../../../browser/shared/steps.js";
import { TASKS } from "../../../explorer/learning/tasks.js";
import { drawWeights } from "../../../browser/shared/weights.js";
import { elsewhere, guessed, JUDGED, percent } from "./verdict.js";

const SLOW = 1000, // milliseconds between two pictures for who wants little to move
  SAID = 10_000, // and between two sentences for screen readers
  GUESSES = ["same", "mirrored", "right", "other"],
  DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3], [14, 4], [5, 2], [2, 6], [12, 3, 2, 3, 2, 3]]; // of the heads' curves

const LAST = "</s>"; // what ends every text

/** A piece of a curve, for the legend. */
function dashed(dash) {
  const [picture, line] = ["svg", "line"].map((name) => document.createElementNS("http://www.w3.org/2000/svg", name));
  picture.setAttribute("viewBox", "0 0 38 10");
  picture.setAttribute("aria-hidden", "true");
  for (const [name, value] of Object.entries({ x1: 0, x2: 38, y1: 5, y2: 5, "stroke-dasharray": dash.join(" ") }))
    line.setAttribute(name, String(value));
  picture.append(line);
  return picture;
}

class View {
  /** @type {any} */
  data = null;
  /** @type {Worker | null} */
  worker = null;
  /** @type {any} */
  attempt = null;
  /** @type {any[]} */
  judgements = [];
  running = false;
  done = false;
  begun = false;
  guess = "";
  said = 0;
  drawn = 0;
  asked = false;
  /** @type {HTMLCanvasElement[]} */
  maps = [];

  constructor(root) {
    this.root = root;
    this.find = (name) => root.querySelector(name);
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(root);
    this.find(".start").onclick = () => {
      this.press();
      if (this.running) this.bringInSight();
    };
    this.find("form").onsubmit = (event) => {
      event.preventDefault();
      this.try();
    };
  }

  receive(data) {
    const before = JSON.stringify(this.data?.settings),
      other = this.data?.settings.task !== data.settings.task;
    this.data = data;
    this.say = speaker(data.words);
    nameAll(this.root, this.say);
    if (before !== JSON.stringify(data.settings)) this.begin(other);
    this.write();
    this.draw();
  }

  /** A new network. The text that is shown stays, unless the task is another one. */
  begin(other) {
    const { settings, worker } = this.data,
      goes = this.running;
    this.worker?.terminate();
    this.worker = null;
    Object.assign(this, { judgements: [], running: false, done: false, begun: false, attempt: null });
    if (other) {
      this.own = null;
      this.guess = "";
      const { first, joined } = TASKS[settings.task];
      this.find(".text").value = joined(first);
    }
    this.figures();
    this.guesses();
    try {
      const address = worker.script
        ? URL.createObjectURL(new Blob([worker.script], { type: "text/javascript" }))
        : new URL(worker.address, document.baseURI);
      this.worker = new Worker(address);
    } catch {
      this.fail();
      return;
    }
    this.worker.onerror = () => this.fail();
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.postMessage({ start: settings, words: this.own });
    if (goes) this.press();
  }

  fail() {
    this.running = false;
    this.find(".state").textContent = this.say("broken");
    this.find(".start").disabled = true;
  }

  figures() {
    const { layers, heads } = this.data.settings,
      all = layers * heads;
    this.find(".maps").style.setProperty("--across", String(Math.min(all, all === 8 ? 4 : 2)));
    this.find(".maps").dataset.few = String(all <= 2);
    const made = Array.from({ length: all }, (_, at) => {
      const figure = make("figure"),
        canvas = document.createElement("canvas"),
        place = { layer: Math.floor(at / heads), head: at % heads };
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", this.say("map", place));
      figure.append(make("figcaption", "", this.say("head", place)), canvas);
      return { figure, canvas };
    });
    this.maps = made.map(({ canvas }) => canvas);
    this.find(".maps").replaceChildren(...made.map(({ figure }) => figure));
    this.find(".heads").replaceChildren(
      ...made.map((_, at) => {
        const entry = make("span", "", this.say("head", { layer: Math.floor(at / heads), head: at % heads }));
        entry.prepend(dashed(DASHES[at]));
        return entry;
      }),
    );
  }

  guesses() {
    this.find(".choices").replaceChildren(
      ...GUESSES.map((name) => {
        const label = make("label"),
          input = Object.assign(document.createElement("input"), { type: "radio", name: "guess", value: name });
        input.checked = name === this.guess;
        input.onchange = () => (this.guess = name);
        label.append(input, this.say(name));
        return label;
      }),
    );
  }

  press() {
    if (!this.worker) return;
    this.running = !this.running;
    this.begun = true;
    this.done = false;
    this.worker.postMessage(this.running ? { go: true } : { stop: true });
    for (const input of this.find(".choices").querySelectorAll("input")) input.disabled = true;
    this.write();
  }

  /** A training is short: its map and its curves are on the screen from its first step on. */
  bringInSight() {
    if (this.find(".loss").getBoundingClientRect().bottom <= innerHeight) return;
    this.find(".bar").scrollIntoView({ behavior: calm() ? "auto" : "smooth" });
  }

  try() {
    const { task } = this.data.settings,
      { split, most, source } = TASKS[task],
      words = split(this.find(".text").value),
      known = source.slice(2);
    if (!words.length || words.length > most || words.some((word) => !known.includes(word))) {
      const advice = this.say(task === "translate" ? "known" : "letters", { most, words: known.join(" ") });
      this.find(".answer").textContent = advice;
      this.find(".live").textContent = advice;
      return;
    }
    this.own = words;
    this.asked = true;
    this.worker?.postMessage({ words });
  }

  /** What the worker tells. */
  hear({ attempt, judgement, running, done }) {
    if (judgement) {
      this.judgements.push(judgement);
      this.write();
    }
    if (attempt) {
      this.attempt = attempt;
      if (this.asked || !this.running || !calm() || performance.now() - this.drawn > SLOW) this.draw();
    }
    if (running === undefined) return;
    const ended = this.running && !running;
    this.running = running;
    this.done = done;
    if (ended || !running) this.write();
    if (!running) this.draw();
  }

  state() {
    const last = this.judgements.at(-1);
    if (!last) {
      const { first, joined, solved } = TASKS[this.data.settings.task];
      return this.say("before", { text: joined(first), answer: joined(solved(first).answer) });
    }
    const [told, own] = [last.told, last.own].map((share) => Math.round(share * JUDGED));
    return this.say(told === own ? "now" : "both", { step: last.steps, own, told, all: JUDGED });
  }

  /** All that is said in words, but for what it writes. */
  write() {
    const state = this.state(),
      { running, begun, done } = this,
      last = this.judgements.at(-1);
    const ended = begun && !running && last,
      whole = ended ? `${this.say(done ? "learnt" : "stopped")} ${state}` : state;
    this.find(".start").textContent = this.say(running ? "stop" : begun ? "go" : "start");
    this.find(".state").textContent = whole;
    const judged = ended && this.guess ? this.judged(last) : "";
    this.find(".judged").textContent = judged;
    this.find(".verdict").textContent = ended ? this.verdict(last) : begun ? "" : this.say("comes");
    if (ended || performance.now() - this.said > SAID) {
      this.find(".live").textContent = `${whole} ${judged}`;
      this.said = performance.now();
    }
    this.find(".key.told").hidden = this.data.settings.causal;
    this.root.dataset.told = String(!this.data.settings.causal);
    this.root.dataset.running = String(running);
    this.root.dataset.steps = String(last?.steps ?? 0);
    last?.heads.forEach(({ layer, head, right }, at) => {
      const caption = this.maps[at]?.previousElementSibling;
      if (caption)
        caption.textContent = `${this.say("head", { layer, head })}: ${this.say("share", { share: percent(right) })}`;
    });
  }

  /** Whether the guess was right, in a sentence that stands below it. */
  judged(last) {
    const { answer } = guessed(last.heads),
      values = { guess: this.say(this.guess), answer: this.say(answer) };
    return this.say(this.guess === answer ? "fits" : "fails", values);
  }

  verdict(last) {
    const { head, answer } = guessed(last.heads),
      shares = Object.fromEntries(["same", "mirrored", "right"].map((name) => [name, percent(head[name])])),
      sentence = { other: "measured", right: "scattered" }[answer] ?? "line",
      place = { layer: head.layer, head: head.head, ...shares },
      said = [this.say(sentence, { ...place, share: shares[answer], answer: this.say(answer) })];
    if (!this.data.settings.causal && last.told - last.own > 0.5)
      said.push(this.say("ahead", { own: Math.round(last.own * JUDGED), all: JUDGED }));
    return said.join(" ");
  }

  draw() {
    if (!this.data || !this.root.clientWidth) return;
    this.drawn = performance.now();
    const theme = themeOf(this.root),
      colors = rampOn(theme, this.data.stops),
      size = typeSize(this.root);
    this.root.style.setProperty("--ramp", across(colors));
    this.curves(theme, strongOf(theme, colors), size);
    if (!this.attempt) return;
    const { layers, heads } = this.data.settings;
    for (let at = 0; at < layers * heads; at++)
      this.map(this.maps[at], this.attempt.maps[Math.floor(at / heads)][at % heads], theme, colors, size);
    this.answer();
  }

  answer() {
    const { words, written, answer } = this.attempt,
      { joined } = TASKS[this.data.settings.task],
      [own, right] = [written, answer].map((all) => joined(all.filter((word) => word !== LAST))),
      fits = String(written) === String(answer);
    const parts = [
      this.say("writes"),
      make("b", "", own || "–"),
      `(${this.say(fits ? "correct" : "wrong")}).`,
      ...(fits ? [] : [this.say("should"), make("b", "", right)]),
    ];
    this.find(".answer").replaceChildren(
      make("b", "", joined(words.slice(0, -1))),
      " → ",
      ...parts.flatMap((part) => [part, " "]),
    );
    this.find(".elsewhere").textContent = this.running || !this.begun ? "" : this.elsewhere();
    if (!this.asked) return;
    this.asked = false;
    this.find(".live").textContent = this.find(".answer").textContent;
  }

  /** Why a row may look at another word than its own; empty where none does. */
  elsewhere() {
    const { words, written, answer, maps } = this.attempt,
      text = words.slice(0, -1), // without its end
      { places } = TASKS[this.data.settings.task].solved(text),
      found = elsewhere({ columns: words.length, written, answer, places, maps: maps.flat() });
    if (!found) return "";
    const { row, column, share } = found,
      said = this.say("elsewhere", {
        row: answer[row],
        column: words[column],
        share: percent(share),
        place: words[places[row]],
      });
    return words[column] === LAST ? `${said} ${this.say("end")}` : said;
  }

  /** The weights of a head; there is room for as many rows as the answer has. */
  map(canvas, weights, theme, colors, scale) {
    const { words, written, answer } = this.attempt,
      columns = words.length,
      rows = written.map((_word, row) => answer[row] ?? ""), // an untrained network writes the same word in each row
      kept = TASKS[this.data.settings.task].target, // the same margin at each step
      share = (row, column) => weights[row * columns + column],
      height = Math.max(columns, written.length),
      axes = { rows: this.say("rows"), columns: this.say("columns") };
    drawWeights(canvas, { rows, columns: words, share, kept, height, axes }, theme, colors, scale);
  }

  /** The two pictures of the course: what is right, and the loss, against the step. */
  curves(theme, strong, scale) {
    const { judgements } = this,
      of = (measure) => judgements.map(measure),
      most = Math.max(1, ...of(({ loss }) => loss).filter(Number.isFinite));
    const shares = (judgements[0]?.heads ?? []).map((_, at) => ({
      values: of(({ heads }) => heads[at].right),
      color: strong,
      thick: 2,
      dash: DASHES[at],
    }));
    shares.push({ values: of(({ own }) => own), color: theme.ink, thick: 3, dash: [] });
    if (!this.data.settings.causal)
      // with a causal mask it is the same line
      shares.push({ values: of(({ told }) => told), color: theme.ink, thick: 2, dash: [5, 4] });
    const losses = [{ values: of(({ loss }) => loss / most), color: theme.ink, thick: 1.2, dash: [] }];
    this.course("shares", ["100%", "0%"], shares, theme, scale);
    this.course("loss", [most.toFixed(1), "0"], losses, theme, scale);
  }

  /** One picture: lines of shares of its height. */
  course(name, labels, lines, theme, scale) {
    const canvas = this.find(`.${name} canvas`);
    if (!canvas.clientWidth) return;
    const { context, width, height } = measured(canvas),
      size = 12 * scale;
    canvas.setAttribute("aria-label", `${this.say("against", { what: this.say(name) })} ${this.state()}`);
    context.clearRect(0, 0, width, height);
    context.font = `${size}px ${theme.font}`;
    const [left, right, top, bottom] = [3.2 * size, width - size / 2, 2, height - 1.6 * size],
      last = Math.max(100, this.judgements.at(-1)?.steps ?? 0);
    context.strokeStyle = theme.faint;
    context.lineWidth = 1;
    context.strokeRect(left, top, right - left, bottom - top);
    context.fillStyle = theme.text;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText(labels[0], left - 5, top + size / 2);
    context.fillText(labels[1], left - 5, bottom - size / 2);
    context.textBaseline = "bottom";
    context.fillText(`${last} ${this.say("axis")}`, right, height - 1);
    for (const { values, color, thick, dash } of lines) {
      context.strokeStyle = color;
      context.lineWidth = thick;
      context.setLineDash(dash);
      context.beginPath();
      values.forEach((value, at) => {
        const x = left + (this.judgements[at].steps / last) * (right - left);
        if (Number.isFinite(value)) context.lineTo(x, bottom - value * (bottom - top));
      });
      context.stroke();
    }
    context.setLineDash([]);
  }

  end() {
    this.worker?.terminate();
    this.observer.disconnect();
  }
}

export default component(".training", View, (view, { data }) =>
  view.receive(JSON.parse(new TextDecoder().decode(data))),
);
