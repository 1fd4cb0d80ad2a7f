// The step that a player next to the canvas shows: its row is the canvas's row, and the rows after it are still to
// come.

/** @import { Canvas, Step } from "./types.js" */
import { calm, onSteps, sendSteps } from "../shared/steps.js";
import { draw } from "./frame.js";

export const ASKS = { ",": { by: -1 }, ".": { by: 1 }, p: { play: true } };

/** @param {Canvas} it */
export const askSteps = (it, asked) => sendSteps("ask", { record: it.meta.steps.record, ...asked });

/**
 * Follows the player from now on; returns a function that stops it.
 * @param {Canvas} it
 */
export function follow(it) {
  return onSteps(
    "at",
    () => it.meta.steps?.record,
    (at) => onStep(it, at),
  );
}

/**
 * @param {Canvas} it
 * @param {Step} at
 */
export function onStep(it, at) {
  const before = it.at,
    row = it.meta.steps.rows[at.step];
  it.at = at;
  showStepper(it);
  const known = before ? before.step === at.step && it.rows.includes(row) : it.rows.length > 1; // several: chosen, or of a link
  if (row === undefined || known) return;
  it.grew = before && at.step === before.step + 1 && !calm() ? performance.now() : null;
  Object.assign(it, { rows: [row], primary: row, by: "rows" });
  it.anchor.rows = row;
  if (it.cursor && it.cursor.row !== null) it.cursor = { ...it.cursor, row };
  draw(it);
}

/** @param {Canvas} it */
export function showStepper(it) {
  const { at } = it,
    { $ } = it;
  $("stepper").hidden = !it.meta.steps || !at;
  if ($("stepper").hidden) return;
  $("step-count").textContent = `${at.step + 1} / ${at.count}`;
  $("step-play").classList.toggle("playing", at.playing);
  $("step-play").setAttribute("aria-label", it.say(at.playing ? "pause" : "play"));
  $("step-back").disabled = at.step === 0;
  $("step-next").disabled = at.step === at.count - 1;
}
