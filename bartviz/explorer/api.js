// `bartviz` as scripts of other pages use it: a model by its number or name, and the explorer of a record in an element.

/** @import { Around, Header, LiveModel as Known, Mount, Place } from "./types.js" */
/** @import { LiveRecord } from "./client.js" */
import { entryOf } from "./entry.js";
import { Explorer } from "./page.js";
import { placeOf } from "./url_hash.js";
import { Within } from "./within.js";

/**
 * The number of a model, by its number or its name.
 * @param {Known[]} models
 * @param {number | string} which
 */
export function numberOf(models, which) {
  const number = typeof which === "number" ? which : models.findIndex(({ name }) => name === which);
  if (models[number]) return number;
  const names = models.map(({ name }, i) => `${i} or "${name}"`).join(", ");
  throw new RangeError(`There is no model ${JSON.stringify(which)} here. Choose ${names}.`);
}

/** What a page has for the explorers of its records. @typedef {{ mounts: { canvas: Mount, player: Mount },
 *   header: Header, models: Known[], parts: { [name: string]: { style: string, markup: string } } }} Kit */

/** The explorer of a record of the engine. */
class RecordExplorer extends Explorer {
  /**
   * @param {LiveRecord} record
   * @param {Around} around
   * @param {Kit} kit
   */
  constructor(record, around, { mounts, header, models }) {
    const known = models[record.model.number];
    super(around, mounts, { ...header, records: [entryIn(record, known, header)] }, (part) =>
      part instanceof Uint8Array
        ? Promise.resolve(part)
        : record.engine.ask("map", { ...part, unit: header.unit }).then(({ codes }) => codes),
    );
    this.known = known;
    this.record = record;
    this.wished = 0;
  }

  /** Write the text again with another token at a step. */
  async onWish({ step, token, text }) {
    const { record } = this,
      turn = ++this.wished,
      { force = {}, ...asked } = record.asked;
    const kept = Object.entries(force).filter(([at]) => Number(at) < step);
    const wanted = { ...Object.fromEntries(kept), [step]: token ?? text };
    const next = await record.model.capture(record.text, { ...asked, target: null, beams: 1, force: wanted });
    if (turn !== this.wished) return next.forget();
    this.record = next;
    this.header.records = [entryIn(next, this.known, this.header)];
    this.drawn.canvas = "";
    this.kept.clear();
    this.to({ step });
  }

  /** Throw RangeError for a place that is not there, which names what is. @param {Partial<Place>} wanted */
  check(wanted) {
    const { kinds, player } = this.entry,
      kind = wanted.kind ?? this.place.kind;
    if (!kinds[kind]) throw new RangeError(`There is no kind "${kind}": choose ${Object.keys(kinds).join(", ")}.`);
    const [layers, heads, rows] = kinds[kind].meta.shape;
    const counted = /** @type {Counted[]} */ ([
      ["layer", layers],
      ["head", heads],
      ["row", rows],
      ["step", player?.rows.length ?? 0],
    ]);
    for (const [name, count] of counted) {
      const number = wanted[name];
      if (number !== undefined && !(Number.isInteger(number) && number >= 0 && number < count))
        throw new RangeError(`There is no ${name} ${number}: choose 0 to ${count - 1}.`);
    }
  }

  /**
   * Another place: what is left out stays, where it can.
   * @param {Partial<Place>} wanted
   */
  to(wanted) {
    this.check(wanted);
    const given = new URLSearchParams(this.hash().slice(1));
    const gone = wanted.kind
      ? ["layer", "head", "row", "step"]
      : "row" in wanted
        ? ["step"]
        : "step" in wanted
          ? ["row"]
          : [];
    for (const name of gone) given.delete(name);
    for (const [name, value] of Object.entries(addressed(wanted))) given.set(name, String(value));
    const { theme, lang } = this.place,
      place = { ...placeOf(`#${given}`, this.header, lang), theme },
      { player } = this.entry;
    if ("step" in wanted && player?.kind === place.kind) place.row = player.rows[place.step];
    this.lead(place);
  }
}

/** A number of a place, and how many there are. @typedef {[name: "layer" | "head" | "row" | "step", count: number]} Counted */

const entryIn = (record, known, header) => {
  const entry = entryOf(record.found, known, header, 0);
  for (const { meta } of Object.values(entry.kinds)) meta.page_keys = false; // the keys of the page are its own
  for (const meta of Object.values(entry.player?.meta ?? {})) meta.page_keys = false;
  return entry;
};

/** A place as an address has it: steps are counted from 1 there. @param {Partial<Place>} place */
const addressed = ({ step, ...place }) => ({ ...place, ...(step !== undefined && { step: step + 1 }) });

/** @type {WeakMap<HTMLElement, RecordExplorer>} */
const EXPLORERS = new WeakMap();

/**
 * The explorer of a record, in an element, in the place of what is in it.
 * @param {LiveRecord} record
 * @param {HTMLElement} element
 * @param {Kit} kit
 * @param {Partial<Place>} options what is shown first
 */
export function showIn(record, element, kit, options) {
  if (!(element instanceof HTMLElement))
    throw new TypeError("bartviz.show(record, element): give an element of the page.");
  EXPLORERS.get(element)?.end();
  const shown = new RecordExplorer(record, new Within(element, kit.parts, addressed(options)), kit);
  EXPLORERS.set(element, shown);
  shown.listen();
  const drawn = shown.show();
  return {
    /** The record, which is another one after another token was chosen at a step. */
    get record() {
      return shown.record;
    },
    drawn,
    /** @param {Partial<Place>} place */
    go: (place) => shown.to(place),
    end: () => {
      shown.end();
      element.replaceChildren();
    },
  };
}
