// What the engine's scripts hand each other, and what model.py writes. Only the type checker and editors read this file.

export type Kind = "encoder" | "decoder" | "cross";

/** (rows, columns); a row is its values, times its scale where there are scales. */
export interface Matrix {
  rows: number;
  columns: number;
  values: Int8Array | Float32Array;
  scales: Float32Array | null;
}

/** Numbers of tensors in the file, by role, such as "self-attention query weight". */
export type Roles = Record<string, number>;

/** An encoder or a decoder: its tensors, and the sizes of its heads. */
export interface SideSpec {
  heads: number;
  roles: Roles; // outside its layers
  layers: Roles[];
}

/** All that the engine knows of a network: `spec` in model.py. */
export interface Spec {
  width: number;
  vocabulary: number; // of what it predicts
  positions: number; // tokens that it can read
  offset: number; // rows of the position table before the first position
  factor: number; // of token embeddings
  epsilon: number; // of layer norms
  activation: string;
  norm: "post" | "pre";
  encoder: SideSpec | null;
  decoder: SideSpec | null;
  head: Roles; // what makes logits of states; empty for a base model
}

/** The state of a kind of attention in one layer: one row of `q` for each query, of `k` and `v` for each key. */
export interface Taped {
  q: Float32Array; // (Q, H * d)
  k: Float32Array; // (K, H * d)
  v: Float32Array; // (K, H * d)
  z: Float32Array; // (Q, H * d), the heads' outputs before they are projected
}

/** Factors of heads' outputs by kind and layer, (L, H): 0 silences a head. */
export type Factors = Partial<Record<Kind, Float32Array[]>>;

/** What a text becomes for a tokenizer: `tokenizer` in model.py. A template is special tokens, "A" and "B". */
export interface TokenizerSpec {
  json: any; // a tokenizer.json
  special: number[];
  unknown: number | null;
  mask: number | null;
  single: TemplatePart[];
  pair: TemplatePart[];
  target: TemplatePart[] | null;
  codes?: Record<string, number>; // Marian's languages
  output?: TokenizerSpec; // of what the model writes, where that is another one
  typed: boolean; // whether its special tokens have types of their own
  scheme: { kind: "bytes" | "prefix" | "space"; mark: string; fallback: boolean; plain: string[] };
}
export type TemplatePart = "A" | "B" | [id: number, type: number];

/** A token of a word: signs `from` to `to`. */
export interface Found {
  id: number;
  from: number;
  to: number;
}

/** A token of a text; no span for one that the tokenizer added. */
export interface Raw {
  id: number;
  segment: number;
  special: boolean;
  span: [start: number, end: number] | null;
}

export type Span = [start: number, end: number];

/** A token before it is described: `Entry` in bartviz/text/describe.py. `text` is null for a part of a character. */
export interface Token {
  id: number;
  name: string;
  written: Uint8Array;
  text: string | null;
  blank: boolean;
  segment: number;
  special: boolean;
  unknown: boolean;
  span: Span | null;
}

/** `Tokens` in bartviz/text/tokens.py. */
export interface Tokens {
  ids: number[];
  pieces: string[];
  labels: string[];
  words: (number | null)[];
  special: boolean[];
  segments: number[];
  spans: (Span | null)[];
}

/** The settings of a checkpoint for writing: `generation` in model.py. */
export interface Generation {
  start: number; // the decoder's first token
  ends: number[];
  longest: number | null;
  mostNew: number | null;
  penalty: number;
  encoderPenalty: number;
  ngram: number;
  encoderNgram: number;
  badWords: number[][];
  minLength: number;
  minNew: number;
  forcedFirst: number | null;
  forcedEnd: number[] | null;
  suppressed: number[];
  suppressedFirst: number[];
  lengthPenalty: number;
  earlyStopping: boolean | "never";
}

export interface Rule {
  name: string;
  apply: (scores: Float32Array, ids: number[]) => Float32Array;
}

/** A step: `Numbers` in bartviz/record/steps.py. */
export interface Numbers {
  position: number;
  row: number;
  token: number;
  rule: string | null;
  best: { id: number; logit: number; p: number }[];
  logit: number;
  p: number;
  logP: number;
  bits: number;
}

export interface Written {
  ids: number[];
  steps: Numbers[];
  writer: any;
  stopped: string | null;
  tree?: Tree;
}

/** A token that may follow one of the beams: `Continuation` in bartviz/run/beam_search.py. */
export interface Continuation {
  step: number;
  parent: number | null;
  beam: number;
  token: number;
  total: number;
  score: number;
  rank: number;
  state: "open" | "pruned" | "finished";
  p?: number;
  logP?: number;
  logit?: number;
  rule?: string | null;
}

/** The tree of a beam search. */
export interface Tree {
  nodes: Continuation[];
  best: number;
  beams: number;
  lengthPenalty: number;
  earlyStopping: boolean | "never";
}

/** A head that was silenced, and what became of log p of the text. */
export interface Effect {
  kind: Kind;
  layer: number;
  head: number;
  change: number; // nats
  turned: number; // rows whose best token is another one
}

/** What a row of a head computes; a number or a vector for each key that it may see. */
export interface Inside {
  d: number;
  query: Float32Array;
  keys: Float32Array[];
  products: number[]; // query times key
  scores: number[]; // divided by the root of d
  weights: Float32Array;
  values: Float32Array[];
  output: Float32Array; // the values, weighted and added
}
