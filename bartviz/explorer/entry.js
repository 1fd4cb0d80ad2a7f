// What the engine found, as an entry of the explorer: `_record` in data.py, whose words are templates here. Pure.

/** @import { Entry, Found, Header, Kind, LiveModel, Shown } from "./types.js" */
import { percent } from "../browser/shared/percentages.js";
import { filled, inWord } from "../browser/shared/helpers.js";
import { CONTINUES } from "./engine/continues.js";
import { pairsOf, wordsOf } from "./ribbon_data.js";

const BYTES = 4; // of a float32
const LETTERED = /[\p{L}\p{N}]/u;

/**
 * @param {Found} found
 * @param {LiveModel} live the words of its model
 * @param {Header} header
 * @param {number} number of the entry
 * @returns {Entry}
 */
export function entryOf(found, live, header, number) {
  const kinds = /** @type {Kind[]} */ (["encoder", "decoder", "cross"]).filter((kind) => found.shapes[kind]);
  return {
    name: shortened([found.text, found.written].filter(Boolean).join(" → ")),
    source: shortened([found.text, found.pair].filter(Boolean).join(" · ")),
    target: shortened(found.written),
    about: each(header, (lang) => facts(found, live.words[lang])),
    first: live.first,
    kinds: Object.fromEntries(kinds.map((kind) => [kind, shownOf(found, kind, live, header, number)])),
    player: found.steps.length ? playerOf(found, live, header) : null,
  };
}

const each = (header, make) => Object.fromEntries(Object.keys(header.languages).map((lang) => [lang, make(lang)]));

function shortened(text) {
  const line = text.trim().split(/\s+/u).join(" ");
  return line.length <= 160 ? line : `${line.slice(0, 159)}…`;
}

function facts(found, words) {
  const shapes = Object.entries(found.shapes).map(([kind, [layers, heads]]) =>
    filled(words.sizes, { kind: words[kind], layers, heads }),
  );
  const texts = [
    [words.source, found.text],
    ...(found.pair ? [[words.pair, found.pair]] : []),
    ...(found.written ? [[words.output, found.written]] : []),
  ];
  return [[words.model, words.name], [words.attention, shapes.join(" · ")], ...texts, [words.checks, words.computed]];
}

/** @returns {Shown} */
function shownOf(found, kind, live, header, number) {
  const shape = found.shapes[kind],
    [layers, heads, rows, columns] = shape;
  const query = kind === "cross" ? found.output : kind === "decoder" ? found.read : found.source,
    key = kind === "decoder" ? found.read : found.source;
  const special = (tokens) => tokens.special.flatMap((is, i) => (is ? [i] : []));
  const maps = Array.from({ length: layers * heads }, (_, i) => ({
    record: found.serial,
    kind,
    layer: Math.floor(i / heads),
    head: i % heads,
  }));
  /** @type {Shown["arrays"]} */
  const arrays = kind === "decoder" ? [["mask", "uint8", [rows, Math.ceil(columns / 8)], causal(rows, columns)]] : [];
  const colors = colorsOf(found, live.canvas.palette[0].length);
  return {
    meta: {
      ...live.canvas,
      revision: `${number} ${found.serial} ${kind}`,
      shape,
      exact: true,
      unit: header.unit,
      kind,
      predicts: kind === "cross",
      page_keys: !found.steps.length,
      query: query.labels,
      key: key.labels,
      query_special: special(query),
      key_special: special(key),
      query_words: piecesOf(query),
      key_words: piecesOf(key),
      query_colors: kind === "cross" ? colors.predicts : kind === "decoder" ? colors.reads : colors.source,
      key_colors: kind === "decoder" ? colors.reads : colors.source,
      query_text: chips(query),
      key_text: chips(key),
    },
    words: each(header, (lang) => live.words[lang].canvas[kind]),
    row: Math.max(query.special.indexOf(false), 0),
    arrays,
    maps: /** @type {any} */ (maps),
  };
}

/** Which cells a row may see, eight a byte. */
function causal(rows, columns) {
  const width = Math.ceil(columns / 8),
    bits = new Uint8Array(rows * width);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column <= row; column++) bits[row * width + (column >> 3)] |= 128 >> (column & 7);
  return /** @type {any} */ (bits);
}

/** For each token, whether it continues the word of the one before. */
const touching = ({ words, segments }) =>
  words.map((word, i) => i > 0 && word !== null && word === words[i - 1] && segments[i] === segments[i - 1]);

/**
 * The places of words on a palette, as `word_colors.of` has them: a word of an output has that of the word which it is
 * aligned to by the head that is shown first.
 * @param {Found} found
 * @param {number} most of the palette
 */
