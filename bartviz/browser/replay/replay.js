// A training that is over, moment by moment: the map of a head, the curves of all, what the model writes. data is what
// `Replay.payload` of bartviz/corpus/replay.py packs, with {words, measures, kinds, stops: {kind: [light, dark]}} in its
// description. Nothing is asked of the server: a step of the slider draws from the bytes that are here.

import { across, css, mixed, rampOn, strongOf, themeOf } from "../shared/colors.js";
import { measured, pointOn, typeSize } from "../shared/drawing.js";
import { clamp, make, nameAll, speaker } from "../shared/helpers.js";
import { component } from "../shared/ready.js";
import { calm } from "../shared/steps.js";
import { drawWeights } from "../shared/weights.js";
import { curve, highest, legible, axisPlace, ticks, unpack, valueAt, weights } from "./moments.js";

const [QUICK, SLOW] = [900, 2000], // milliseconds of a moment; for who wants little to move
  OTHERS = 3, // curves below those of the heads
  KEYS = ["first", "second", "third"], // of those curves, and how they are dashed
  DASHES = [[], [5, 4], [2, 3]],
  THIN = 0.8, // how much of the colour the other heads' curves have: at least 3:1 on either ground
  DEFAULT = { cross: "alignment", encoder: "previous", decoder: "previous" };

const whole = (number) => Math.round(number).toLocaleString("en"),
  inPercent = (share) => `${Math.round(100 * share)}%`;

/** The colour of the curves of the other heads. */
const thinOn = ({ ground }, strong) => css(mixed(strong, ground, THIN));

class Replayed {
  /** @type {any} */
  data = null;
  /** @type {any} */
  arrays = null;
  /** @type {any[]} */
  lines = [];
  /** @type {any} */
  where = null;
  shownKind = "";
  moment = 0;
  timer = 0;
  pointed = -1;
  /** @type {any} */
  about = null;
  guess = "";

  constructor(root) {
    this.root = root;
    this.find = (name) => root.querySelector(name);
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(root);
    this.find(".play").onclick = () => this.press();
    this.find(".moment").oninput = () => {
      this.pause();
      this.go(Number(this.find(".moment").value));
    };
    this.find(".moment").onchange = () => this.tell();
    this.find(".head").onchange = () => this.write();
    this.find(".example").onchange = () => {
      this.shape();
      this.write();
    };
    this.find(".kind").onchange = () => this.kinds();
    this.find(".measure").onchange = () => this.heads();
    this.find(".guessed").onchange = () => {
      this.guess = this.find(".guessed").value;
      if (this.guess) this.find(".head").value = this.guess;
      this.write();
    };
    this.find(".curves").onclick = (event) => this.point(event);
    this.find(".curves").onpointermove = (event) => this.mark(event.pointerType === "touch" ? -1 : this.nearest(event));
    this.find(".curves").onpointerleave = () => this.mark(-1);
  }

  receive(data) {
    if (this.data !== data) {
      const { about, arrays } = unpack(data);
      Object.assign(this, { data, about, arrays, guess: "", moment: 0, shownKind: "" });
      this.say = speaker(about.words);
      this.pause();
      nameAll(this.root, this.say);
      Object.assign(this.find(".moment"), { max: about.steps.length - 1, value: 0 });
      fill(
        this.find(".example"),
        about.examples.map(({ text }, at) => [at, text]),
      );
      const kinds = Object.keys(about.kinds);
      fill(
        this.find(".kind"),
        kinds.map((kind) => [kind, about.named[kind]]),
      );
      this.find(".kind").value = kinds.includes("cross") ? "cross" : kinds[0];
      this.find(".example").parentElement.hidden = !about.examples.length;
      this.find(".map").parentElement.hidden = !about.examples.length;
      this.kinds();
    } else this.draw();
  }

  /** Another kind of attention: its measures, and its heads. */
  kinds() {
    const kind = this.find(".kind").value,
      names = this.about.kinds[kind].measures,
      before = this.find(".measure").value;
    fill(
      this.find(".measure"),
      names.map((name) => [name, this.about.measures[name]]),
    );
    this.find(".measure").value = names.includes(before)
      ? before
      : names.includes(DEFAULT[kind])
        ? DEFAULT[kind]
        : names[0];
    this.heads();
  }

