// The engine in a thread of its own: a question at a time, and what it finds as plain data.

import { TextError } from "./capture.js";
import { effects } from "./effects.js";
import { bytesOf, DamagedError, fetched, opened, UnreachableError, within } from "./file.js";
import { saved } from "./saved.js";
import { pause } from "../pause.js";

/** @type {import("./capture.js").Model[]} */
const models = [];
/** @type {Map<number, import("./capture.js").Record>} */
const records = new Map();
/** @type {Map<number, { seconds: number, settings: object }>} how each was made */
const made = new Map();
let latest = 0; // the last question that is wanted: older ones stop
const tell = (message, transfer = []) => /** @type {any} */ (globalThis).postMessage(message, transfer);

/** Somebody asked for something else meanwhile. */
class Stopped extends Error {}

/**
 * The value of a generator, which is left when a later question arrives.
 * @template T
 * @param {Generator<unknown, T>} work
 * @param {number} serial
 * @returns {Promise<T>}
 */
async function watched(work, serial) {
  for (let since = performance.now(); ;) {
    const { done, value } = work.next();
    if (done) return /** @type {T} */ (value);
    if (performance.now() - since < PATIENCE) continue;
    await pause(); // messages arrive in it
    if (latest !== serial) throw new Stopped();
    since = performance.now();
  }
}
const PATIENCE = 40; // ms between two pauses

/** @type {{ [name: string]: (asked: any) => unknown }} */
const ANSWERS = {
  /** A model of base64 text, or of a file at an address. */
  async load({ data, address, number, serial }) {
    const reader = address ? fetched(address) : within(readable(data));
    models[number] = await opened(reader, (share) => tell({ serial, progress: share }));
    return {};
  },

  async capture({ model: number, serial, text, options = {} }) {
    const model = models[number];
    const wanted = {
      ...options,
      forced: forcedOf(model, options.forced ?? []),
      factors: factorsOf(model, options.silence ?? []),
    };
    const report = (...step) => tell({ serial, step });
    const since = performance.now();
    const record = await watched(model.capture(text, { ...wanted, report }), serial);
    records.set(serial, record);
    made.set(serial, { seconds: (performance.now() - since) / 1000, settings: settingsOf(options, record) });
    const { aligning: head } = options,
      aligning = head && Float32Array.from(record.weights(head.kind, head.layer, head.head));
    return { ...plain(record), serial, given: options.target != null, aligning };
  },

  /** What each head is worth to a record, head after head. */
  effects({ record, serial }) {
    return watched(
      effects(records.get(record), (found, all) => tell({ serial, progress: found.length / all })),
      serial,
    ).then((heads) => ({ heads }));
  },

  inside({ record, kind, layer, head, row }) {
    return { inside: records.get(record).inside(kind, layer, head, row) };
  },

  async save({ record, serial, version }) {
    return { file: await watched(saved(records.get(record), { version, ...made.get(record) }), serial) };
  },

  stop() {
    return {};
  },

  forget({ record }) {
    records.delete(record);
    made.delete(record);
    return {};
  },

  /** The codes of a map: low bytes first, then high bytes, as the explorer's file has them. */
  map({ record, kind, layer, head, unit }) {
    const weights = records.get(record).weights(kind, layer, head),
      codes = new Uint8Array(2 * weights.length);
    weights.forEach((weight, i) => {
      const code = Math.round(weight * unit);
      codes[i] = code & 255;
      codes[weights.length + i] = code >> 8;
    });
    return { codes };
  },

  head({ record, kind, layer, head }) {
    return { rows: records.get(record).head(kind, layer, head) };
  },
};

/** The bytes of base64 text, which a mail may have cut. */
function readable(text) {
  try {
    return bytesOf(text);
  } catch (error) {
    throw error instanceof RangeError ? error : new DamagedError(String(error));
  }
}

/** Tokens by step: an id, or a text that may be several. */
function forcedOf(model, forced) {
  const ids = (wanted) =>
    typeof wanted === "number"
      ? [wanted]
      : model.tokenizer.encode(wanted, { target: true, typed: true }).flatMap(({ id, span }) => (span ? [id] : []));
  return new Map(forced.flatMap(([step, wanted]) => ids(wanted).map((id, i) => [step + i, id])));
}

/** What was asked for, as a record's provenance has it. */
function settingsOf({ silence = [], forced = [] }, { tree, model }) {
  const chosen = forced.map(([step, wanted]) => `${step}: ${forcedOf(model, [[step, wanted]]).get(step)}`);
  return {
    ...(tree && { beams: tree.beams, length_penalty: tree.lengthPenalty, early_stopping: tree.earlyStopping }),
    ...(chosen.length && { forced: chosen }),
    ...(silence.length && {
      ablated: silence.map(({ kind, layer, head, factor = 0 }) => `${kind} L${layer}H${head} x ${factor}`),
    }),
  };
}

/** Factors by kind and layer: 0 for the heads that are silenced. */
function factorsOf(model, silenced) {
  const factors = {};
  for (const { kind, layer, head, factor = 0 } of silenced) {
    const { spec } = model.network,
      side = kind === "encoder" ? spec.encoder : spec.decoder;
    factors[kind] ??= side.layers.map(() => new Float32Array(side.heads).fill(1));
    factors[kind][layer][head] = factor;
  }
  return factors;
}

/** What a page needs of a record. */
function plain(record) {
  const { source, read, steps } = record;
  return {
    text: record.text,
    pair: record.pair,
    written: record.written,
    source,
    read,
    output: record.output,
    start: record.start,
    stopped: record.stopped,
    shapes: Object.fromEntries(record.kinds.map((kind) => [kind, record.shape(kind)])),
    gaps: record.guesses(),
    steps: steps.map((step) => ({
      ...step,
      label: record.label(step.token, step.row),
      best: step.best.map((one) => ({ ...one, label: record.label(one.id, step.row) })),
    })),
  };
}

/** A code that the page has a sentence for, and what it says. */
function failureOf(error) {
  if (error instanceof TextError) return { code: error.code, values: error.values };
  if (error instanceof Stopped) return { code: "stopped", values: {} };
  if (error instanceof DamagedError) return { code: "damaged", values: {} };
  if (error instanceof UnreachableError) return { code: "unreachable", values: {} };
  if (error instanceof RangeError) return { code: "memory", values: {} };
  return { code: "broken", values: { what: String(error) } };
}

const QUICK = ["map", "head", "inside", "forget"]; // questions that stop nothing

globalThis.onmessage = async ({ data: asked }) => {
  const { serial, about } = asked;
  if (!QUICK.includes(about)) latest = serial;
  await pause();
  try {
    tell({ serial, found: await ANSWERS[about](asked) });
  } catch (error) {
    tell({ serial, failed: failureOf(error) });
  }
};
