// What the explorer's scripts hand each other. Only the type checker and editors read this file.
import type { Meta as CanvasMeta, Choice, Message, View, What } from "../browser/canvas/types.js";
import type { Meta as PlayerMeta } from "../browser/player/types.js";
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
  var bartviz: { weights(kind: Kind, layer: number, head: number, record?: number): Promise<number[][]> };
}
