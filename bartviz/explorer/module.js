// The script of a folder for pages of others: `import { load, show } from "./bartviz.js"`.

/** @import { LivePage } from "./types.js" */
/** @import { Kit } from "./api.js" */
import { numberOf, showIn } from "./api.js";
import { Engine, EngineError, lacks, LiveModel } from "./client.js";

/**
 * @param {Kit["mounts"]} mounts
 * @param {{ live: LivePage, header: Kit["header"], worker: string, parts: Kit["parts"] }} made what Python has written
 * @param {string} base the address of this script, beside which the models are
 */
export default function start(mounts, { live: { models }, header, worker, parts }, base) {
  /** @type {Engine | null} */
  let engine = null;
  /** @type {Map<number, Promise<LiveModel>>} */
  const loaded = new Map();

  /**
   * A model, by its number or name; read once.
   * @param {number | string} which
   * @param {(share: number) => void} report how much of it is there, 0 to 1
   */
  function load(which = 0, report = () => {}) {
    const number = numberOf(models, which),
      what = lacks();
    if (what) return Promise.reject(new EngineError("old", { what }));
    engine ??= new Engine(worker);
    const known = loaded.get(number);
    if (known) return known;
    const address = new URL(models[number].address, base).href;
    const reading = engine
      .ask("load", { number, address }, ({ progress }) => report(progress))
      .then(() => new LiveModel(engine, number, models[number]));
    loaded.set(number, reading);
    reading.catch(() => loaded.delete(number)); // the next call tries again
    return reading;
  }

  return {
    names: models.map(({ name }) => name),
    load,
    show: (record, element, options = {}) => showIn(record, element, { mounts, header, models, parts }, options),
  };
}
