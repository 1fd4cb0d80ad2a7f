// A live page: the explorer, whose texts a worker runs through the models that are in the file.

/** @import { Asked, LivePage, Mount } from "./types.js" */
import { filled, make } from "../browser/shared/helpers.js";
import { percent } from "../browser/shared/percentages.js";
import { numberOf, showIn } from "./api.js";
import { OwnPage } from "./around.js";
import { sendSteps } from "../browser/shared/steps.js";
import { Engine, EngineError, headOf, lacks, LiveModel } from "./client.js";
import { entryOf } from "./entry.js";
import { opened } from "./file.js";
import { Explorer } from "./page.js";
import { Words } from "./words.js";
import { awaitRanking, showChange, showGaps, showInside, showMask, showRanking } from "./panels.js";
import { spokenIn } from "./url_hash.js";

const headName = ({ kind, layer, head }) => `${kind} L${layer}H${head}`;

/** What was asked for besides the heads that are silenced, to be compared. @param {Asked} asked */
const wholeOf = (asked) => JSON.stringify({ ...asked, ablate: undefined });

export class Live extends Explorer {
  /**
   * @param {{ canvas: Mount, player: Mount, ribbons: Mount }} mounts
   * @param {any} header
   * @param {(place: any) => Promise<Uint8Array>} part
   * @param {LivePage} live
   */
  constructor(mounts, header, part, live) {
    super(new OwnPage(), mounts, header, (place) => this.found(place, part));
    this.live = live;
    this.engine = null;
    /** @type {Map<number, Promise<LiveModel>>} */
    this.models = new Map();
    /** @type {Map<number, import("./client.js").LiveRecord>} what the engine found last, by model */
    this.records = new Map();
    this.lent = new WeakSet(); // records of scripts, which forget them themselves
    /** @type {Map<number, { asked: string, written: string }>} each model's text with all its heads */
    this.whole = new Map();
    this.ranked = ""; // what was asked for when the heads were ranked
    this.running = 0;
    this.works = false;
    this.looked = 0;
    this.$("canvas").after(this.$("tried"));
    this.$("kinds").closest("section").before(this.$("gaps"));
    this.$("kinds").closest("section").after(this.$("words"));
    this.mask = /** @type {HTMLCanvasElement} */ (make("canvas", "mask"));
    this.mask.setAttribute("aria-hidden", "true"); // the sentence beside it says the same
    this.$("kind-said").before(this.mask);
    this.words = new Words(this, mounts.ribbons);
  }

  /** The bytes of a part: of the file, of the engine, or made here. */
  found(place, part) {
    if (Array.isArray(place)) return part(/** @type {any} */ (place));
    if (place instanceof Uint8Array) return Promise.resolve(place);
    return this.engine.ask("map", { ...place, unit: this.header.unit }).then(({ codes }) => codes);
  }

  word(name, values = {}) {
    return filled(this.live.words[this.place.lang][name], values);
  }

  tell(text) {
    this.$("state").textContent = text;
  }

  get number() {
    return this.place.record;
  }

  get known() {
    return this.live.models[this.number];
  }

  /** What was asked for, of the text that is shown. @returns {Asked} */
  get wanted() {
    return this.header.records[this.number].asked ?? { text: this.known.text };
  }

  /**
   * A model, read once.
   * @returns {Promise<LiveModel>}
   */
  load(number = this.number) {
    if (!this.engine) return Promise.reject(new EngineError("old", { what: lacks() }));
    if (!this.models.has(number)) {
      const node = document.getElementById(`model-${number}`);
      const read = async () => {
        const { address } = this.live.models[number];
        if (!address && (node?.textContent.length ?? 0) < this.live.models[number].size)
          throw new EngineError("damaged");
        const report = ({ progress }) => this.tell(this.word("loading", { share: percent(progress) }));
        const where = address ? { address: new URL(address, location.href).href } : { data: node.textContent };
        await this.engine.ask("load", { number, ...where }, report);
        node?.remove();
        this.tell("");
        return new LiveModel(this.engine, number, this.live.models[number]);
      };
      const reading = read();
      this.models.set(number, reading);
      reading.catch(() => this.models.delete(number)); // the next text tries again
    }
    return this.models.get(number);
  }

