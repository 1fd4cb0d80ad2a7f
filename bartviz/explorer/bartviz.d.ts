// Types of bartviz.js, which stands beside this file: models that run in a web page. Layers, heads, rows and steps count
// from 0.

export type Kind = "encoder" | "decoder" | "cross";

/** The models that can be loaded. */
export const names: string[];

/** A model, by its number or name, read once; `report` gets how much of it is there, 0 to 1. */
export function load(which?: number | string, report?: (share: number) => void): Promise<Model>;

/** Draws the explorer of a record in an element, in the place of what is in it. */
export function show(record: LiveRecord, element: HTMLElement, place?: Place): View;

export interface Model {
  name: string;
  /** Every head and step of a text. Throws an error whose `code` is "empty", "too long", "memory", "stopped", ...
   * (with "target" before it where the given output is meant), a RangeError for what the model does not have, such as a
   * head or a second text, and a TypeError for what is no text or no option. */
  capture(text: string, options?: Options): Promise<LiveRecord>;
}

export interface Options {
  target?: string; // an output that is read instead of written
  pair?: string; // a second text, for BERT and its relatives
  beams?: number; // 1 is greedy; at most 16
  ablate?: string[]; // heads that are silenced, such as "cross L2H5"
  force?: Record<number, number | string>; // tokens from a step on, as an id or a text; a word begins with a space: " Haus"
  typed?: boolean; // whether a special token in the text, such as [MASK], counts as one; false by default
}

export interface LiveRecord {
  model: Model;
  text: string;
  written: string; // by the model; "" for one that only reads
  source: Tokens;
  output: Tokens | null;
  steps: Step[];
  gaps: { row: number; best: { id: number; label: string; p: number }[] }[];
  /** The weights of a head: a row for each token that looks; each sums to 1. */
  head(kind: Kind, layer: number, head: number): Promise<number[][]>;
  inside(kind: Kind, layer: number, head: number, row: number): Promise<Inside>;
  /** Each head with the change of log p of the text without it, in nats; `turned`: rows with another best token. */
  effects(): Promise<{ kind: Kind; layer: number; head: number; change: number; turned: number }[]>;
  /** The bytes of a file that `bartviz.open` reads in Python. */
  saved(version: string): Promise<Uint8Array>;
  /** Gives its memory back. */
  forget(): void;
}

export interface Tokens {
  ids: number[];
  labels: string[];
  words: (number | null)[]; // the word that each token is a piece of
  special: boolean[];
  segments: number[];
  spans: ([from: number, to: number] | null)[]; // in code points of the text
}

export interface Step {
  label: string;
  token: number;
  p: number;
  logP: number; // nats
  bits: number; // the entropy of the distribution
  rule: string | null; // that chose the token, if it was not the model
  best: { id: number; label: string; p: number; logit: number }[];
}

/** What a row of a head computes; a number or a vector for each key that it may see. */
export interface Inside {
  d: number; // width of the head
  query: Float32Array;
  keys: Float32Array[];
  products: number[];
  scores: number[]; // products divided by the root of d
  weights: Float32Array;
  values: Float32Array[];
  output: Float32Array;
}

export interface Place {
  kind?: Kind;
  layer?: number;
  head?: number;
  row?: number;
  step?: number;
  lang?: "en" | "ko";
  theme?: "light" | "dark";
}

/** The explorer in an element, which gets an event "bartviz" with the place as its `detail` when that changes. */
export interface View {
  readonly record: LiveRecord; // another one after a reader has chosen another token at a step
  readonly drawn: Promise<void>; // when the first picture is there
  /** A step is before a row where both are given. Throws a RangeError for a place that is not there. */
  go(place: Place): void;
  end(): void;
}
