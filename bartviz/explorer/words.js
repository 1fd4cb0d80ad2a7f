// The words of a live page: ribbons between them, and other words in their place.

/** @import { Mount } from "./types.js" */
import { mapNumber, nameOf } from "../browser/canvas/numbers.js";
import { percent } from "../browser/shared/percentages.js";
import { make } from "../browser/shared/helpers.js";
import { pause } from "./pause.js";
import { placeIn, exchanged, ribbonsOf } from "./ribbon_data.js";

const OFFERED = 6; // candidates of a step

export class Words {
  /**
   * @param {import("./live.js").Live} page
   * @param {Mount} mount
   */
  constructor(page, mount) {
    this.page = page;
    this.mount = mount;
    this.host = page.$("ribbons").attachShadow({ mode: "open" });
    this.turn = 0;
    this.end = () => {};
    /** @type {ReturnType<typeof ribbonsOf>["words"] | null} */
    this.words = null;
    /** @type {{ line: "above" | "below", index: number } | null} the word that was touched */
    this.touched = null;
    this.text = ""; // that was touched in
    const form = /** @type {HTMLFormElement} */ (page.$("change"));
    form.onsubmit = (event) => {
      event.preventDefault();
      this.write(this.field.value);
    };
    form.onkeydown = ({ key }) => {
      if (key === "Escape") this.close();
    };
    page.$("mask-word").onclick = () => this.write(page.known.mask);
  }

  get field() {
    return /** @type {HTMLInputElement} */ (this.page.$("word"));
  }

  /** The ribbons of the map that is chosen. */
  async show() {
    const { page } = this,
      { shown, place, known } = page,
      turn = ++this.turn;
    const choice = page.choice(),
      codes = await page.map(shown, mapNumber(shown.meta.shape, choice));
    await pause(); // a task of its own
    if (turn !== this.turn) return;
    const [, , , columns] = shown.meta.shape,
      { unit } = page.header;
    const weight = (row, column) => codes[row * columns + column] / unit;
    const head = nameOf({ words: shown.words[place.lang] }, choice),
      text = JSON.stringify([page.number, place.kind, page.wanted.text, page.wanted.pair]);
    const chosen = this.touched?.line === "below" && this.text === text ? this.touched.index : null;
    const words = page.live.models[page.number].words[place.lang].ribbons[place.kind];
    const made = ribbonsOf(shown.meta, weight, words, { mask: known.mask, head, chosen });
    if (this.text !== text) this.close();
    this.text = text;
    this.words = made.words;
    if (!this.host.childElementCount) page.around.renew(this.host, "ribbons");
    this.end = this.mount({
      parentElement: this.host,
      data: new TextEncoder().encode(JSON.stringify(made.data)),
      setStateValue: (_, touched) => this.touch(touched),
    });
  }

  /**
   * A word was touched: the map shows its row, and other words are offered.
   * @param {{ line: "above" | "below", index: number } | null} touched
   */
  async touch(touched) {
    const { page } = this;
    this.touched = touched;
    if (!touched) return this.close();
    const word = this.words[touched.line][touched.index],
      { kind } = page.place;
    const ran = await page.ready();
    if (this.touched !== touched) return;
    if (touched.line === "below" || kind !== "cross") page.chooseRow(word.from);
    if (!ran) return;
    const found = page.entry.found,
      place = found && placeIn(found, kind, touched.line, word);
    if (!place) return this.close();
    this.place = place;
    this.open(word);
  }

  /** The bar with other words for the one that was touched. */
  open(word) {
    const { page, place } = this,
      own = "span" in place;
    page.$("change").hidden = false;
    page.$("own-word").hidden = !own;
    page.$("mask-word").hidden = !own || !page.known.mask || page.known.kind !== "encoder" || word.special;
    page.$("change-said").textContent = page.word(own ? "change" : "instead", { word: word.pieces.join("") });
    if (own)
      this.field.value = [...this.textOf(place.segment)]
        .slice(...place.span)
        .join("")
        .trim();
    page.$("others").replaceChildren(...("step" in place ? this.candidates(place.step) : []));
  }

  /** Buttons that write the text again with another token at a step. */
  candidates(step) {
    const { page } = this,
      { token: chosen, best } = page.entry.found.steps[step];
    return best.slice(0, OFFERED).map((/** @type {any} */ { id, label, p }) => {
      const button = Object.assign(make("button", "", `${label} ${percent(p)}`), { type: "button" });
      button.setAttribute("aria-pressed", String(id === chosen));
      button.onclick = () => {
        this.touched = null;
        this.close();
        page.onWish({ step, token: id, text: null });
      };
      return button;
    });
  }

  /** The text that a word of a segment is part of. */
  textOf(segment) {
    return segment ? (this.page.wanted.pair ?? "") : this.page.entry.found.text;
  }

  /** Run the text with another word in the place of the one that was touched. */
  async write(word) {
    const { page, place } = this;
    if (!place || !("span" in place)) return;
    const text = exchanged(this.textOf(place.segment), place.span, word.trim());
    await page.run({ ...page.wanted, force: {}, [place.segment ? "pair" : "text"]: text });
    page.fill();
  }

  close() {
    this.place = null;
    this.page.$("change").hidden = true;
  }
}
