// The explorer: canvas and player on one page, without a server. What Python does in the app is done here: it hands the
// canvas the maps that are missing, the player the rows of the chosen head, and keeps the address.

/** @import { Around, Choice, Entry, Header, Mount, Part, Place, Shown } from "./types.js" */
import { mapNumber, nameOf } from "../browser/canvas/numbers.js";
import { filled, make } from "../browser/shared/helpers.js";
import { onSteps, sendSteps } from "../browser/shared/steps.js";
import { codesOf, headsOf, meanOf, packed, rowsOf, tiles } from "./file.js";
import { pause } from "./pause.js";
import { hashOf, placeOf, spokenIn } from "./url_hash.js";

const KINDS = /** @type {const} */ (["encoder", "decoder", "cross"]);

export class Explorer {
  /**
   * @param {Around} around
   * @param {{ canvas: Mount, player: Mount }} mounts
   * @param {Header} header
   * @param {(place: Part) => Promise<Uint8Array>} part
   */
  constructor(around, mounts, header, part) {
    this.around = around;
    this.mounts = mounts;
    this.header = header;
    this.part = part;
    this.spoken = spokenIn(header, around.languages);
    /** @type {Map<string, HTMLElement>} */
    this.nodes = new Map(
      [.../** @type {NodeListOf<HTMLElement>} */ (around.root.querySelectorAll("[data-is]"))].map((node) => [
        node.dataset.is,
        node,
      ]),
    );
    this.hosts = {
      canvas: this.$("canvas").attachShadow({ mode: "open" }),
      player: this.$("player").attachShadow({ mode: "open" }),
    };
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.ends = { canvas: () => {}, player: () => {} };
    this.unfollow = () => {};
    this.datas = { canvas: null, player: null };
    this.drawn = { canvas: "", player: "" }; // what they are drawn for: the canvas for a record, a kind and a language
    this.serial = 0;
    this.given = 0; // the serial that the canvas has
    this.led = 0; // grows where the address leads the player to a step
    /** @type {Map<Part, Promise<Uint16Array>>} */
    this.kept = new Map(); // the maps of short texts
    this.turn = { canvas: 0, player: 0 }; // a slower answer never replaces a later one
    /** @type {Choice} */
    this.played = null;
    this.place = placeOf(around.address, header, this.spoken);
  }

  /** @param {string} name */
  $(name) {
    return this.nodes.get(name);
  }

  /** @returns {Entry} */
  get entry() {
    return this.header.records[this.place.record];
  }

  /** @returns {Shown} */
  get shown() {
    return this.entry.kinds[this.place.kind];
  }

  /** @param {string} name */
  say(name, values = {}) {
    return filled(this.header.words[this.place.lang][name], values);
  }

  /** Everything again for the current place; parts that show it already stay. */
  async show() {
    this.dress();
    this.write();
    const { player, first } = this.entry;
    if (this.place.kind === player?.kind) this.played = this.choice();
    else this.played ??= { layer: first.layer, head: first.head, what: "head" }; // of the same kind: see data.py
    await Promise.all([this.showCanvas(), this.showPlayer()]);
    this.publish();
  }

  /** @returns {Choice} */
  choice() {
    const { layer, head, what } = this.place;
    return { layer, head, what };
  }

  /** The theme of the page. */
  dress() {
    const { theme } = this.place,
      { dataset } = this.around.frame;
    if (theme) dataset.theme = theme;
    else delete dataset.theme;
    this.$("dark").setAttribute("aria-pressed", String(this.dark));
  }

  get dark() {
    const { theme } = this.place;
    return theme ? theme === "dark" : this.scheme.matches;
  }