export function colorsOf(found, most) {
  if (!found.shapes.encoder) {
    const reads = wordPlaces(found.read, most);
    return { source: reads, reads, predicts: [...reads.slice(1), -1] };
  }
  const source = wordPlaces(found.source, most),
    predicts = found.aligning ? alignedPlaces(found, source) : [];
  return { source, reads: predicts.length ? [-1, ...predicts.slice(0, -1)] : [], predicts };
}

/** For each token of the output the place of its word. @param {Found} found @param {number[]} source */
function alignedPlaces({ source: tokens, output, aligning }, source) {
  const [below, above] = [wordsOf(chips(output)), wordsOf(chips(tokens))],
    places = output.labels.map(() => -1);
  for (const [t, s] of pairsOf(below, above, (row, column) => aligning[row * tokens.labels.length + column]))
    places.fill(source[above[s].from], below[t].from, below[t].to);
  return places;
}

function wordPlaces(tokens, most) {
  let next = 0;
  return groupsOf(tokens).flatMap((word) => {
    const spoken = !tokens.special[word[0]] && word.some((at) => LETTERED.test(tokens.labels[at]));
    const place = spoken ? next++ % most : -1;
    return word.map(() => place);
  });
}

/** The tokens of each word, as `word_groups` in words.py. @returns {number[][]} */
function groupsOf(tokens) {
  const touches = touching(tokens),
    /** @type {number[][]} */ found = [];
  tokens.labels.forEach((_, at) => (touches[at] ? found.at(-1).push(at) : found.push([at])));
  return found;
}

/** The word of each token that is a piece of one, as `pieces_of` in words.py. */
function piecesOf(tokens) {
  const bare = (label) => (label.startsWith(CONTINUES) ? label.slice(CONTINUES.length) : label);
  /** @type {Record<number, string>} */
  const found = {};
  for (const word of groupsOf(tokens)) {
    const lettered = word.filter((at) => LETTERED.test(tokens.labels[at]));
    if (lettered.length < 2) continue;
    const text = tokens.labels
      .slice(lettered[0], lettered.at(-1) + 1)
      .map(bare)
      .join("");
    for (const at of lettered) found[at] = text;
  }
  return found;
}

function chips(tokens) {
  const touches = touching(tokens);
  return tokens.labels.map((label, i) => {
    const bare = label.startsWith(CONTINUES) ? label.slice(CONTINUES.length) : label;
    return [touches[i] ? bare || label : label, i, tokens.special[i], touches[i]];
  });
}

const reads = (tokens) => {
  const touches = touching(tokens);
  return tokens.labels.map((label, i) => [label, tokens.special[i], touches[i]]);
};

/** @returns {Entry["player"]} */
function playerOf(found, live, header) {
  const crosses = Boolean(found.shapes.cross),
    kind = /** @type {Kind} */ (crosses ? "cross" : "decoder");
  const first = crosses ? 0 : found.steps[0].row + 1;
  const source = crosses ? found.source : sliced(found.read, first);
  const colors = colorsOf(found, live.player.palette[0].length);
  const meta = (words) => ({
    ...live.player,
    ...(found.given ? words.given : words.decoded),
    revision: `live ${found.serial}`,
    kind,
    source: running(found.text, source),
    columns: (crosses ? found.source : found.read).labels,
    column_words: piecesOf(crosses ? found.source : found.read),
    special: (crosses ? found.source : found.read).special,
    masked: [],
    reads: reads(found.read),
    colors: { columns: crosses ? colors.source : colors.reads, reads: colors.reads, predicts: colors.predicts },
    first,
    steps: stepsOf(found, words.steps),
    cost: costOf(found, live),
    given: found.given,
    plain: false,
    naming: true,
    heat: null,
    branch: null,
    asks: !found.given,
    stopped: words.stops[found.stopped] ?? "",
  });
  const rows = found.steps.map(({ row }) => row);
  return { kind, revision: `live ${found.serial}`, rows, meta: each(header, (lang) => meta(live.words[lang])) };
}

const sliced = (tokens, count) =>
  Object.fromEntries(Object.entries(tokens).map(([name, all]) => [name, all.slice(0, count)]));

