// What the canvas's scripts hand each other. Only the type checker and editors read this file.
// Letters: Q query rows, K key columns of the attention that is shown.
import type { Mounted, Sheet, Theme } from "../shared/types.js";
export type { Sheet };

export type View = "map" | "lines" | "text";
export type What = "head" | "layer" | "all"; // one head, the mean of a layer's heads, the mean of all
export type Side = "query" | "key";
export type Selection = "rows" | "keys";
export type Span = "fixed" | "row" | "log"; // of the colour scale
/** A chip of a text: its words, its row or column (-1 where hidden), whether special, whether it touches the one before. */
export type Token = [text: string, place: number, special: boolean, joined: boolean];

/** Which map is shown. */
export interface Choice {
  layer: number;
  head: number;
  what: What;
  view?: View;
}

/** A cell, a row (no column) or a column (no row); x and y where a pointer is on it, in pixels. */
export interface Cell {
  row: number | null;
  column: number | null;
  x?: number;
  y?: number;
}

/** The part of the map that is seen: column and row at its top left corner, and how much larger than fitted it is. */
export interface Seen {
  x: number;
  y: number;
  z: number;
}

/** Where the map lies in its box: origin, size of a cell and of the whole, in pixels. */
export interface Fit {
  left: number;
  top: number;
  w: number;
  h: number;
  rows: number;
  columns: number;
  width: number;
  height: number;
  right?: number; // room for the labels on the right, in the view of lines
}

export interface Place extends Choice {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** A map that was sent: codes of Q x K weights, and what the hidden columns took of each row. */
export interface Codes {
  values: Uint16Array;
  hidden?: Uint16Array;
  scales?: Float32Array;
}

/** A map with what its colours need. */
export interface Shaded {
  values: Uint8Array | Uint16Array;
  rows: number;
  columns: number;
  table: Uint16Array;
  open?: Uint8Array | null; // (Q x K) 1 where a row may look
  scales?: Float32Array | null;
  skip?: number;
  middle?: number; // of a difference: the code of none
  of?: [rows: number, columns: number]; // of a small map: those of the map that it stands for
}

export type Weight = (row: number, column: number) => number;
/** The weights of several rows, column by column. */
export interface Summed {
  sum: ArrayLike<number>;
  mean: Float64Array;
}

export type Message = string | [one: string, several: string];

/** What Python says of the picture: `Picture._describe` in data.py. */
export interface Meta {
  revision: string;
  serial: number;
  light: boolean;
  begin: Choice & { view: View; row: number; rows: number[]; keys: number[] };
  layers: string; // "layer": the overview shows one layer's heads
  tiles: number[]; // numbers of the maps that came with this message
  arrays: [name: string, type: "uint8" | "uint16", shape: number[]][];
  shape: [layers: number, heads: number, rows: number, columns: number];
  exact: boolean; // every map came at once
  unit: number;
  limit: number | null; // of a difference of two heads: the largest; none in the middle of the codes
  small: { one: number; masked: number };
  kind: "encoder" | "decoder" | "cross";
  predicts: boolean;
  plain: boolean; // for a beginner: weights in per cent
  span: Span;
  alone: boolean; // no overview: the page says which head
  beside: string[]; // labels of a map beside this one
  label: string;
  page_keys: boolean;
  steps: { record: string; rows: number[] } | null;
  query: string[];
  key: string[];
  query_words: Record<number, string>; // the word of each row that is a piece of one
  key_words: Record<number, string>;
  query_colors: number[]; // place of each row on the palette of words, -1 where it has none
  key_colors: number[];
  palette: [light: string[], dark: string[]];
  query_special: number[];
  key_special: number[];
  query_text: Token[];
  key_text: Token[];
  hidden: string[];
  renormalised: boolean;
  words: Record<string, Message>;
  ramps: Record<string, [light: string[], dark: string[]]>;
  between: [light: string[], dark: string[]]; // the colours of a difference
}

/** Where a player stands that the canvas follows. */
export interface Step {
  step: number;
  count: number;
  playing: boolean;
}

/** Nodes that are more than an HTMLElement; the others are found by the same name, data-is. */
interface Parts {
  plot: HTMLCanvasElement;
  overview: HTMLCanvasElement;
  details: HTMLDetailsElement;
  keys: HTMLDetailsElement;
  "step-back": HTMLButtonElement;
  "step-next": HTMLButtonElement;
}

export interface Fingers {
  x: number;
  y: number;
  apart: number;
}

/** The state of one canvas: every function of these scripts that needs more than numbers gets it first, as `it`. */
export interface Canvas extends Mounted<Parts> {
  // what came from Python
  data: Uint8Array;
  meta: Meta;
  arrays: { tiles?: Uint16Array; hidden?: Uint16Array; small?: Uint8Array; mask?: Uint8Array };
  maps: Map<number, Codes>; // number of a map -> its codes
  smallMaps: { values: Uint8Array; shape: number[] } | null;
  open: Uint8Array | null; // (Q x K) 1 where a row may look; null: everywhere
  special: Record<Side, Set<number>>;
  shades: Uint16Array; // code -> place on the colour scale
  smallShades: Uint16Array;
  serial: number | null;