  /** Another measure: the curves of all heads, and the one that has changed most is chosen. */
  heads() {
    const kind = this.find(".kind").value,
      { layers, heads, measures } = this.about.kinds[kind],
      measure = measures.indexOf(this.find(".measure").value),
      before = this.find(".head").value,
      every = Array.from({ length: layers * heads }, (_, at) => [Math.floor(at / heads), at % heads]);
    this.lines = every.map(([layer, head]) => curve(this.arrays.get(`curves/${kind}`), layer, head, measure));
    const options = every.map(([layer, head]) => [layer * heads + head, `L${layer}H${head}`]);
    fill(this.find(".head"), options);
    fill(this.find(".guessed"), [["", "–"], ...options]);
    Object.assign(this, { guess: "", pointed: -1 });
    if (this.shownKind === kind) this.find(".head").value = before;
    else this.find(".head").value = String(Math.max(0, highest(this.lines, 0)));
    this.shownKind = kind;
    this.shape();
    this.write();
  }

  get head() {
    return Number(this.find(".head").value);
  }

  press() {
    if (this.timer) {
      this.pause();
      return;
    }
    const last = this.about.steps.length - 1;
    if (this.moment === last) this.go(0);
    this.timer = setInterval(
      () => {
        this.go(this.moment + 1);
        if (this.moment === last) {
          this.pause();
          this.tell();
        }
      },
      calm() ? SLOW : QUICK,
    );
    this.write();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = 0;
    if (this.about) this.find(".play").textContent = this.say("play");
  }

  go(moment) {
    this.moment = clamp(moment, 0, this.about.steps.length - 1);
    this.find(".moment").value = String(this.moment);
    this.write();
  }

  tell() {
    this.find(".live").textContent = [this.find(".state"), this.find(".written"), this.find(".verdict")]
      .map((node) => node.textContent)
      .join(" ");
  }

  /** The head whose curve is nearest to where the pointer is; -1 if none is defined there. */
  nearest(event) {
    if (!this.where) return -1;
    const [x, y] = pointOn(this.find(".curves"), event),
      { at, share } = this.where;
    let [nearest, found] = [Infinity, -1];
    const moment = this.about.steps.reduce(
      (best, step, one) =>
        one <= this.moment && Math.abs(at(step) - x) < Math.abs(at(this.about.steps[best]) - x) ? one : best,
      0,
    );
    this.lines.forEach((line, one) => {
      const far = Math.abs(share(line[moment][0]) - y);
      if (far < nearest) [nearest, found] = [far, one];
    });
    return found;
  }

  /** Draw the interval and the name of the head to which one points. */
  mark(pointed) {
    if (pointed === this.pointed) return;
    this.pointed = pointed;
    this.find(".curves").dataset.pointed = pointed < 0 ? "" : this.named(pointed);
    this.draw();
  }

  point(event) {
    const found = this.nearest(event);
    if (found < 0) return;
    this.find(".head").value = String(found);
    this.write();
  }

  named(at) {
    const { heads } = this.about.kinds[this.find(".kind").value];
    return `L${Math.floor(at / heads)}H${at % heads}`;
  }

  points() {
    const kind = this.find(".kind").value,
      { heads } = this.about.kinds[kind],
      measure = this.find(".measure").value;
    return this.about.points
      .filter((point) => point[0] === kind && point[3] === measure)
      .map(([, layer, head, , step, low, high]) => ({ at: layer * heads + head, step, low, high }));
  }

  /** All that is said in words, and the pictures. */
  write() {
    if (!this.about) return;
    this.draw(); // before texts change: what is measured then needs no new layout
    const { steps } = this.about,
      step = steps[this.moment],
      ended = this.moment === steps.length - 1,
      title = this.about.measures[this.find(".measure").value];
    this.find(".play").textContent = this.say(this.timer ? "pause" : "play");
    const state = this.say("state", { step: whole(step), at: this.moment + 1, all: steps.length });
    this.find(".state").textContent = state;
    this.find(".moment").setAttribute("aria-valuetext", state);
    this.find(".question").textContent = this.say("guess", { measure: title });
    const example = this.about.examples[this.find(".example").value],
      own = example?.written[this.moment];
    this.find(".written").replaceChildren(
      ...(own === undefined ? [] : [this.say("writes"), " ", make("b", "", own || "–")]),
    );
    this.find(".verdict").textContent = this.verdict(title, ended);
    this.captions();
    this.root.dataset.moment = String(this.moment);
  }

