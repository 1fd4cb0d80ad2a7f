// What the ribbons show of a map: the words of both sides, and the weights between them. `ribbons` in analysis/start.py
// does the same in Python. Pure, tested with `node --test`.

/** @import { CanvasMeta } from "./types.js" */
import { filled, isolated } from "../browser/shared/helpers.js";

const FAINTEST = 0.02; // weights below this draw no ribbon
const MOST = 48; // words of a line that are drawn
const MOSTLY = 0.3; // of a word's weight, on the word that it is aligned to: `MOSTLY` in analysis/start.py

/** A word: its pieces, and the tokens from and to which it goes. @typedef {{ pieces: string[], special: boolean,
 *   from: number, to: number }} Word */

/**
 * The words that tokens are pieces of.
 * @param {CanvasMeta["query_text"]} chips
 * @returns {Word[]}
 */
export function wordsOf(chips) {
  /** @type {Word[]} */
  const words = [];
  for (const [i, [label, , special, joined]] of chips.entries()) {
    const last = words.at(-1);
    if (joined && last) {
      last.pieces.push(label);
      last.to = i + 1;
    } else words.push({ pieces: [label], special, from: i, to: i + 1 });
  }
  return words;
}

/**
 * The weights between words: summed over the pieces of a column's word, averaged over those of a row's.
 * @param {Word[]} rows
 * @param {Word[]} columns
 * @param {(row: number, column: number) => number} weight
 */
export function between(rows, columns, weight) {
  return rows.map((row) =>
    columns.map((column) => {
      let sum = 0;
      for (let i = row.from; i < row.to; i++) for (let j = column.from; j < column.to; j++) sum += weight(i, j);
      return sum / (row.to - row.from);
    }),
  );
}

/**
 * [t, s] of the words of an output and a source that choose each other, special tokens aside: `pairs` in
 * analysis/start.py.
 * @param {Word[]} below
 * @param {Word[]} above
 * @param {(row: number, column: number) => number} weight
 * @returns {[number, number][]}
 */
export function pairsOf(below, above, weight) {
  const plain = (line) => line.flatMap((word, i) => (word.special ? [] : [i])),
    [rows, columns] = [plain(below), plain(above)];
  const weights = between(
    rows.map((t) => below[t]),
    columns.map((s) => above[s]),
    weight,
  );
  const best = (numbers) => numbers.indexOf(Math.max(...numbers));
  return weights.flatMap((row, t) => {
    const s = best(row),
      mutual = s >= 0 && row[s] >= MOSTLY && best(weights.map((other) => other[s])) === t;
    return mutual ? [/** @type {[number, number]} */ ([rows[t], columns[s]])] : [];
  });
}

/**
 * The data of the ribbons. Special tokens are left out, but for gaps.
 * @param {Pick<CanvasMeta, "kind" | "query_text" | "key_text" | "query_colors" | "key_colors">} meta
 * @param {(row: number, column: number) => number} weight
 * @param {{ labels: { [name: string]: string }, row: string, column: string, none: string }} words
 * @param {{ mask: string | null, head: string, chosen: number | null }} more head: the name of the map
 */
export function ribbonsOf(meta, weight, words, { mask, head, chosen }) {
  const { kind, query_text: query, key_text: key } = meta;
  const kept = (chips) =>
    wordsOf(chips)
      .filter(({ special, pieces }) => !special || pieces[0] === mask)
      .slice(0, MOST);
  const [below, above] = [kept(query), kept(key)],
    weights = between(below, above, weight);
  const quoted = (word) => `“${isolated(word.pieces.join(""))}”`;
  const said = (word, others, own, template) => {
    const best = own.indexOf(Math.max(...own));
    if (best < 0 || own[best] < FAINTEST) return filled(words.none, { word: quoted(word) });
    return filled(template, { word: quoted(word), other: quoted(others[best]), weight: own[best].toFixed(2) });
  };
  const shown = (line, colors) =>
    line.map(({ pieces, special, from }) => ({ pieces, special, color: colors[from] ?? -1 }));
  return {
    words: { above, below },
    data: {
      kind,
      above: shown(above, meta.key_colors),
      below: shown(below, meta.query_colors),
      edges: weights.flatMap((row, t) => row.flatMap((w, s) => (w >= FAINTEST ? [[t, s, w]] : []))),
      say: {
        below: below.map((word, t) => said(word, above, weights[t], words.row)),
        above: above.map((word, s) =>
          said(
            word,
            below,
            weights.map((row) => row[s]),
            words.column,
          ),
        ),
      },
      labels: { ...words.labels, table: filled(words.labels.table, { head }) },
      chosen,
    },
  };
}

/**
 * What a word of a line stands for in a text that was run: a part of one of its texts, or a step.
 * @param {import("./types.js").Found} found
 * @param {string} kind
 * @param {"above" | "below"} line
 * @param {Word} word
 * @returns {{ segment: number, span: [number, number] } | { step: number } | null}
 */
export function placeIn(found, kind, line, { from, to }) {
  const own =
    line === "above" ? (kind === "decoder" ? "read" : "source") : { encoder: "source", decoder: "read" }[kind];
  const asks = found.shapes.encoder ? 0 : found.start; // tokens of the text before what was written
  if (own === "source" || (own === "read" && from < asks)) return spanIn(found.source, from, to);
  const first = own === "read" ? from - 1 : from; // the row that predicts it
  const step = found.steps.findIndex(({ row }) => row >= first && row < first + to - from);
  return step < 0 ? null : { step };
}

/** @returns {{ segment: number, span: [number, number] } | null} */
function spanIn({ spans, segments }, from, to) {
  const inside = spans.slice(from, to).filter(Boolean);
  if (!inside.length) return null;
  return {
    segment: segments[from],
    span: [Math.min(...inside.map(([a]) => a)), Math.max(...inside.map(([, b]) => b))],
  };
}

/**
 * A text with other letters in a part of it; parts count code points.
 * @param {string} text
 * @param {[number, number]} span
 * @param {string} word
 */
export function exchanged(text, [from, to], word) {
  const signs = [...text];
  const part = signs.slice(from, to).join(""),
    [, before, , after] = /^(\s*)(.*?)(\s*)$/su.exec(part);
  return [...signs.slice(0, from), before, word, after, ...signs.slice(to)].join("");
}
