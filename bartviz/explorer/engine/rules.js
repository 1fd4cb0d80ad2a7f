// A checkpoint's rules of decoding, each with a name, in the order in which transformers' `generate` applies them.
// Probabilities are taken from the raw logits; a rule that overrode them is named.

/** @import { Generation, Rule } from "./types.js" */

const FORCED = ["forced first token", "forced end token"];

/**
 * The rules of a generation configuration.
 * @param {Generation} g
 * @param {{ prompt: number, longest: number, source: number[] | null }} run prompt: tokens before the first new one;
 * longest: tokens in all; source: what the encoder read
 * @returns {Rule[]}
 */
export function rulesOf(g, { prompt, longest, source }) {
  /** @type {Rule[]} */
  const rules = [];
  const rule = (name, apply) => rules.push({ name, apply });
  const { ends } = g;
  if (source && g.encoderPenalty !== 1)
    rule("source preference", (scores) => penalized(scores, new Set(source), 1 / g.encoderPenalty));
  if (g.penalty !== 1) rule("repetition penalty", (scores, ids) => penalized(scores, new Set(ids), g.penalty));
  if (g.ngram) rule(`no ${g.ngram} tokens repeated`, (scores, ids) => forbid(scores, followers(ids, ids, g.ngram)));
  if (source && g.encoderNgram)
    rule(`no ${g.encoderNgram} tokens of the source`, (scores, ids) =>
      forbid(scores, followers(source, ids, g.encoderNgram)),
    );
  if (g.badWords.length) rule("excluded tokens", (scores, ids) => forbid(scores, completed(g.badWords, ids)));
  if (ends.length && g.minLength)
    rule("minimum length", (scores, ids) => (ids.length < g.minLength ? forbid(scores, ends) : scores));
  if (ends.length && g.minNew)
    rule("minimum length", (scores, ids) => (ids.length - prompt < g.minNew ? forbid(scores, ends) : scores));
  if (g.forcedFirst !== null)
    rule(FORCED[0], (scores, ids) => (ids.length === 1 ? only(scores, [g.forcedFirst]) : scores));
  if (g.forcedEnd !== null)
    rule(FORCED[1], (scores, ids) => (ids.length === longest - 1 ? only(scores, g.forcedEnd) : scores));
  if (g.suppressed.length) rule("excluded tokens", (scores) => forbid(scores, g.suppressed));
  if (g.suppressedFirst.length) {
    const first = prompt > 1 || g.forcedFirst === null ? prompt : prompt + 1;
    rule("excluded at the start", (scores, ids) => (ids.length === first ? forbid(scores, g.suppressedFirst) : scores));
  }
  return rules;
}

/**
 * The most probable token that the rules allow, and the rule that overrode the model's first choice, or null.
 * @param {Rule[]} rules
 * @param {number[]} ids so far
 * @param {Float32Array} logits (V,)
 */
export function choose(rules, ids, logits) {
  const first = largest(logits);
  let [best, decided, scores] = [first, null, logits];
  for (const { name, apply } of rules) {
    const changed = apply(scores, ids);
    const forced = FORCED.includes(name) && changed !== scores;
    scores = changed;
    const now = largest(scores);
    if (now !== best || forced) [best, decided] = [now, name];
  }
  return { token: best, rule: best !== first || FORCED.includes(decided) ? decided : null };
}

/**
 * Scores after every rule, and after all.
 * @param {Rule[]} rules
 * @param {number[]} ids
 * @param {Float32Array} scores (V,) left as they are
 */
export function applied(rules, ids, scores) {
  const stages = [];
  for (const { name, apply } of rules) stages.push({ name, scores: (scores = apply(scores, ids)) });
  return { stages, scores };
}

/**
 * The rule without which a row would not have continued with `token`: `deciding` in bartviz/run/rules.py.
 * @param {Rule[]} rules
 * @param {number[]} ids
 * @param {Float32Array} raw scores (V,) before any rule
 * @param {number} token
 */
export function deciding(rules, ids, raw, token) {
  const first = largest(raw);
  let [before, decided] = [raw, null];
  for (const { name, scores } of applied(rules, ids, raw).stages) {
    const forced = FORCED.includes(name) && scores !== before;
    if (forced || (before[first] >= before[token] && scores[first] < scores[token])) decided = name;
    before = scores;
  }
  return decided;
}

/** The index of the largest number, the first of equals. */
export function largest(numbers) {
  let best = 0;
  for (let i = 1; i < numbers.length; i++) if (numbers[i] > numbers[best]) best = i;
  return best;
}

function forbid(scores, tokens) {
  const changed = Float32Array.from(scores);
  for (const token of tokens) changed[token] = -Infinity;
  return changed;
}

function only(scores, tokens) {
  const changed = new Float32Array(scores.length).fill(-Infinity);
  for (const token of tokens) changed[token] = 0;
  return changed;
}

function penalized(scores, tokens, penalty) {
  const changed = Float32Array.from(scores);
  for (const token of tokens) changed[token] *= changed[token] < 0 ? penalty : 1 / penalty;
  return changed;
}

/** The tokens that followed, within `text`, the last n - 1 tokens of `ids`. */
function followers(text, ids, n) {
  if (ids.length + 1 < n) return [];
  const last = ids.slice(ids.length - n + 1);
  const found = [];
  for (let i = 0; i + n <= text.length; i++)
    if (last.every((token, k) => text[i + k] === token)) found.push(text[i + n - 1]);
  return found;
}

/** The last tokens of excluded sequences that the text ends with but for these. */
function completed(sequences, ids) {
  return sequences.flatMap((sequence) => {
    const before = sequence.slice(0, -1);
    const ends =
      before.length <= ids.length && before.every((token, k) => ids[ids.length - before.length + k] === token);
    return ends ? [sequence.at(-1)] : [];
  });
}