  // what is chosen
  choice: Choice | null;
  rows: number[];
  keys: number[];
  primary: number; // the row that is sent to Python
  anchor: Record<Selection, number>; // where a range begins
  by: Selection; // which of them was chosen last
  hover: Cell | null;
  cursor: Cell | null; // where the arrow keys are
  pointed: Place | null; // in the overview
  seen: Seen;
  large: boolean;
  moved: boolean; // by the visitor, not yet sent to Python
  reported: string | null; // the last text sent to Python
  drag: { x: number; y: number; at: Cell; moved: boolean; seen: Seen; list?: Selection } | null;
  pinch: { from: Fingers; seen: Seen } | null;

  // the player that is followed
  at: Step | null;
  grew: number | null; // when its last row began to be uncovered

  // what was drawn before a page chose something else, and the row that was framed in it, in the same picture
  left: { sheet: HTMLCanvasElement; at: number; row: number | null } | null;

  // how it is drawn
  colors: Theme & {
    bars: Record<Side, (string | undefined)[]>;
    masked: string;
    strong: string;
    ramp: number[][];
    table: Uint32Array;
    inks: string[];
  };
  theme: string;
  paints: number; // how often the colours changed
  usual: number; // how much larger than usual the type of the page is
  type: number; // and that of the map, which may have room for more
  plot: Sheet;
  small: Sheet;
  fit: Fit;
  cells: { places: Place[]; across: number };
  labels: Record<Side, string[]>;
  hatch: CanvasPattern;
  upright: boolean; // the labels of columns, which all fit above their cells
  picture: HTMLCanvasElement;
  sheet: HTMLCanvasElement;
  chips: Record<string, Map<number, Chip>>; // list -> place -> its node
  shaded: [list: string, side: Side, values: Float64Array][];
  leftOut: number; // the shade below which lines are left out
  said: string;

  // what was drawn last, so that nothing is drawn twice
  pictured: string;
  painted: string;
  overviewed: string;
  overviewOn: Sheet;
  tabled: string;
  unmeasured: boolean;
  refocus: boolean;

  // timers and listeners
  frame: number;
  after: number;
  timer: number;
  gone: boolean;
  resized: ResizeObserver;
  unfollow(): void;
  anywhere(event: KeyboardEvent): void;
}

export interface Chip extends HTMLElement {
  level?: number;
  paints?: number;
  looks?: string;
  out?: boolean;
}

/** What Streamlit calls a component with. */
export interface Component {
  parentElement: HTMLElement;
  data: Uint8Array;
  setStateValue(name: string, value: unknown): void;
}