  /**
   * Run a text, and show it, at a step -> whether it is shown: something else may have been asked for since.
   * @param {Asked} asked
   */
  async run(asked, step = 0) {
    let shown = false;
    const number = this.number,
      known = this.known,
      serial = ++this.running;
    this.busy(true);
    if (wholeOf(asked) !== this.ranked || this.$("ranking").querySelector(".waiting")) this.unrank();
    try {
      const model = await this.load(number);
      if (serial !== this.running) return;
      this.tell(this.word("running"));
      const report = ({ step: done }) => done && this.tell(this.word("step", { step: done[0] }));
      const typed = Boolean(known.mask && `${asked.text} ${asked.pair ?? ""}`.includes(known.mask));
      const { text, target, pair, beams, force, ablate } = asked;
      const wanted = { typed, target: target || null, pair: pair || null, beams, force, ablate };
      const record = await model.capture(text, wanted, report);
      if (serial !== this.running) return record.forget();
      const cut = record.found.stopped === "length limit";
      this.tell(cut ? this.word("limit", { count: record.steps.length }) : "");
      const before = this.records.get(number);
      if (before && !this.lent.has(before)) before.forget();
      this.records.set(number, record);
      const drawn = this.put(record.found, number, asked, step);
      this.compare(record, asked);
      await drawn;
      shown = true;
    } catch (error) {
      if (serial === this.running) this.fail(error);
    } finally {
      if (serial === this.running) this.busy(false);
    }
    return shown && serial === this.running;
  }

  fail(error) {
    const { code = "broken", values = { what: String(error) } } = error instanceof EngineError ? error : {};
    this.tell(this.word(code in this.live.words.en ? code : "broken", values));
  }

  /** While the engine works, it can be stopped. */
  busy(is) {
    this.works = is;
    this.$("stop").hidden = !is;
    this.enable();
  }

  /** What can be pressed now. */
  enable() {
    const silenced = this.wanted.ablate ?? [];
    const off = {
      silence: silenced.includes(headName(this.place)),
      restore: !silenced.length,
      rank: !this.known.predicts,
      save: false,
    };
    this.$("silenced").textContent = silenced.length ? this.word("silenced", { heads: silenced.join(", ") }) : "";
    this.$("silence-said").textContent = this.word(this.known.predicts ? "silence-said" : "silence-maps");
    for (const [name, is] of Object.entries(off))
      /** @type {HTMLButtonElement} */ (this.$(name)).disabled = is || this.works;
  }

  /** What the engine found, in the place of what its model showed. */
  async put(found, number, asked, step) {
    const { header, place } = this;
    const entry = entryOf(found, this.live.models[number], header, number);
    header.records[number] = Object.assign(entry, { name: header.records[number].name, asked, found });
    this.kept.clear();
    if (place.record !== number) return;
    const kind = entry.kinds[place.kind] ? place.kind : entry.first.kind;
    const { shape } = entry.kinds[kind].meta;
    const stays = kind === place.kind && place.layer < shape[0] && place.head < shape[1];
    const { row } = entry.kinds[kind],
      steps = kind === entry.player?.kind ? entry.player.rows : [];
    const at = step || Math.max(steps.indexOf(row), 0); // map and player show the same row
    Object.assign(place, { ...(stays ? {} : entry.first), kind, row: steps[at] ?? row, step: at });
    this.drawn.canvas = "";
    await this.show();
  }

  /** A record that a script has made, shown as if its text had been typed. */
  take(record) {
    const { number } = record.model,
      asked = { ...record.asked, text: record.text };
    this.records.set(number, record);
    this.lent.add(record);
    this.put(record.found, number, asked, 0);
    if (number !== this.number) return this.go({ record: number });
    this.fill();
    this.compare(record, asked);
  }

  /** Whether the engine has run the text that is shown; it does so now if it has not. */
  async ready() {
    if (!this.records.has(this.number) && this.engine) await this.run(this.wanted, this.place.step);
    return this.records.has(this.number);
  }

  /** The canvas shows another row of its kind. */
  chooseRow(row) {
    const { player } = this.entry,
      step = player?.kind === this.place.kind ? player.rows.indexOf(row) : -1;
    if (step >= 0) return sendSteps("ask", { record: player.revision, to: step }); // the canvas follows it
    if (row === this.place.row) return;
    this.place.row = row;
    if (!this.drawn.canvas) return; // it is being drawn, with this row
    this.serial++;
    this.feed([]);
    this.publish();
  }

  /** What silencing heads has changed, beside the text with all of them. */
  compare(record, asked) {
    const { written, found } = record,
      key = wholeOf(asked),
      silenced = asked.ablate ?? [],
      gap = found.gaps.map(({ best }) => `${best[0].label} ${percent(best[0].p)}`).join(", ");
    const said = record.steps.length ? written : gap;
    if (!silenced.length) this.whole.set(this.number, { asked: key, written: said });
    const whole = this.whole.get(this.number);
    const compared = silenced.length && whole?.asked === key && said;
    this.change(compared ? whole.written : "", silenced, said);
  }