  /** The page's own words. */
  write() {
    const { entry, place } = this;
    const text = (name, words) => (this.$(name).textContent = words);
    this.around.frame.lang = place.lang;
    this.around.title(`${entry.name} · ${this.say("explorer")}`);
    text("brand", `${this.say("explorer")} · ${entry.about[place.lang][0][1]}`);
    text("source", entry.source);
    text("target", entry.target);
    this.$("arrow").hidden = !entry.target;
    this.$("heading").classList.toggle("long", entry.source.length + entry.target.length > 90);
    this.$("language").setAttribute("aria-label", this.say("language"));
    this.$("dark").setAttribute("aria-label", this.say("dark"));
    this.$("dark").title = this.say("dark");
    /** @type {HTMLSelectElement} */ (this.$("language")).value = place.lang;
    text("kind-said", this.say(`${place.kind}_said`));
    this.$("kinds").setAttribute("aria-label", this.say("attention"));
    this.choices(
      "kinds",
      KINDS.filter((kind) => entry.kinds[kind]).map((kind) => [kind, this.say(kind)]),
      place.kind,
    );
    this.$("records").setAttribute("aria-label", this.say("records"));
    this.$("records").hidden = this.header.records.length < 2;
    this.choices(
      "records",
      this.header.records.map(({ name }, i) => [String(i), name]),
      String(place.record),
    );
    this.$("left-out").hidden = !this.header.least;
    text("left-out", this.say("left_out"));
    this.$("steps").hidden = !entry.player;
    text("steps-title", this.say("steps"));
    text("steps-said", this.say("steps_said"));
    text("about", this.say("about"));
    this.$("facts").replaceChildren(
      ...entry.about[place.lang].flatMap(([name, fact]) => [make("dt", "", name), make("dd", "", fact)]),
    );
  }

  /**
   * Buttons of which one is pressed; they stay while their words do, and keep the focus.
   * @param {string} name
   * @param {[value: string, text: string][]} options
   * @param {string} chosen
   */
  choices(name, options, chosen) {
    const box = this.$(name);
    while (box.children.length > options.length) box.lastChild.remove();
    while (box.children.length < options.length) box.append(Object.assign(make("button"), { type: "button" }));
    options.forEach(([value, text], i) => {
      const button = /** @type {HTMLButtonElement} */ (box.children[i]);
      [button.value, button.textContent, button.title] = [value, text, name === "records" ? text : ""];
      button.setAttribute("aria-pressed", String(value === chosen));
    });
  }

  /**
   * @param {Shown} shown
   * @param {number} number of a map of the canvas
   */
  async map(shown, number) {
    const heads = headsOf(shown.meta.shape, number);
    const maps = await Promise.all(heads.map((head) => this.head(shown, shown.maps[head])));
    return maps.length === 1 ? maps[0] : meanOf(maps);
  }

  /**
   * @param {Shown} shown
   * @param {Part} place
   */
  head(shown, place) {
    const read = this.kept.get(place) ?? this.part(place).then(codesOf);
    if (shown.meta.exact) this.kept.set(place, read);
    return read;
  }

  /**
   * The weights of a head, row by row.
   * @param {Shown} shown
   * @param {number} layer
   * @param {number} head
   */
  async weights(shown, layer, head) {
    const [, heads, rows, columns] = shown.meta.shape;
    const codes = await this.head(shown, shown.maps[layer * heads + head]);
    return Array.from({ length: rows }, (_, row) => [...rowsOf(codes, columns, [row], this.header.unit)]);
  }

  /**
   * What of the header changes with each buffer.
   * @param {number[]} numbers
   */
  now(numbers, light = false) {
    const { layer, head, what, row, view } = this.place;
    const begin = { layer, head, what, row, view, rows: [], keys: [] };
    return { serial: this.serial, begin, layers: "all", light, tiles: numbers };
  }

