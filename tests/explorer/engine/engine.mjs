// Runs the engine on questions: node engine.mjs MODEL QUESTIONS, a packed model and JSON lines. Prints a line for each.

import { readFileSync, writeFileSync, writeSync } from "node:fs";
import { effects } from "../../../bartviz/explorer/engine/effects.js";
import { opened, within } from "../../../bartviz/explorer/engine/file.js";
import { finished } from "../../../bartviz/explorer/engine/network.js";
import { saved } from "../../../bartviz/explorer/engine/saved.js";

const [file, questions] = process.argv.slice(2);
const model = await opened(within(new Uint8Array(readFileSync(file))));

const ANSWERS = {
  tokens: ({ text, pair = null, typed = false }) => model.tokenizer.tokens(text, { pair, typed }),
  written: ({ ids }) => model.tokenizer.written(ids),
  write({ text }) {
    const { steps } = finished(model.capture(text));
    return steps.map(({ token }) => token);
  },
  capture({ text, options = {} }) {
    const factors = Object.fromEntries(
      Object.entries(options.factors ?? {}).map(([kind, layers]) => [
        kind,
        layers.map((row) => Float32Array.from(row)),
      ]),
    );
    const record = finished(model.capture(text, { ...options, factors, forced: new Map(options.forced ?? []) }));
    const maps = record.kinds.map((kind) => {
      const [layers, heads] = record.shape(kind);
      const each = (count, make) => Array.from({ length: count }, (_, i) => make(i));
      return [kind, each(layers, (layer) => each(heads, (head) => record.head(kind, layer, head)))];
    });
    const { steps, ids, written, stopped } = record;
    if (options.file) writeFileSync(options.file, finished(saved(record, { version: "0.1.0" })));
    const heads = options.effects ? finished(effects(record)) : [];
    return { steps, ids, written, stopped, heads, gaps: record.guesses(), maps: Object.fromEntries(maps) };
  },
};

for (const line of readFileSync(questions, "utf8").split("\n").filter(Boolean)) {
  const asked = JSON.parse(line);
  writeSync(1, `${JSON.stringify(ANSWERS[asked.about](asked))}\n`);
}