  /**
   * The text with all heads and without some; nothing where there is none.
   * @param {string} whole
   * @param {string[]} silenced
   * @param {string | null} now null while it is written
   */
  change(whole, silenced, now) {
    const names = [this.word("with all"), this.word("without", { heads: silenced.join(", ") })];
    showChange(this.$("changed"), names, whole, now, this.word("unchanged"));
  }

  /** Write the text again with another token at a step, a candidate or what was typed. */
  onWish({ step, token, text }) {
    const { force = {}, ...asked } = this.wanted;
    const kept = Object.entries(force).filter(([at]) => Number(at) < step);
    this.run({ ...asked, target: "", beams: 1, force: { ...Object.fromEntries(kept), [step]: token ?? text } }, step);
  }

  /** Run a text with heads silenced, or with all of them again. @param {string[]} ablate @param {Asked} asked */
  async silence(ablate, asked = this.wanted, step = 0) {
    const whole = this.whole.get(this.number),
      known = whole?.asked === wholeOf(asked),
      same = wholeOf(asked) === wholeOf(this.wanted);
    this.change(ablate.length ? (known ? whole.written : same ? this.entry.target : "") : "", ablate, null); // its place
    if (ablate.length && !known && this.known.predicts && !(await this.run({ ...asked, ablate: [] }, step))) return;
    await this.run({ ...asked, ablate }, step);
    if ((this.wanted.ablate ?? []).join() !== ablate.join()) this.change("", [], null); // stopped, or another text
  }

  /** Show a head, of whatever kind. */
  choose({ kind, layer, head }) {
    const { place, entry } = this;
    Object.assign(place, {
      row: kind === place.kind ? place.row : entry.kinds[kind].row,
      kind,
      layer,
      head,
      what: "head",
    });
    this.show();
  }

  /** Every head of the text by what the text loses without it. */
  async rank() {
    const bar = /** @type {HTMLProgressElement} */ (this.$("ranked"));
    this.busy(true);
    this.$("ranking-said").hidden = false;
    awaitRanking(this.$("ranking"), Object.values(this.entry.kinds));
    this.ranked = wholeOf(this.wanted);
    if (!this.records.has(this.number)) await this.run(this.wanted);
    const record = this.records.get(this.number),
      serial = ++this.running;
    if (!record) return this.unrank();
    [bar.value, bar.hidden] = [0, false];
    this.busy(true);
    try {
      const heads = await record.effects(({ progress }) => (bar.value = progress));
      if (serial !== this.running) return;
      showRanking(this.$("ranking"), heads, { turned: this.word("turned") }, (head) => this.choose(head));
      if (this.wanted.ablate?.length) this.ranked = ""; // it holds without the others alone
    } catch (error) {
      if (serial !== this.running) return;
      this.unrank();
      this.fail(error);
    } finally {
      bar.hidden = true;
      if (serial === this.running) this.busy(false);
    }
  }

  unrank() {
    this.ranked = "";
    this.$("ranking-said").hidden = true;
    this.$("ranking").replaceChildren();
  }

  /** The inside of the row that is shown, where its box is open. */
  async look() {
    const box = /** @type {HTMLDetailsElement} */ (this.$("inside-box"));
    if (!box.open) return;
    const turn = ++this.looked;
    if (!this.records.has(this.number)) await this.run(this.wanted);
    const record = this.records.get(this.number),
      { kind, layer, head, row } = this.place;
    if (!record || turn !== this.looked || !record.found.shapes[kind]) return;
    const inside = await record.inside(kind, layer, head, row).catch(() => null);
    if (!inside || turn !== this.looked) return;
    const { query, key } = this.shown.meta;
    const names = ["query", "divided", "output", "key", "vector", "product", "score", "weight", "value"];
    const words = Object.fromEntries(names.map((name) => [name, this.live.words[this.place.lang][`inside ${name}`]]));
    showInside(this.$("inside"), inside, { query: query[row], keys: key }, words);
  }

  async save() {
    if (!(await this.ready())) return;
    const record = this.records.get(this.number);
    try {
      const file = await record.saved(this.live.version);
      const link = Object.assign(document.createElement("a"), {
        href: URL.createObjectURL(new Blob([file], { type: "application/octet-stream" })),
        download: `${this.known.name}.safetensors`,
      });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    } catch (error) {
      this.fail(error);
    }
  }

