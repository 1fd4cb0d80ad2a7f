// Two lines of words, side by side, which are linked by clicking one word of each. Text reaches the page only through
// textContent. data is UTF-8 JSON: {source: [words], output: [words], sure: [[i, j]], possible: [[i, j]], found: [[i, j]],
// labels: {both, source, output, begin, then, linked, unlinked}}; in labels {source} and {output} are words.

import { component } from "../../browser/shared/ready.js";

const SIDES = /** @type {const} */ (["source", "output"]);

/** What a click on a word does: {chosen} is the word that waits for its partner, {link} the pair that is switched. */
export function clicked(chosen, side, index) {
  if (!chosen || chosen.side === side) {
    const again = chosen && chosen.index === index;
    return { chosen: again ? null : { side, index }, link: null };
  }
  return { chosen: null, link: side === "output" ? [chosen.index, index] : [index, chosen.index] };
}

/** The links after one is switched: a link that is there goes, sure or possible, and one that is not comes as sure. */
export function switched({ sure, possible }, [i, j]) {
  const others = (links) => links.filter(([a, b]) => a !== i || b !== j);
  const there = [...sure, ...possible].some(([a, b]) => a === i && b === j);
  return { sure: there ? others(sure) : [...sure, [i, j]], possible: others(possible), there };
}

/** Where an arrow key leads from a word. */
export function neighbour({ side, index }, key, counts) {
  if (key === "ArrowUp" || key === "ArrowDown") {
    const next = index + (key === "ArrowDown" ? 1 : -1);
    return next < 0 || next >= counts[side] ? null : { side, index: next };
  }
  const other = { ArrowLeft: "source", ArrowRight: "output" }[key];
  return other && other !== side ? { side: other, index: Math.min(index, counts[other] - 1) } : null;
}

class View {
  constructor(root) {
    this.data = null;
    /** @type {(link: number[]) => void} */
    this.toggle = () => {};
    this.links = { sure: [], possible: [] };
    this.words = null;
    this.written = "";
    this.root = root;
    this.svg = root.querySelector("svg");
    this.live = root.querySelector(".live");
    this.chosen = null;
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(root);
  }

  receive(data, toggle) {
    const words = JSON.stringify([data.source, data.output]);
    Object.assign(this, { data, toggle, links: { sure: data.sure, possible: data.possible } });
    if (words !== this.written) this.write();
    this.written = words;
    this.draw();
  }

  write() {
    this.root.setAttribute("aria-label", this.data.labels.both);
    this.chosen = null;
    this.words = {};
    for (const side of SIDES) {
      const line = this.root.querySelector(`.${side}`);
      line.setAttribute("aria-label", this.data.labels[side]);
      this.words[side] = this.data[side].map((text, index) => {
        const word = Object.assign(document.createElement("button"), { type: "button", textContent: text });
        word.tabIndex = index ? -1 : 0;
        word.onclick = () => this.click(side, index);
        word.onkeydown = (event) => this.key(event, { side, index });
        return word;
      });
      line.replaceChildren(...this.words[side]);
    }
    this.say(this.data.labels.begin);
  }

  click(side, index) {
    const { chosen, link } = clicked(this.chosen, side, index);
    const { labels } = this.data;
    this.chosen = chosen;
    if (link) {
      const { there, ...links } = switched(this.links, link);
      this.links = links;
      this.say(there ? labels.unlinked : labels.linked, link);
      this.toggle(link);
    } else if (chosen) this.say(labels.then, chosen.side === "source" ? [index, -1] : [-1, index], chosen.side);
    else this.say(labels.begin);
    this.draw();
  }

  key(event, place) {
    if (event.key === "Escape" && this.chosen) this.click(this.chosen.side, this.chosen.index);
    const next = neighbour(place, event.key, { source: this.data.source.length, output: this.data.output.length });
    if (!next) return;
    event.preventDefault();
    for (const word of this.words[next.side]) word.tabIndex = -1;
    const word = this.words[next.side][next.index];
    word.tabIndex = 0;
    word.focus();
  }

  say(text, [i, j] = [-1, -1], side = "source") {
    const values = {
      source: this.data.source[i],
      output: this.data.output[j],
      word: this.data[side][side === "source" ? i : j],
    };
    this.live.textContent = text.replace(/{(\w+)}/g, (whole, name) => values[name] ?? whole);
  }

  draw() {
    const frame = this.root.getBoundingClientRect();
    if (!frame.width || !this.words) return;
    for (const side of SIDES)
      this.words[side].forEach((word, index) =>
        word.setAttribute("aria-pressed", String(this.chosen?.side === side && this.chosen.index === index)),
      );
    this.svg.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
    const end = (side, index) => {
      const box = this.words[side][index].getBoundingClientRect();
      return [(side === "source" ? box.right + 4 : box.left - 4) - frame.left, box.top + box.height / 2 - frame.top];
    };
    const curve =
      (name) =>
      ([i, j]) => {
        const [a, b] = end("source", i),
          [c, d] = end("output", j),
          middle = (a + c) / 2;
        const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
        path.setAttribute("d", `M${a},${b} C${middle},${b} ${middle},${d} ${c},${d}`);
        path.setAttribute("class", name);
        return path;
      };
    const sure = new Set(this.links.sure.map(String));
    const possible = this.links.possible.filter((link) => !sure.has(String(link)));
    this.svg.replaceChildren(
      ...this.data.found.map(curve("found")),
      ...possible.map(curve("possible")),
      ...this.links.sure.map(curve("sure")),
    );
  }

  end() {
    this.observer.disconnect();
  }
}

export default component(".judge", View, (view, { data, setTriggerValue }) =>
  view.receive(JSON.parse(new TextDecoder().decode(data)), (link) => setTriggerValue("toggle", link)),
);
