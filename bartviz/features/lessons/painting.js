// A guess that is painted: drag over the words of a row, tap them, or go there with the arrow keys and press Space. Then
// it stands beside the weights. data is UTF-8 JSON: {words, labels, most: how often a word can be painted over, guess: the
// shares that were judged, none before, weights: none until they may be seen}

import { clamp, filled, make } from "../../browser/shared/helpers.js";
import { markReady } from "../../browser/shared/ready.js";
import { listenForStrokes } from "../../browser/shared/strokes.js";

/** What a level is of all that is painted, 0 to 1; 0 where nothing is. */
export function shareOf(levels, at) {
  const all = levels.reduce((sum, level) => sum + level, 0);
  return all ? levels[at] / all : 0;
}

/** The levels with one changed, within 0 and the most. */
export const repainted = (levels, at, by, most) =>
  levels.map((level, index) => (index === at ? clamp(level + by, 0, most) : level));

/** Which word has the focus after a key; null if the key moves none. */
export function movedTo(key, at, count) {
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: count - 1 }[key];
  return to === undefined ? null : clamp(to, 0, count - 1);
}

const LEAST_SHOWN = 0.005; // of a row that is judged, words that have less are left out
const percent = (share) => `${Math.round(100 * share)}%`;
const PAINTINGS = new WeakMap(); // parentElement -> painting; the default export runs again on every change of data

class Painting {
  /** @type {number[]} */
  levels = [];
  /** @type {string[]} */
  labels = [];
  /** @type {number[]} */
  guess = [];
  /** @type {number[]} */
  weights = [];
  /** @type {Record<string, string>} */
  words = {};
  most = 1;
  text = "";
  /** @type {(name: string, value: unknown) => void} what tells Python */
  tell = () => {};
  at = 0;
  over = -1; // the word that the pointer has painted last while it is down
  /** @type {number[]} the levels before a stroke */
  before = [];

  constructor(root) {
    this.root = root;
    this.row = root.querySelector(".row");
    this.compare = root.querySelector(".compare");
    this.clear = root.querySelector(".clear");
    listenForStrokes(this.row, {
      begin: (event) => this.begin(event),
      move: (event) => this.drag(event),
      end: (kept) => kept || this.set(this.before),
    });
    this.row.onkeydown = (event) => this.key(event);
    this.row.onfocusin = (event) => (this.at = Math.max(0, [...this.row.children].indexOf(event.target)));
    this.compare.onclick = () => this.judge();
    this.clear.onclick = () => this.set(this.levels.map(() => 0));
  }

  receive({ data, setTriggerValue }) {
    this.tell = setTriggerValue;
    const text = new TextDecoder().decode(data);
    if (text === this.text) return;
    const before = this.labels.join("\n");
    this.text = text;
    Object.assign(this, JSON.parse(text));
    if (before !== this.labels.join("\n")) this.levels = this.labels.map(() => 0);
    this.build();
  }

  get judged() {
    return this.weights.length > 0;
  }

  build() {
    const { words, judged } = this;
    this.row.setAttribute("aria-label", words.row);
    this.root.classList.toggle("judged", judged);
    this.compare.textContent = words.compare;
    this.clear.textContent = words.clear;
    this.root.querySelector(".yours").textContent = words.yours;
    this.root.querySelector(".weights").textContent = words.weights;
    this.root.querySelector(".yours").hidden = !this.guess.length;
    this.root.querySelector(".legend").hidden = !judged;
    this.root.querySelector(".buttons").hidden = judged;
    this.row.replaceChildren(
      ...this.labels.map((label) => {
        const word = make("li");
        word.append(make("span", "label", label), make("small"), make("i", "mine"), make("i", "true"));
        return word;
      }),
    );
    this.paint();
  }

  paint() {
    [...this.row.children].forEach((word, at) => this.paintWord(word, at));
    this.compare.disabled = this.clear.disabled = !this.levels.some(Boolean);
  }

  paintWord(word, at) {
    const { labels, levels, guess, weights, words, judged, most } = this;
    const share = guess.length ? guess[at] : shareOf(levels, at);
    const values = { word: labels[at], share: percent(share), weight: percent(weights[at] ?? 0) };
    const said = filled(judged ? (guess.length ? words.judged : words.model) : words.word, values);
    word.setAttribute("aria-label", said);
    word.setAttribute("role", judged ? "img" : "slider");
    word.tabIndex = !judged && at === this.at ? 0 : -1;
    for (const [name, value] of Object.entries({
      valuemin: 0,
      valuemax: most,
      valuenow: levels[at],
      valuetext: said,
    })) {
      if (judged) word.removeAttribute(`aria-${name}`);
      else word.setAttribute(`aria-${name}`, String(value));
    }
    word.hidden = judged && Math.max(guess[at] ?? 0, weights[at]) < LEAST_SHOWN;
    word.style.setProperty("--level", String(levels[at] / most));
    const shown = guess.length ? `${Math.round(100 * share)} · ${values.weight}` : values.weight;
    word.querySelector("small").textContent = judged ? shown : levels[at] ? values.share : "";
    word.querySelector(".mine").style.setProperty("--share", String(guess.length ? share : 0));
    word.querySelector(".true").style.setProperty("--share", String(weights[at] ?? 0));
  }

  set(levels) {
    this.levels = levels;
    this.paint();
  }

  under({ clientX, clientY }) {
    const root = /** @type {Document | ShadowRoot} */ (this.root.getRootNode());
    const word = root.elementFromPoint(clientX, clientY)?.closest?.("li");
    return word ? [...this.row.children].indexOf(word) : -1;
  }

  begin(event) {
    const at = this.under(event);
    if (this.judged || at < 0) return false;
    Object.assign(this, { before: this.levels, over: at, at });
    this.set(repainted(this.levels, at, 1, this.most));
    return true;
  }

  drag(event) {
    const at = this.under(event);
    if (this.judged || at < 0 || at === this.over) return;
    this.over = at;
    this.set(repainted(this.levels, at, 1, this.most));
  }

  key(event) {
    if (this.judged || event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event,
      to = movedTo(key, this.at, this.labels.length);
    if (to !== null) {
      this.at = to;
      this.paint();
      this.row.children[to].focus();
    } else if (key === " " || key === "ArrowUp") this.set(repainted(this.levels, this.at, 1, this.most));
    else if (key === "Backspace" || key === "Delete" || key === "ArrowDown")
      this.set(repainted(this.levels, this.at, -1, this.most));
    else if (key === "Enter") this.judge();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  judge() {
    if (this.levels.some(Boolean)) this.tell("levels", this.levels);
  }
}

export default function ({ parentElement, ...component }) {
  const root = parentElement.querySelector(".painting");
  let it = PAINTINGS.get(parentElement);
  if (it?.root !== root) it = new Painting(root);
  PAINTINGS.set(parentElement, it);
  it.receive(component);
  markReady(parentElement);
}