  verdict(title, ended) {
    if (!ended) return this.say("later");
    const said = [],
      best = highest(this.lines, this.moment),
      point = this.points().find(({ at }) => at === this.head);
    if (this.guess !== "" && best >= 0)
      said.push(
        this.say(Number(this.guess) === best ? "fits" : "fails", {
          guess: this.named(Number(this.guess)),
          head: this.named(best),
        }),
      );
    if (best >= 0)
      said.push(
        this.say("most", {
          measure: title,
          head: this.named(best),
          share: inPercent(this.lines[best][this.moment][0]),
        }),
      );
    const head = this.named(this.head);
    if (!point) said.push(this.say("none", { head }));
    else
      said.push(this.say("begins", { head, step: whole(point.step), low: whole(point.low), high: whole(point.high) }));
    return said.join(" ");
  }

  draw() {
    if (!this.about || !this.root.clientWidth) return;
    const theme = themeOf(this.root),
      kind = this.find(".kind").value,
      colors = rampOn(theme, this.about.stops[kind]),
      size = typeSize(this.root);
    const strong = strongOf(theme, colors);
    if (this.root.style.getPropertyValue("--curve") !== strong) {
      this.root.style.setProperty("--curve", strong);
      this.root.style.setProperty("--thin", thinOn(theme, strong));
      this.root.style.setProperty("--ramp", across(colors));
    }
    this.map(theme, kind, colors, size);
    this.curves(theme, strong, size);
  }

  map(theme, kind, colors, scale) {
    const number = this.find(".example").value,
      example = this.about.examples[number];
    if (!example?.labels[kind]) return;
    const [rows, columns] = example.labels[kind],
      { heads } = this.about.kinds[kind],
      [layer, head] = [Math.floor(this.head / heads), this.head % heads],
      share = weights(this.arrays.get(`maps/${number}/${kind}`), this.moment, layer, head);
    const axes = { rows: this.say("rows"), columns: this.say("columns") };
    drawWeights(this.find(".map"), { rows, columns, share, axes }, theme, colors, scale);
  }

  /** What is said below the pictures. */
  captions() {
    const example = this.about.examples[this.find(".example").value],
      values = { head: this.named(this.head), step: whole(this.about.steps[this.moment]) },
      measure = this.about.measures[this.find(".measure").value];
    const what = this.say(example?.target ? "given" : "map", values);
    this.find(".what").textContent = what;
    this.find(".map").setAttribute("aria-label", what);
    this.find(".curves").setAttribute("aria-label", this.say("curves", { measure }));
    const keys = [
      make("span", "key chosen", this.say("chosen", values)),
      make("span", "key others", this.say(legible(this.lines) ? "others" : "pointed")),
    ];
    Object.entries(this.about.curves)
      .slice(0, OTHERS)
      .forEach(([name, points], one) => {
        const value = valueAt(points, this.about.steps[this.moment]);
        keys.push(make("span", `key ${KEYS[one]}`, value === undefined ? name : `${name} ${value.toFixed(2)}`));
      });
    this.find(".keys").replaceChildren(...keys);
  }

  /** The map is as high as its rows need. */
  shape() {
    const [rows, columns] = this.about.examples[this.find(".example").value]?.labels[this.find(".kind").value] ?? [];
    if (rows) this.find(".map").style.aspectRatio = String((columns.length + 2) / (rows.length + 1.5));
  }

