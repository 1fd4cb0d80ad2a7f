// The veil over the rows that are still to come, while a player next to the canvas is followed.

/** @import { Canvas } from "./types.js" */
import { clamp } from "../shared/helpers.js";

const UNCOVER = 320; // ms in which a new row is uncovered
const TO_COME = 0.86; // how thick the veil over later rows is

/**
 * The last row that is there, of `count`; all of them where no player is followed.
 * @param {Canvas} it
 */
export const lastRow = (it, count) =>
  it.meta.steps && it.at ? (it.meta.steps.rows[it.at.step] ?? count - 1) : count - 1;

/**
 * How much of the last row is uncovered, 0 to 1.
 * @param {Canvas} it
 */
export const uncovered = (it) => (it.grew == null ? 1 : clamp((performance.now() - it.grew) / UNCOVER, 0, 1));

/**
 * Veils the rows to come of a map in a box of `high` pixels a row, and what is still covered of the last one.
 * @param {Canvas} it
 */
export function veil(it, context, { left, top, wide, high, rows }) {
  const last = lastRow(it, rows),
    shown = uncovered(it);
  if (last >= rows - 1 && shown === 1) return;
  context.globalAlpha = TO_COME;
  context.fillStyle = it.colors.ground;
  context.fillRect(left, top + (last + 1) * high, wide, (rows - last - 1) * high);
  if (shown < 1) context.fillRect(left + wide * shown, top + last * high, wide * (1 - shown), high);
  context.globalAlpha = 1;
}
