// The words that were read above, those that were written below: one of these is chosen, and all are shaded by what they
// have to do with it. Text reaches the page only through textContent.
// data is UTF-8 JSON: {kind, source: [{text, special, share, say}], output: [{text, special, joined, share, say}], chosen: the
// index of an output, edges: [[index of a source, share]], long: whether lines scroll, labels: {all, source, output}}

import { markReady } from "../../browser/shared/ready.js";

const WIDEST = 16; // pixels of the ribbon of the largest share
const DARKEST = 50; // percent of the colour: letters stay readable on it

/** The output that a key leads to from the one at `at` of `count`; undefined for other keys. */
export function reached(key, at, count, backwards = false) {
  const step = backwards ? -1 : 1;
  const steps = { ArrowRight: at + step, ArrowLeft: at - step, Home: 0, End: count - 1 };
  return key in steps ? Math.min(Math.max(steps[key], 0), count - 1) : undefined;
}

/** A ribbon from the middle of a box's upper edge to the middle of another's lower one. */
export function ribbon(from, to) {
  const [x, y] = [from.x + from.width / 2, from.y],
    [a, b] = [to.x + to.width / 2, to.y + to.height],
    middle = (y + b) / 2;
  const n = (value) => value.toFixed(1);
  return `M${n(x)},${n(y)} C${n(x)},${n(middle)} ${n(a)},${n(middle)} ${n(a)},${n(b)}`;
}

const VIEWS = new WeakMap(); // parentElement -> view; the default export runs again on every change of data or theme

class View {
  constructor(root) {
    this.data = null;
    /** @type {(index: number) => void} */
    this.choose = () => {};
    this.root = root;
    this.svg = root.querySelector("svg");
    this.lines = { source: root.querySelector(".source"), output: root.querySelector(".output") };
    this.chips = { source: [], output: [] };
    this.written = "";
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(root);
  }

  receive(data, choose) {
    Object.assign(this, { data, choose });
    const texts = JSON.stringify([data.source, data.output].map((line) => line.map(({ text }) => text)));
    if (texts !== this.written) this.write();
    this.written = texts;
    this.root.dataset.kind = data.kind;
    this.root.classList.toggle("long", data.long);
    this.root.setAttribute("aria-label", data.labels.all);
    for (const name of ["source", "output"]) {
      this.lines[name].setAttribute("aria-label", data.labels[name]);
      this.chips[name].forEach((chip, index) => this.shade(chip, data[name][index]));
    }
    this.root.classList.remove("waits");
    this.choice(data.chosen);
    this.draw();
  }

  write() {
    const chip = (tag, word) => {
      const joined = word.joined ? " joined" : "";
      return Object.assign(document.createElement(tag), {
        className: `word${word.special ? " special" : ""}${joined}`,
        textContent: word.text,
      });
    };
    this.chips.source = this.data.source.map((word) => chip("span", word));
    this.chips.output = this.data.output.map((word, index) => {
      const button = Object.assign(chip("button", word), { type: "button" });
      button.onclick = () => this.pick(index);
      button.onkeydown = (event) => this.key(event, index);
      return button;
    });
    for (const name of ["source", "output"]) this.lines[name].replaceChildren(...this.chips[name]);
  }

  shade(chip, { share, say }) {
    chip.style.setProperty("--share", `${(DARKEST * Math.max(share, 0)).toFixed(1)}%`);
    chip.classList.toggle("against", share < -0.05);
    chip.title = say;
  }

  choice(at) {
    this.at = at;
    this.chips.output.forEach((chip, index) => {
      chip.setAttribute("aria-pressed", String(index === at));
      chip.tabIndex = index === at ? 0 : -1;
    });
  }

  pick(index) {
    if (index === this.at) return;
    this.choice(index);
    this.root.classList.add("waits"); // until the numbers of this word are there
    this.choose(index);
  }

  key(event, index) {
    const backwards = getComputedStyle(this.lines.output).direction === "rtl";
    const next = reached(event.key, index, this.chips.output.length, backwards);
    if (next === undefined) return;
    event.preventDefault();
    this.chips.output[next].focus();
  }

  draw() {
    const frame = this.root.getBoundingClientRect();
    if (!frame.width || !this.data) return;
    this.svg.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
    const box = (chip) => {
      const { left, top, width, height } = chip.getBoundingClientRect();
      return { x: left - frame.left, y: top - frame.top, width, height };
    };
    const from = this.chips.output[this.data.chosen];
    const paths = this.data.long || !from ? [] : this.data.edges;
    this.svg.replaceChildren(
      ...paths.map(([index, share]) => {
        const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
        path.setAttribute("d", ribbon(box(from), box(this.chips.source[index])));
        path.setAttribute("stroke-width", String(Math.max(1.5, WIDEST * share)));
        return path;
      }),
    );
  }
}

export default function ({ parentElement, data, setTriggerValue }) {
  const view = VIEWS.get(parentElement) ?? new View(parentElement.querySelector(".why"));
  VIEWS.set(parentElement, view);
  view.receive(JSON.parse(new TextDecoder().decode(data)), (index) => setTriggerValue("place", index));
  markReady(parentElement);
  return () => {
    view.observer.disconnect();
    VIEWS.delete(parentElement);
  };
}