  async copyLink() {
    const link = new URL(this.hash(), location.href).href;
    try {
      await navigator.clipboard.writeText(link);
      this.tell(this.word("copied"));
    } catch {
      this.tell(link);
    }
  }

  /** What is shown and what was asked for: all that a link holds. */
  hash() {
    const given = new URLSearchParams(super.hash().slice(1));
    const { text, target, pair, beams, force, ablate } = this.wanted;
    if (text !== this.known.text || this.header.records[this.number].asked) given.set("text", text);
    if (target) given.set("target", target);
    if (pair) given.set("pair", pair);
    if (beams > 1) given.set("beams", String(beams));
    if (ablate?.length) given.set("without", ablate.join(","));
    for (const [step, token] of Object.entries(force ?? {})) given.append("force", `${step}:${token}`);
    return `#${given}`;
  }

  publish() {
    super.publish();
    this.look();
  }

  /**
   * What a link asks for; nothing where it names no text.
   * @param {string} hash
   * @returns {Asked | null}
   */
  askedBy(hash) {
    const given = new URLSearchParams(hash.replace(/^#/, "")),
      text = given.get("text");
    if (text === null) return null;
    const forced = given.getAll("force").flatMap((one) => {
      const found = /^(\d{1,4}):(.*)$/s.exec(one);
      return found ? [[found[1], /^\d+$/.test(found[2]) ? Number(found[2]) : found[2]]] : [];
    });
    const names = (given.get("without") ?? "").split(",").filter(Boolean);
    const beams = Number(given.get("beams") ?? 1);
    return {
      text,
      target: given.get("target") ?? "",
      pair: this.known.kind === "encoder" ? (given.get("pair") ?? "") : "",
      beams: beams >= 1 && beams <= 5 ? Math.floor(beams) : 1,
      force: Object.fromEntries(forced),
      ablate: names.filter((name) => this.has(name)),
    };
  }

  /** Say which heads of a link this model does not have. */
  tellUnknown(hash, { ablate = [] }) {
    const names = (new URLSearchParams(hash.replace(/^#/, "")).get("without") ?? "").split(",").filter(Boolean),
      unknown = names.filter((name) => !ablate.includes(name));
    if (unknown.length) this.tell(this.word("no heads", { heads: unknown.join(", ") }));
  }

  has(name) {
    try {
      const { kind, layer, head } = headOf(name),
        shape = this.entry.kinds[kind]?.meta.shape;
      return Boolean(shape && layer < shape[0] && head < shape[1]);
    } catch {
      return false;
    }
  }

  /** The texts of the form are those of what is shown. */
  fill() {
    const { text, target, pair, beams = 1 } = this.wanted,
      encodes = this.known.kind === "encoder";
    const set = (name, value) => Object.assign(this.$(name), { value });
    set("text", text);
    set("given", target ?? "");
    set("pair", pair ?? "");
    set("beams", String(beams));
    this.$("pair-box").hidden = !encodes;
    this.$("given-box").hidden = this.$("beams-box").hidden = encodes;
  }

  write() {
    super.write();
    const form = ["write", "run", "stop", "more-said", "pair-said", "given-said", "beams-said"];
    const tried = ["silence-title", "restore", "rank", "ranking-said", "inside-said", "save", "link"];
    for (const name of [...form, "change-run", "mask-word", ...tried]) this.$(name).textContent = this.word(name);
    this.words.field.setAttribute("aria-label", this.word("own word"));
    showMask(this.mask, this.shown.meta);
    this.mask.title = this.word("mask");
    const { kind, layer, head, what } = this.place,
      named = headName({ kind, layer, head });
    this.$("silence").textContent = this.word("silence", { head: named });
    this.$("silence").hidden = what !== "head";
    this.enable();
    const words = { title: this.live.words[this.place.lang].gap, fill: this.live.words[this.place.lang].fill };
    showGaps(this.$("gaps"), this.entry.found?.gaps ?? [], words, (gap, label) => this.fillGap(gap, label));
  }

  repaint() {
    super.repaint();
    showMask(this.mask, this.shown.meta);
  }

  async show() {
    await Promise.all([super.show(), this.words.show()]);
  }

  onChoice(said) {
    super.onChoice(said);
    this.write();
    this.words.show();
  }

  /** The text with a gap filled. */
  async fillGap(gap, label) {
    const { mask } = this.known;
    let seen = -1;
    const { text, pair } = this.wanted,
      fill = (one) => one?.replaceAll(mask, (found) => (++seen === gap ? label : found));
    await this.run({ ...this.wanted, text: fill(text), pair: fill(pair) });
    this.fill();
  }

  go(to) {
    super.go(to);
    if (to.record !== undefined) {
      this.fill();
      this.change("", [], null);
      this.unrank();
    }
  }

  /** Another address asks for another place, and perhaps for another text. */
  follow(hash) {
    super.follow(hash);
    const asked = this.askedBy(hash);
    if (asked && JSON.stringify(asked) !== JSON.stringify(this.askedBy(this.hash()))) {
      this.silence(asked.ablate, asked, this.place.step).then(() => {
        this.fill();
        this.tellUnknown(hash, asked);
      });
    }
  }

  listen() {
    super.listen();
    const area = (name) => /** @type {HTMLTextAreaElement} */ (this.$(name)),
      form = /** @type {HTMLFormElement} */ (this.$("live"));
    this.fill();
    form.onsubmit = (event) => {
      event.preventDefault();
      const encodes = this.known.kind === "encoder";
      const asked = encodes
        ? { text: area("text").value, pair: area("pair").value }
        : { text: area("text").value, target: area("given").value, beams: Number(area("beams").value) };
      this.silence(this.wanted.ablate ?? [], asked);
    };
    for (const name of ["text", "given", "pair"])
      area(name).onkeydown = (event) => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        form.requestSubmit();
      };
    this.$("stop").onclick = () => {
      this.running++;
      this.engine.ask("stop").catch(() => {});
      this.busy(false);
      if (this.$("ranking").querySelector(".waiting")) this.unrank();
      this.tell(this.word("stopped"));
    };
    this.$("silence").onclick = () => this.silence([...(this.wanted.ablate ?? []), headName(this.place)]);
    this.$("restore").onclick = () => this.silence([]);
    this.$("rank").onclick = () => this.rank();
    this.$("save").onclick = () => this.save();
    this.$("link").onclick = () => this.copyLink();
    this.$("inside-box").ontoggle = () => this.look();
  }
}

/** Components by name, as the page's templates have them. */
function templatesOf(...names) {
  const part = (name) => {
    const { content } = /** @type {HTMLTemplateElement} */ (document.getElementById(name)),
      whole = /** @type {DocumentFragment} */ (content.cloneNode(true)),
      style = whole.querySelector("style"),
      holder = document.createElement("template");
    style.remove();
    holder.content.append(whole);
    return { style: style.textContent, markup: holder.innerHTML };
  };
  return Object.fromEntries(names.map((name) => [name, part(name)]));
}

/**
 * @param {{ canvas: Mount, player: Mount, ribbons: Mount }} mounts
 */
export default async function start(mounts) {
  await new Promise((resolve) =>
    document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", resolve) : resolve(null),
  );
  if (!document.getElementById("live")) return; // the file was cut before it, which is said
  const live = JSON.parse(document.getElementById("live").textContent),
    what = lacks();
  if (what === "DecompressionStream") {
    const words = live.words[spokenIn({ languages: live.words }, navigator.languages)];
    document.querySelector("[data-is=state]").textContent = filled(words["too old"], { what });
    document.documentElement.dataset.ready = "no";
    return;
  }
  const { header, part } = await opened(document.getElementById("data").textContent);
  if (!what)
    for (const { player } of header.records)
      for (const meta of Object.values(player?.meta ?? {})) meta.asks = !meta.given;
  const page = new Live(mounts, header, part, live);
  page.listen();
  const asked = page.askedBy(location.hash);
  await page.show();
  document.documentElement.dataset.ready = "yes";
  if (what) return page.tell(page.word("old", { what }));
  page.engine = new Engine(document.getElementById("worker").textContent);
  const kit = { mounts, header: page.header, models: live.models, parts: templatesOf("explorer", "canvas", "player") };
  globalThis.bartviz = {
    names: live.models.map(({ name }) => name),
    load: (which = 0) => page.load(numberOf(live.models, which)),
    show: (record, element = null, options = {}) =>
      element ? showIn(record, element, kit, options) : page.take(record),
    get model() {
      return page.load(0);
    },
  };
  if (asked) {
    page.header.records[page.number].asked = asked;
    page.fill();
    page.silence(asked.ablate, asked, page.place.step).then(() => page.tellUnknown(location.hash, asked));
  } else
    // The picture first: a device may have one core.
    requestAnimationFrame(() => requestAnimationFrame(() => page.load().catch((error) => page.fail(error))));
}