  /** Every head up to this moment, its change point, and below what else was measured. */
  curves(theme, strong, scale) {
    const canvas = this.find(".curves"),
      { context, width, height } = measured(canvas),
      { steps } = this.about,
      others = Object.entries(this.about.curves).slice(0, OTHERS),
      size = 12 * scale,
      left = 3.2 * size,
      right = width - size,
      end = height - 1.8 * size,
      middle = others.length ? 0.68 * end : end,
      now = steps[this.moment],
      at = (step) => left + axisPlace(step, steps.at(-1)) * (right - left),
      share = (value) => middle - 4 - value * (middle - 6),
      seen = (line) => line.slice(0, this.moment + 1);
    this.where = { at, share };
    context.clearRect(0, 0, width, height);
    context.font = `${size}px ${theme.font}`;
    context.lineWidth = 1;
    context.strokeStyle = theme.faint;
    context.strokeRect(left, 2, right - left, middle - 6);
    if (others.length) context.strokeRect(left, middle + 4, right - left, end - middle - 4);
    context.fillStyle = theme.text;
    context.textBaseline = "middle";
    context.textAlign = "right";
    context.fillText("100%", left - 5, size / 2 + 2);
    context.fillText("0%", left - 5, middle - 4 - size / 2);
    context.textBaseline = "bottom";
    context.textAlign = "center";
    for (const step of ticks(steps.at(-1))) {
      context.fillText(whole(step), at(step), height - 1);
      context.fillRect(at(step), end, 1, 4);
    }
    context.fillStyle = css(mixed(theme.ink, theme.ground, 0.12));
    context.fillRect(at(now) - 2, 2, 4, end - 2);
    const chosen = this.lines[this.head],
      pointed = this.lines[this.pointed];
    const band = (line, paleness) => {
      const known = seen(line)
        .map(([, low, high], one) => [at(steps[one]), share(low), share(high)])
        .filter(([, low]) => Number.isFinite(low));
      context.globalAlpha = paleness;
      context.fillStyle = strong;
      context.beginPath();
      for (const [x, , high] of known) context.lineTo(x, high);
      for (const [x, low] of known.reverse()) context.lineTo(x, low);
      context.fill();
      context.globalAlpha = 1;
    };
    if (legible(this.lines)) for (const line of this.lines) if (line !== chosen) band(line, 0.1);
    if (pointed && pointed !== chosen) band(pointed, 0.14);
    band(chosen, 0.2);
    const stroke = (points, y, color, thick, dash = []) => {
      context.strokeStyle = color;
      context.lineWidth = thick;
      context.setLineDash(dash);
      context.beginPath();
      const told = points.filter(([, value]) => Number.isFinite(value));
      for (const [step, value] of told) context.lineTo(at(step), y(value));
      context.stroke();
      context.setLineDash([]);
      if (!told.length) return;
      const [step, value] = told.at(-1); // where it stands at this moment, and all there is at the first
      context.fillStyle = color;
      context.beginPath();
      context.arc(at(step), y(value), 1 + thick, 0, 7);
      context.fill();
    };
    const means = (line) => seen(line).map(([mean], one) => [steps[one], mean]);
    const thin = thinOn(theme, strong);
    this.lines.forEach((line, one) => one === this.head || stroke(means(line), share, thin, 1));
    if (pointed) stroke(means(pointed), share, strong, 2);
    stroke(means(chosen), share, strong, 3);
    for (const { at: one, step, low, high } of this.points()) {
      if (step > now) continue;
      const mine = one === this.head;
      context.fillStyle = mine ? theme.ink : thin;
      context.fillRect(at(step) - 1, middle - (mine ? 18 : 9), 2, mine ? 14 : 5);
      if (!mine) continue;
      context.fillRect(at(low), middle - 12, Math.max(2, at(high) - at(low)), 2);
    }
    if (pointed) {
      const late = at(now) > (left + right) / 2;
      context.textAlign = late ? "right" : "left";
      context.fillStyle = theme.ink;
      const above = Math.max(size + 4, share(pointed[this.moment][0]) - 3);
      context.fillText(this.named(this.pointed), at(now) + (late ? -4 : 4), above);
    }
    others.forEach(([, points], one) => {
      const most = Math.max(...points.map(([, value]) => value), 1e-9);
      stroke(
        points.filter(([step]) => step <= now),
        (number) => end - 2 - (number / most) * (end - middle - 8),
        theme.ink,
        2,
        DASHES[one],
      );
    });
  }

  end() {
    clearInterval(this.timer);
    this.observer.disconnect();
  }
}

function fill(select, options) {
  select.replaceChildren(
    ...options.map(([value, text]) =>
      Object.assign(document.createElement("option"), { value: String(value), textContent: text }),
    ),
  );
}

export default component(".replay", Replayed, (view, { data }) => view.receive(data));
