// What the explorer's scripts hand each other. Only the type checker and editors read this file.
import type { Meta as CanvasMeta, Choice, Message, View, What } from "../browser/canvas/types.js";
import type { Meta as PlayerMeta } from "../browser/player/types.js";
import type { Numbers, Tokens } from "./engine/types.js";
export type { CanvasMeta, Choice, PlayerMeta, View, What };

export type Kind = "encoder" | "decoder" | "cross";
export type Words = Record<string, Message>;
/** A compressed part of the file: its offset after the header, and its length. */
export type Part = [offset: number, length: number];

/** One kind of attention of a record: `_attention` in data.py. */
export interface Shown {
  meta: Omit<CanvasMeta, "words" | "serial" | "begin" | "layers" | "light" | "tiles" | "arrays">;
  words: Record<string, Words>; // by language
  row: number; // shown first
  arrays: [name: string, type: "uint8" | "uint16", shape: number[], part: Part][];
  maps: Part[]; // of all heads, layer by layer
}

/** One record: `_record` in data.py. */
export interface Entry {
  name: string;
  source: string;
  target: string;
  about: Record<string, [name: string, fact: string][]>;
  first: { kind: Kind; layer: number; head: number };
  kinds: Partial<Record<Kind, Shown>>;
  player: { kind: Kind; revision: string; rows: number[]; meta: Record<string, PlayerMeta> } | null;
  asked?: Asked; // of a text that the engine ran
  found?: Found;
}

export interface Head {
  kind: Kind;
  layer: number;
  head: number;
}

/** How a text is run. */
export interface Options {
  target?: string | null;
  pair?: string | null; // a second text
  beams?: number;
  ablate?: string[]; // heads, such as "cross L2H5"
  force?: Record<string, number | string>; // tokens by step
  typed?: boolean;
}

/** What was asked of the engine. */
export interface Asked extends Options {
  text: string;
}

/** The header of the file: `encode` in data.py. */
export interface Header {
  unit: number;
  least: number;
  languages: Record<string, string>; // code -> its own name
  words: Record<string, Words>;
  records: Entry[];
}

/** What is shown: all that a link holds. */
export interface Place {
  record: number;
  kind: Kind;
  layer: number;
  head: number;
  what: What;
  row: number;
  view: View;
  step: number;
  lang: string;
  theme: string; // "light", "dark", or "" for the system's
}

/** Where an explorer stands: around.js and within.js. */
export interface Around {
  root: Document | ShadowRoot;
  frame: HTMLElement; // has the theme and the language
  languages: readonly string[]; // of the reader, the first first
  address: string; // what is shown first
  title(text: string): void;
  renew(host: ShadowRoot, name: string): void; // an empty component
  publish(place: Place, hash: string): void;
  listen(lead: (hash: string | null, wanted: Record<string, string>) => void): void;
}

/** A component's default export; gives what ends it. */
export type Mount = (component: object) => () => void;

/** What the notebook's widget shares with Python. */
export interface WidgetModel {
  get(name: string): any;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, call: () => void): void;
  off(event: string, call: () => void): void;
}

declare global {
  var bartviz: any; // in a recorded page `weights`, in a live one `load`, `show`, `model` and `names`
}

/** What the engine found in a text: `plain` in engine/worker.js. */
export interface Found {
  serial: number;
  given: boolean;
  text: string;
  pair: string | null;
  written: string;
  source: Tokens;
  read: Tokens | null;
  output: Tokens | null;
  start: number;
  stopped: string | null;
  aligning: Float32Array | null; // the weights of the head that is shown first, of cross-attention
  gaps: { row: number; best: { id: number; label: string; p: number }[] }[];
  shapes: Partial<Record<Kind, [layers: number, heads: number, rows: number, columns: number]>>;
  steps: (Numbers & { label: string; best: { id: number; logit: number; p: number; label: string }[] })[];
}

/** What the page says of a model: `_live` in live.py. */
export interface LiveModel {
  name: string;
  kind: string;
  mask: string | null;
  text: string; // shown first
  size: number; // of its base64 text
  address: string | null; // of its file, if it is not in the page
  width: number;
  first: Entry["first"];
  heads: Partial<Record<Kind, [layers: number, heads: number]>>;
  predicts: boolean; // whether it has an output layer
  canvas: any;
  player: any;
  words: Record<string, any>;
}

export interface LivePage {
  models: LiveModel[];
  words: Record<string, Record<string, string>>;
  version: string; // of bartviz
}
