// What the player's scripts hand each other. Only the type checker and editors read this file.
import type { Mounted, Sheet, Theme } from "../shared/types.js";
export type { Sheet };

export type Kind = "encoder" | "decoder" | "cross";
export type Reading = "reads" | "predicts"; // how rows are named
export type Message = string | [one: string, several: string];
/** A part of the source text, the columns that it stands for (none between tokens), and whether it is special. */
export type Segment = [text: string, columns: number[], special: boolean];
/** Label, probability, whether it was chosen, token, the share with which it could be drawn, whether a likelier one is
 * written the same. */
export type Candidate = [
  label: string,
  probability: number,
  chosen: boolean,
  token: number,
  drawn: number | null,
  alike: boolean,
];

/** One step of the decoding: a row of `steps_table`, and its words. A number that is not finite is null. */
export interface Step {
  row: number;
  reads: string;
  predicts: string;
  probability: number;
  log_probability: number | null;
  running_log_probability: number | null;
  running_probability: number | null;
  entropy_bits: number | null;
  special: boolean;
  joined: boolean;
  tag: string;
  decided: string | null;
  note: string;
  said: string;
  why: string; // the note without what is said of labels
  plain: string; // the step in plain words
  candidates: Candidate[];
}

/** Another continuation of the same text, next to the main one. */
export interface Branch {
  revision: string;
  steps: Step[];
  columns: number;
  parts: number | null; // the step where the texts part
  meets: [main: number, branch: number] | null; // where they are the same again
  said: string;
}

/** What Python says of the record: `payload` in data.py. */
export interface Meta {
  revision: string;
  start: number;
  reading: Reading;
  led: number; // grows when somebody else than the visitor chooses the step
  follows: boolean;
  page_keys?: boolean; // false where arrows without a focus are not the player's
  kind: Kind;
  scale: number; // what the weights are divided by
  source: Segment[];
  words: Record<string, Message>;
  some: Message;
  titles: Record<string, string>;
  columns: string[];
  column_words: Record<number, string>; // the word of each column that is a piece of one
  special: boolean[];
  masked: number[];
  reads: [label: string, special: boolean, joined: boolean][];
  colors: Record<"columns" | "reads" | "predicts", number[]>; // places on the palette of words, -1 for none
  palette: [light: string[], dark: string[]];
  first: number;
  steps: Step[];
  cost: {
    table: Record<string, number[]>;
    layers: number;
    encoder: { layers: number; tokens: number; operations: number } | null;
  };
  costs: boolean; // whether they are said
  plain: boolean; // for beginners: words and bars, without what is for the other levels
  naming: boolean; // whether there is a switch of the rows' names
  vocabulary: number; // tokens
  given: boolean;
  branch: Branch | null;
  heat: Heat | null;
  asks: boolean; // whether another token can be asked for
  stopped: string;
  ramps: Record<Kind, [light: string[], dark: string[]]>;
}

export type Weights = Float32Array | Uint8Array;

/** Where the cells of the matrix lie: origin, size of a cell, every which label fits. */
export interface Layout {
  left: number;
  top: number;
  w: number;
  h: number;
  rows: number;
  columns: number;
  everyRow: number;
  everyColumn: number;
}

export interface Lane {
  kind: Kind;
  name: HTMLElement;
  box: HTMLElement;
  lane: HTMLElement;
  reused: HTMLElement;
  fresh: HTMLElement;
  said: HTMLElement;
}

/** Nodes that are more than an HTMLElement; the others are found by the same name, data-is. */
interface Parts {
  curve: HTMLCanvasElement;
  matrix: HTMLCanvasElement;
  scrub: HTMLInputElement;
  temperature: HTMLInputElement;
  "cut-k": HTMLSelectElement;
  "cut-p": HTMLSelectElement;
  draw: HTMLButtonElement;
  said: HTMLInputElement;
  speed: HTMLSelectElement;
  ask: HTMLFormElement;
  details: HTMLDetailsElement;
  first: HTMLButtonElement;
  back: HTMLButtonElement;
  play: HTMLButtonElement;
  next: HTMLButtonElement;
}

/** The state of one player: every function of these scripts that needs more than numbers gets it first, as `it`. */
export interface Player extends Mounted<Parts> {
  setTriggerValue(name: string, value: unknown): void;
  go(step: number, report: boolean): void;

  // what came from Python
  meta: Meta;
  rows: Weights; // (steps x columns) of the attention that is shown
  own: Weights; // (steps x read tokens) of the decoder
  other: Weights; // (steps x columns) of the branch
  heat: Weights; // (steps x temperatures x 1 + 3 shares)
  columns: number;
  count: number; // of steps
  led: number;

  // where it stands
  step: number;
  beyond: number; // steps behind the main text's end, in a longer branch
  reading: Reading;
  range: "fixed" | "row"; // of the colour scale
  warm: number; // the number of the temperature; -1 before the first picture of a text
  cutK: number; // top-k, 0 for all
  cutP: number; // the number of the share of top-p, -1 for none
  playing: boolean;
  reported: number; // the last step sent to Python
  since: number; // when this step began, in ms
  drawn: string;

  // how it is drawn
  colors: Omit<Theme, "masked"> & { masked: string; ramps: Record<string, number[][]>; strong: Record<string, string> };
  image: HTMLCanvasElement;
  words: Record<string, (string | undefined)[]>; // the colour of each word: of "columns", "reads", "predicts"
  curve: Sheet;
  matrix: Sheet;
  place: Layout;
  labels: { reads: string[]; predicts: string[]; columns: string[] };
  hatch: CanvasPattern;
  short: boolean; // whether the source text may be in large type
  segments: { node: HTMLElement; columns: number[] }[];
  chips: { node: HTMLElement; column: number }[];
  now: HTMLElement;
  frames: HTMLElement[];
  twins: HTMLElement[]; // the frames of the branch
  written: HTMLElement[][]; // the tokens of the main text, and of the branch
  pair: { node: HTMLElement; columns: number[] }[][];
  lanes: Lane[];
  cell: number; // pixels of a token in a lane

  // timers and listeners
  raf: number;
  timer: number;
  resized: ResizeObserver;
  unfollowed(): void;
  anywhere(event: KeyboardEvent): void;
}

/** A table of weights as Arrow brings it. */
export interface Table {
  getChild(name: string): { toArray(): Weights };
}

/** What Streamlit calls a component with. */
export interface Component {
  parentElement: HTMLElement;
  data: { meta: Meta; rows: Table; own: Table; other: Table; heat?: Table };
  setStateValue(name: string, value: unknown): void;
  setTriggerValue(name: string, value: unknown): void;
}

/** A bar of the candidates: `outside` where the chosen token is not among them. */
export interface Bar {
  label: string;
  p: number;
  chosen: boolean;
  token?: number;
  outside?: boolean;
  drawn: number | null;
  rank?: number; // among the candidates
  cut?: boolean; // by top-k or top-p
}

/** What a step is at other temperatures; `rows` are its own, a line for each. */
export interface Heat {
  temperatures: number[];
  shares: number[]; // of top-p
  draws: boolean; // whether a text can be drawn
  begin: { warm: number; k: number; p: number }; // where the choices begin: those of the draw, if it was one
  ready: boolean; // whether the numbers are there
  rows?: Weights;
}

/** A part of what the columns stand for, and the weight that it gets. */
export interface Looked {
  text: string;
  columns: number[];
  special: boolean;
  mass: number;
}
