// The words that were read above, those that were written below: one of these is chosen, and all are shaded by what they
// have to do with it. Text reaches the page only through textContent.
// data is UTF-8 JSON: {kind, source: [{text, special, share, say, number, color}], output: [the same and joined], number: what stands on a bar, chosen:
// the index of an output, said: what the numbers of the chosen one say, "" until they are there, color: the place of the word's colour,
// -1 for none, long: whether lines scroll, labels: {all, source, output}}

import { component } from "../../browser/shared/ready.js";
import { onLight, sayTouched } from "../../browser/shared/touched.js";

const DARKEST = 50; // percent of the colour: letters stay readable on it
const FEW = 48; // letters of a line, up to which they are large
const SEEN = 0.02; // a smaller share has no bar

/** The output that a key leads to from the one at `at` of `count`; undefined for other keys. */
export function reached(key, at, count, backwards = false) {
  const step = backwards ? -1 : 1;
  const steps = { ArrowRight: at + step, ArrowLeft: at - step, Home: 0, End: count - 1 };
  return key in steps ? Math.min(Math.max(steps[key], 0), count - 1) : undefined;
}

/** The line and the word that a key leads to from the word at `at` of a line; undefined for other keys. Up leads from what was
 * written to what was read, and down back to the one that is `chosen`. */
export function led(key, line, at, counts, chosen, backwards = false) {
  if (line === "output" && key === "ArrowUp" && counts.source) return { line: "source", at: 0 };
  if (line === "source" && key === "ArrowDown") return { line: "output", at: chosen };
  const next = reached(key, at, counts[line], backwards);
  return next === undefined ? undefined : { line, at: next };
}

/** The places of words, in groups that no line is broken in: the pieces of a word, and what ends with it, such as a full stop
 * and the end sign. */
export function units(words) {
  const groups = [];
  words.forEach(({ text, joined, special }, index) => {
    const ends = special ? index === words.length - 1 : !/[\p{L}\p{N}]/u.test(text);
    if (groups.length && (joined || ends)) groups.at(-1).push(index);
    else groups.push([index]);
  });
  return groups;
}

class View {
  constructor(root) {
    this.data = null;
    /** @type {(index: number) => void} */
    this.choose = () => {};
    this.root = root;
    this.lines = { source: root.querySelector(".source"), output: root.querySelector(".output") };
    this.chips = { source: [], output: [] };
    this.live = root.querySelector("[aria-live]");
    this.written = "";
    this.asked = false; // whether a word was chosen that nothing was said of yet
    this.deaf = onLight((label) => this.light(label));
  }

  receive(data, choose) {
    Object.assign(this, { data, choose });
    const texts = JSON.stringify([data.source, data.output].map((line) => line.map(({ text }) => text)));
    if (texts !== this.written) {
      const had = this.chips.output.indexOf(this.root.getRootNode().activeElement);
      this.write();
      this.chips.output[had]?.focus({ preventScroll: true }); // a gap that was chosen is written with the model's guess
    }
    this.written = texts;
    this.root.dataset.kind = data.kind;
    this.root.classList.toggle("long", data.long);
    this.root.classList.toggle(
      "few",
      [data.source, data.output].every((line) => line.map(({ text }) => text).join("").length <= FEW),
    );
    this.root.setAttribute("aria-label", data.labels.all);
    for (const name of ["source", "output"]) {
      this.lines[name].classList.toggle(
        "told",
        data[name].some(({ number }) => number),
      );
      this.lines[name].setAttribute("aria-label", data.labels[name]);
      this.chips[name].forEach((chip, index) => this.shade(chip, data[name][index]));
    }
    this.root.classList.remove("waits");
    this.choice(data.chosen);
    this.say(data.said);
  }

  /** Say to screen readers what the numbers of a word say that was chosen here. */
  say(said) {
    if (!this.asked || !said) return;
    this.asked = false;
    this.live.textContent = said;
  }

  write() {
    const chip = (tag, word) => {
      const joined = word.joined ? " joined" : "";
      const made = Object.assign(document.createElement(tag), {
        className: `word${word.special ? " special" : ""}${joined}`,
      });
      // A line goes the way of its first word, and "<s>" is none: the letters alone have a way of their own.
      const sign = Object.assign(document.createElement("bdi"), { dir: "ltr", textContent: word.text });
      made.append(word.special ? sign : word.text);
      return made;
    };
    this.chips.source = this.data.source.map((word, index) => {
      const read = Object.assign(chip("span", word), { tabIndex: -1 });
      const touch = () => sayTouched(read, { above: index, label: word.text });
      read.onclick = touch;
      read.onkeydown = (event) => (event.key === "Enter" ? touch() : this.key(event, "source", index));
      return read;
    });
    this.chips.output = this.data.output.map((word, index) => {
      const button = Object.assign(chip("button", word), { type: "button" });
      button.onclick = () => this.pick(index);
      button.onkeydown = (event) => this.key(event, "output", index);
      return button;
    });
    for (const name of ["source", "output"]) {
      const groups = units(this.data[name]).map((places) => {
        const unit = Object.assign(document.createElement("span"), { className: "unit" });
        unit.append(...places.map((place) => this.chips[name][place]));
        return unit;
      });
      this.lines[name].replaceChildren(...groups);
    }
  }

  shade(chip, { share, say, number, color }) {
    chip.style.setProperty("--word", color < 0 ? "transparent" : `var(--bv-word${color})`);
    chip.style.setProperty("--share", `${(DARKEST * Math.max(share, 0)).toFixed(1)}%`);
    chip.style.setProperty("--bar", String(Math.abs(share) < SEEN ? 0 : Math.abs(share)));
    chip.classList.toggle("against", share < -0.05);
    chip.title = say;
    if (number) chip.dataset.number = number;
    else delete chip.dataset.number;
  }

  choice(at) {
    this.at = at;
    this.chips.output.forEach((chip, index) => {
      chip.setAttribute("aria-pressed", String(index === at));
      chip.tabIndex = index === at ? 0 : -1;
    });
  }

  pick(index) {
    if (sayTouched(this.root, { below: index }) || index === this.at) return; // an answer chooses nothing
    this.choice(index);
    this.asked = true;
    this.root.classList.add("waits"); // until the numbers of this word are there
    this.choose(index);
  }

  key(event, line, index) {
    const backwards = getComputedStyle(this.lines[line]).direction === "rtl";
    const counts = { source: this.chips.source.length, output: this.chips.output.length };
    const next = led(event.key, line, index, counts, this.at, backwards);
    if (next === undefined) return;
    event.preventDefault();
    this.chips[next.line][next.at].focus();
  }

  /** Light the words that say this; null: none. */
  light(label) {
    for (const chip of [...this.chips.source, ...this.chips.output])
      chip.classList.toggle("lit", chip.textContent === label);
  }

  end() {
    this.deaf();
  }
}

export default component(".why", View, (view, { data, setTriggerValue }) =>
  view.receive(JSON.parse(new TextDecoder().decode(data)), (index) => setTriggerValue("place", index)),
);
