// What is shown, as the part of the address behind #: kind=cross&layer=2&head=3&row=5. Pure, tested with `node --test`.

/** @import { Entry, Header, Place } from "./types.js" */
import { clamp } from "../browser/shared/helpers.js";

const VIEWS = /** @type {const} */ (["map", "lines", "text"]);
const WHATS = /** @type {const} */ (["head", "layer", "all"]);
const THEMES = ["light", "dark"];

/**
 * What an address names; what it leaves out, or what the file does not have, is as at first.
 * @param {string} hash
 * @param {Header} header
 * @param {string} spoken the language where none is named
 * @returns {Place}
 */
export function placeOf(hash, header, spoken) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const index = (name, count, otherwise) => {
    const text = given.get(name) ?? "";
    return /^\d{1,6}$/.test(text) ? clamp(Number(text), 0, count - 1) : otherwise;
  };
  const record = index("record", header.records.length + 1, 1) || 1; // counted from 1, as readers do
  const entry = header.records[record - 1];
  const wanted = /** @type {Place["kind"]} */ (given.get("kind"));
  const kind = Object.hasOwn(entry.kinds, wanted ?? "") ? wanted : entry.first.kind;
  const shown = entry.kinds[kind],
    [layers, heads, rows] = shown.meta.shape;
  const first = kind === entry.first.kind ? entry.first : { layer: Math.floor(layers / 2), head: 0 };
  const row = index("row", rows, shown.row);
  return {
    record: record - 1,
    kind,
    layer: index("layer", layers, first.layer),
    head: index("head", heads, first.head),
    what: WHATS.find((what) => what === given.get("weights")) ?? "head",
    row,
    view: VIEWS.find((view) => view === given.get("view")) ?? "map",
    step: Math.max(index("step", (entry.player?.rows.length ?? 0) + 1, stepAt(entry, kind, row) + 1), 1) - 1,
    lang: Object.hasOwn(header.languages, given.get("lang") ?? "") ? given.get("lang") : spoken,
    theme: THEMES.find((theme) => theme === given.get("theme")) ?? "",
  };
}

/**
 * The step that a row is, where the kind is that of the steps; else the first.
 * @param {Entry} entry
 * @param {Place["kind"]} kind
 * @param {number} row
 */
const stepAt = ({ player }, kind, row) => (player?.kind === kind ? Math.max(player.rows.indexOf(row), 0) : 0);

/**
 * The address of what is shown, without what is as at first.
 * @param {Place} place
 * @param {Header} header
 * @param {string} spoken
 */
export function hashOf(place, header, spoken) {
  const { record, kind, layer, head, what, row, view, step, lang, theme } = place;
  const given = new URLSearchParams();
  if (record) given.set("record", String(record + 1));
  given.set("kind", kind);
  given.set("layer", String(layer));
  given.set("head", String(head));
  given.set("row", String(row));
  if (what !== "head") given.set("weights", what);
  if (view !== "map") given.set("view", view);
  if (step !== stepAt(header.records[record], kind, row)) given.set("step", String(step + 1));
  if (lang !== spoken) given.set("lang", lang);
  if (theme) given.set("theme", theme);
  return `#${given}`;
}

/**
 * The first language of the reader's that the file has, else English.
 * @param {Pick<Header, "languages">} header
 * @param {readonly string[]} languages
 */
export const spokenIn = (header, languages) =>
  languages.map((code) => code.split("-")[0]).find((code) => Object.hasOwn(header.languages, code)) ?? "en";