  async showCanvas() {
    const { shown, place } = this,
      { meta } = shown;
    const drawn = `${place.record} ${place.kind} ${place.lang}`,
      turn = ++this.turn.canvas;
    this.serial++;
    if (this.drawn.canvas === drawn) return this.feed(meta.exact ? [] : [mapNumber(meta.shape, this.choice())]);
    const every = Array.from({ length: meta.shape[0] * (meta.shape[1] + 1) + 1 }, (_, number) => number);
    const numbers = meta.exact ? every : [mapNumber(meta.shape, this.choice())];
    const [maps, arrays] = await Promise.all([
      Promise.all(numbers.map((number) => this.map(shown, number))),
      Promise.all(shown.arrays.map(async ([name, type, shape, part]) => [name, type, shape, await this.part(part)])),
    ]);
    await pause(); // canvas and player in tasks of their own, between which the page answers
    if (turn !== this.turn.canvas) return;
    this.drawn.canvas = drawn;
    const header = { ...meta, words: shown.words[place.lang], ...this.now(numbers) };
    this.ends.canvas();
    this.renew("canvas");
    this.mount("canvas", packed(header, [.../** @type {any} */ (arrays), tiles(maps, meta.shape)]));
  }

  /**
   * More maps for the canvas that is there, and the choice of the place where its serial is new.
   * @param {number[]} numbers
   */
  async feed(numbers) {
    const { shown, drawn } = this,
      { revision, kind, label, shape } = shown.meta;
    const was = drawn.canvas;
    const maps = await Promise.all(numbers.map((number) => this.map(shown, number)));
    if (this.drawn.canvas !== was) return;
    const header = { revision, kind, label, shape, ...this.now(numbers, true) };
    this.mount("canvas", packed(header, maps.length ? [tiles(maps, shape)] : []));
  }

  async showPlayer() {
    const { place, entry, played } = this,
      { player } = entry;
    const drawn = place.lang,
      turn = ++this.turn.player;
    if (!player) {
      this.ends.player();
      this.ends.player = () => {};
      this.drawn.player = "";
      return;
    }
    const weights = async (kind) => {
      const shown = entry.kinds[kind];
      const codes = await this.map(shown, mapNumber(shown.meta.shape, played));
      return rowsOf(codes, shown.meta.shape[3], player.rows, this.header.unit);
    };
    const [rows, own] = await Promise.all([
      weights(player.kind),
      player.kind === "cross" ? weights("decoder") : new Float32Array(0),
    ]);
    await pause();
    if (turn !== this.turn.player) return;
    const meta = player.meta[place.lang];
    const name = (kind) => nameOf({ words: entry.kinds[kind].words[place.lang] }, played);
    const titles = Object.fromEntries(
      Object.entries(meta.titles).map(([part, title]) => [
        part,
        filled(title, { weights: name(player.kind), own: name("decoder") }),
      ]),
    );
    const table = (values) => ({ getChild: () => ({ toArray: () => values }) });
    const fixed = { start: place.step, reading: "predicts", led: this.led, follows: false, scale: 1 };
    if (this.drawn.player !== drawn) {
      this.ends.player();
      this.renew("player"); // a player that is there takes another record
    }
    this.drawn.player = drawn;
    this.mount("player", {
      meta: { ...meta, titles, ...fixed },
      rows: table(rows),
      own: table(own),
      other: table(new Float32Array(0)),
    });
  }

  /** @param {"canvas" | "player"} name */
  renew(name) {
    this.around.renew(this.hosts[name], name);
  }

  /**
   * @param {"canvas" | "player"} name
   * @param {unknown} data
   */
  mount(name, data = this.datas[name]) {
    this.datas[name] = data;
    if (name === "canvas") this.given = this.serial;
    this.ends[name] = this.mounts[name]({
      parentElement: this.hosts[name],
      data,
      setStateValue: (_, said) => (name === "canvas" ? this.onChoice(said) : this.onRest(said)),
      setTriggerValue: (_, wish) => this.onWish(wish),
    });
  }