/** The steps with their words: `_steps` in player/data.py. */
function stepsOf(found, words) {
  const touches = touching(found.output);
  const whole = piecesOf(found.output);
  let sum = 0;
  return found.steps.map((step) => {
    sum += step.logP;
    const told = toldApart(step.best);
    const likelier = step.best[0].id === step.token ? null : step.best[0];
    const at = step.best.findIndex(({ id }) => id === step.token);
    const more =
      likelier && at !== 0 ? filled(words.likelier, { token: likelier.label, share: percent(likelier.p) }) : "";
    const alike = told.find((label, k) => label !== step.best[k].label);
    const rule =
      step.rule === null ? null : (words.rules[step.rule] ?? { name: step.rule, tag: step.rule, decided: "" });
    const note = found.given
      ? more
        ? filled(words.given_likelier, { likelier: more })
        : words.given_first
      : rule
        ? `${rule.decided} ${more}`.trim()
        : more && filled(words.not_most, { likelier: more });
    const said = found.given ? words.was_given : step.rule === null ? words.chosen : (words[step.rule] ?? words.ruled);
    return {
      position: step.position,
      row: step.row,
      reads: found.read.labels[step.row],
      predicts: step.label,
      probability: step.p,
      log_probability: finite(step.logP),
      entropy_bits: finite(step.bits),
      running_log_probability: finite(sum),
      running_probability: finite(Math.exp(sum)),
      special: found.output.special[step.row] ?? false,
      joined: touches[step.row] ?? false,
      tag: rule?.tag ?? "",
      decided: rule?.name ?? null,
      why: note,
      note: [note, alike && filled(words.another, { label: alike })].filter(Boolean).join(" "),
      said: filled(said, { token: inWord(words.piece, step.label, whole[step.row]), share: percent(step.p) }),
      plain: "",
      candidates: step.best.map(({ id, p, label }, k) => [told[k], p, id === step.token, id, null, told[k] !== label]),
    };
  });
}

const finite = (value) => (Number.isFinite(value) ? value : null);

/** The candidates' labels; one that likelier candidates have too is numbered. */
function toldApart(best) {
  return best.map(({ label }, i) => {
    const before = best.slice(0, i).filter((other) => other.label === label).length;
    return before ? `${label} (${before + 1})` : label;
  });
}

/** What each step costs with and without the cache: `cache_table` in analysis/decoding.py. */
function costOf(found, { width }) {
  const [layers] = found.shapes.decoder,
    source = found.shapes.cross?.[3] ?? 0,
    inner = width;
  const operations = (fresh, now, keys) =>
    layers *
    (4 * 2 * width * inner * fresh +
      4 * inner * fresh * now +
      (source ? 2 * 2 * width * inner * fresh + 4 * inner * fresh * source : 0) +
      (source && keys ? 2 * 2 * width * inner * source : 0));
  const table = found.steps.map(({ position, row }, i) => {
    const now = row + 1,
      fresh = i ? row - found.steps[i - 1].row : now;
    const own = 2 * inner * now * BYTES,
      cross = 2 * inner * source * BYTES;
    return {
      position,
      new_rows: fresh,
      all_rows: now,
      self_bytes: own,
      cross_bytes: cross,
      cache_bytes: layers * (own + cross),
      operations_cached: operations(fresh, now, i === 0),
      operations_uncached: operations(now, now, true),
    };
  });
  const columns = Object.keys(table[0]).map((name) => [name, table.map((line) => line[name])]);
  const [depth, , tokens] = found.shapes.encoder ?? [];
  return {
    table: Object.fromEntries(columns),
    layers,
    encoder: depth
      ? { layers: depth, tokens, operations: depth * (4 * 2 * width * inner * tokens + 4 * inner * tokens * tokens) }
      : null,
  };
}

/**
 * The text itself in segments: tokens with their columns, and the text between them: `running` in player/data.py.
 * @returns {[text: string, columns: number[], special: boolean][]}
 */
function running(text, tokens) {
  const signs = [...text],
    part = (from, to) => signs.slice(from, to).join("");
  /** @type {{ span: [number, number] | null, columns: number[] }[]} */
  const groups = [];
  tokens.spans.forEach((span, column) => {
    const last = groups.at(-1);
    if (span && last?.span && last.span[0] <= span[0] && span[0] < last.span[1]) {
      last.span = [last.span[0], Math.max(last.span[1], span[1])];
      last.columns.push(column);
    } else groups.push({ span: span && [span[0], span[1]], columns: [column] });
  });
  const segments = [];
  let end = 0;
  for (const { span, columns } of groups) {
    if (!span) {
      segments.push([tokens.labels[columns[0]], columns, tokens.special[columns[0]]]);
      continue;
    }
    const own = part(...span),
      begin = span[0] + [...own].length - [...own.trimStart()].length;
    segments.push([part(end, begin), [], false]);
    const written = part(begin, span[1]);
    const hidden = [...written].every((sign) => /[\p{Cf}\p{Cc}\p{Z}]/u.test(sign));
    const label = columns.map((column) => tokens.labels[column]).join("");
    segments.push([hidden ? label : written, columns, columns.every((column) => tokens.special[column])]);
    end = span[1];
  }
  segments.push([part(end), [], false]);
  return segments.filter(([piece]) => piece);
}
