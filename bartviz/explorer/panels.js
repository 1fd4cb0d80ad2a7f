// What a live page shows of a text besides its maps and steps: gaps, heads that were silenced, the inside of a row.

/** @import { Effect, Inside } from "./engine/types.js" */
import { percent } from "../browser/shared/percentages.js";
import { filled, make } from "../browser/shared/helpers.js";

/**
 * For each gap its best tokens, which can be pressed.
 * @param {HTMLElement} box
 * @param {{ row: number, best: { id: number, label: string, p: number }[] }[]} gaps
 * @param {{ title: string, fill: string }} words
 * @param {(gap: number, label: string) => void} fill
 */
export function showGaps(box, gaps, words, fill) {
  box.replaceChildren(
    ...gaps.map(({ best }, i) => {
      const bar = make("div", "gap");
      bar.append(make("strong", "", filled(words.title, { number: i + 1 })));
      for (const { label, p } of best.slice(0, 6)) {
        const button = make("button", "", `${label} ${percent(p)}`);
        Object.assign(button, { type: "button", title: filled(words.fill, { token: label }) });
        button.style.setProperty("--share", `${100 * p}%`);
        button.onclick = () => fill(i, label);
        bar.append(button);
      }
      return bar;
    }),
  );
}

/**
 * Two texts, the words of the second that are not the first's marked; nothing where there is no first.
 * @param {HTMLElement} box
 * @param {string[]} names
 * @param {string} before
 * @param {string | null} now null while it is not known: its place is kept
 * @param {string} same what is said where nothing changes
 */
export function showChange(box, names, before, now, same) {
  if (!before) return box.replaceChildren();
  const list = make("dl", ""),
    alike = make("dd", now === null ? "waiting" : "", now === null ? before : same),
    second = now === null || now === before ? alike : marked(before, now);
  list.append(make("dt", "", names[0]), make("dd", "", before), make("dt", "", names[1]), second);
  box.replaceChildren(list);
}

/** The words of `text` that are not in a longest common part with `before`, marked. */
function marked(before, text) {
  const [a, b] = [before.split(/(\s+)/), text.split(/(\s+)/)];
  const length = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
  const shown = make("dd", "");
  for (let i = 0, j = 0; j < b.length;) {
    if (i < a.length && a[i] === b[j]) {
      shown.append(b[j]);
      i++;
      j++;
    } else if (i < a.length && length[i + 1][j] >= length[i][j + 1]) i++;
    else shown.append(b[j].trim() ? make("mark", "", b[j++]) : b[j++]);
  }
  return shown;
}

const SHOWN = 12; // heads of a ranking

/** The place of a ranking. @param {HTMLElement} list @param {{ meta: { shape: number[] } }[]} kinds */
export function awaitRanking(list, kinds) {
  const heads = kinds.reduce((sum, { meta }) => sum + meta.shape[0] * meta.shape[1], 0);
  list.replaceChildren(...Array.from({ length: Math.min(heads, SHOWN) }, () => make("li", "waiting", "…")));
}

/**
 * The heads without which the text is least likely.
 * @param {HTMLElement} list
 * @param {Effect[]} heads
 * @param {{ turned: string }} words
 * @param {(head: Effect) => void} go
 */
export function showRanking(list, heads, words, go) {
  const first = heads.toSorted((a, b) => a.change - b.change).slice(0, SHOWN);
  list.replaceChildren(
    ...first.map((one) => {
      const item = make("li", ""),
        button = make("button", "", `${one.kind} L${one.layer}H${one.head}`);
      Object.assign(button, { type: "button" });
      button.onclick = () => go(one);
      const share = percent(Math.min(Math.exp(one.change), 1));
      item.append(button, ` ${share}`, one.turned ? ` · ${filled(words.turned, { count: one.turned })}` : "");
      return item;
    }),
  );
}

/**
 * The arithmetic of a row, from the query to the output.
 * @param {HTMLElement} box
 * @param {Inside} inside
 * @param {{ query: string, keys: string[] }} labels
 * @param {{ [name: string]: string }} words
 */
export function showInside(box, inside, labels, words) {
  const { query, keys, products, scores, weights, values, output } = inside;
  const most = Math.max(...[query, output, ...keys, ...values].flatMap((vector) => [...vector].map(Math.abs)), 1e-9);
  const table = make("table", ""),
    head = table.createTHead().insertRow(),
    body = table.createTBody();
  const titles = ["key", "vector", "product", "score", "weight", "value"];
  for (const name of titles)
    head.append(
      Object.assign(make("th", name === "key" || name === "vector" || name === "value" ? "" : "number", words[name]), {
        scope: "col",
      }),
    );
  keys.forEach((key, i) => {
    const row = body.insertRow();
    row.append(Object.assign(make("th", "", labels.keys[i]), { scope: "row" }));
    row.insertCell().append(strip(key, most));
    for (const value of [products[i], scores[i], weights[i]])
      row.append(make("td", "number", value.toFixed(value === weights[i] ? 3 : 2)));
    row.insertCell().append(strip(values[i], most));
  });
  const scroll = make("div", "scroll");
  scroll.append(table);
  box.replaceChildren(
    line(filled(words.query, { token: labels.query }), query, most),
    make("p", "note", filled(words.divided, { root: Math.sqrt(inside.d).toFixed(2), d: inside.d })),
    scroll,
    line(words.output, output, most),
  );
}

function line(said, vector, most) {
  const box = make("div", "");
  box.append(make("p", "", said), strip(vector, most));
  return box;
}

const BELOW = [33, 102, 172]; // blue
const ABOVE = [178, 24, 43]; // red

/** A vector as a row of colours: blue below zero, red above. */
function strip(vector, most) {
  const canvas = /** @type {HTMLCanvasElement} */ (make("canvas", ""));
  [canvas.width, canvas.height] = [vector.length, 1];
  canvas.style.width = `${4 * vector.length}px`;
  const context = canvas.getContext("2d"),
    pixels = context.createImageData(vector.length, 1);
  vector.forEach((value, i) =>
    pixels.data.set([...(value < 0 ? BELOW : ABOVE), 255 * (Math.abs(value) / most) ** 0.7], 4 * i),
  );
  context.putImageData(pixels, 0, 0);
  return canvas;
}

const COLOURS = { encoder: "--st-green-color", decoder: "--st-orange-color", cross: "--st-violet-color" };
const HIGH = 30; // pixels

/**
 * Which row may look at which column: filled where it may.
 * @param {HTMLCanvasElement} canvas
 * @param {{ kind: string, shape: number[] }} meta
 */
export function showMask(canvas, { kind, shape: [, , rows, columns] }) {
  [canvas.width, canvas.height] = [columns, rows];
  canvas.style.height = `${HIGH}px`;
  canvas.style.width = `${Math.max(6, Math.min((HIGH * columns) / rows, 4 * HIGH))}px`;
  const context = canvas.getContext("2d");
  context.fillStyle = getComputedStyle(canvas).getPropertyValue(COLOURS[kind]).trim();
  for (let row = 0; row < rows; row++) context.fillRect(0, row, kind === "decoder" ? row + 1 : columns, 1);
}