  /** The canvas rests on another choice. */
  onChoice({ revision, layer, head, what, row, view, known }) {
    const { shown, place, entry } = this;
    if (revision !== shown.meta.revision || this.given !== this.serial) return; // what it is about to get counts
    const stepped = row !== place.row,
      turned = layer !== place.layer || head !== place.head || what !== place.what;
    Object.assign(place, { layer, head, what, row, view });
    if (!known) this.feed([mapNumber(shown.meta.shape, this.choice())]);
    if (place.kind === entry.player?.kind) {
      const step = entry.player.rows.indexOf(row);
      if (stepped && step >= 0) sendSteps("ask", { record: entry.player.revision, to: step });
      if (turned) {
        this.played = this.choice();
        this.showPlayer();
      }
    }
    this.publish();
  }

  /**
   * The visitor asks for another token at a step; a recorded text has none.
   * @type {(wish: any) => void}
   */
  onWish() {}

  /** The player rests on a step: the canvas of its kind shows the row. */
  onRest({ step }) {
    const { place, entry } = this,
      row = entry.player.rows[step];
    if (place.kind !== entry.player.kind || place.row === row) return;
    place.row = row;
    this.serial++;
    this.feed([]);
    this.publish();
  }

  /** The address of what is shown. */
  hash() {
    return hashOf(this.place, this.header, this.spoken);
  }

  /** What is around it learns what is shown. */
  publish() {
    this.around.publish(this.place, this.hash());
  }

  /**
   * Another record, kind, language or theme.
   * @param {Partial<Place>} to
   */
  go(to) {
    const { lang, theme, record, step } = this.place;
    if (to.record !== undefined) {
      this.played = null;
      this.place = { ...placeOf(`#record=${to.record + 1}`, this.header, lang), theme };
    } else if (to.kind) {
      this.place = { ...placeOf(`#record=${record + 1}&kind=${to.kind}`, this.header, lang), theme, step };
    } else Object.assign(this.place, to);
    this.show();
  }

  /**
   * An address, or Python, asks for another place: the player goes to its step, too.
   * @param {Place} place
   */
  lead(place) {
    if (place.record !== this.place.record) this.played = null;
    this.place = place;
    this.led++;
    this.show();
  }

  /**
   * The place of an address.
   * @param {string} hash
   */
  follow(hash) {
    this.lead(placeOf(hash, this.header, this.spoken));
  }

  listen() {
    const language = /** @type {HTMLSelectElement} */ (this.$("language"));
    language.replaceChildren(
      ...Object.entries(this.header.languages).map(([code, name]) =>
        Object.assign(make("option", "", name), { value: code }),
      ),
    );
    language.onchange = () => this.go({ lang: language.value });
    const pressed = (event) => /** @type {HTMLButtonElement | null} */ (event.target.closest("button"));
    this.$("kinds").onclick = (event) => {
      const kind = /** @type {Place["kind"]} */ (pressed(event)?.value);
      if (kind && kind !== this.place.kind) this.go({ kind });
    };
    this.$("records").onclick = (event) => {
      const record = pressed(event)?.value;
      if (record && Number(record) !== this.place.record) this.go({ record: Number(record) });
    };
    this.$("dark").onclick = () => {
      this.place.theme = this.dark ? "light" : "dark";
      this.repaint();
      this.publish();
    };
    this.scheme.onchange = () => this.repaint();
    this.around.listen((hash, wanted) => {
      if (hash !== null) return this.follow(hash);
      const { lang, theme, record } = this.place;
      this.lead({
        ...placeOf(`#${new URLSearchParams({ record: String(record + 1), ...wanted })}`, this.header, lang),
        theme,
      });
    });
    this.unfollow = onSteps(
      "at",
      () => this.entry.player?.revision,
      ({ step }) => {
        this.place.step = step;
        this.publish();
      },
    );
  }

  /** Draw nothing any more. */
  end() {
    this.unfollow();
    this.scheme.onchange = null;
    for (const end of Object.values(this.ends)) end();
    this.turn = { canvas: Infinity, player: Infinity };
  }

  /** The components in the colours of the theme. */
  repaint() {
    this.dress();
    this.mount("canvas");
    if (this.entry.player) this.mount("player");
  }
}
