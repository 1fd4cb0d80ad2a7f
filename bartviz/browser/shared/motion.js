// A picture moves to what it shows next: what was drawn before fades into it, unless the reader wants nothing to move.

import { clamp } from "./helpers.js";
import { calm } from "./steps.js";

const LASTS = 400; // milliseconds

/**
 * What a canvas shows now, to move away from; null where nothing is to move.
 * @param {HTMLCanvasElement} canvas
 */
export function departure(canvas) {
  if (calm() || !canvas.width || !canvas.height) return null;
  const sheet = document.createElement("canvas");
  [sheet.width, sheet.height] = [canvas.width, canvas.height];
  sheet.getContext("2d").drawImage(canvas, 0, 0);
  return { sheet, at: performance.now() };
}

/** How much of the way from a departure is done, 0 to 1, slow at both ends; 1 where there is none. */
export function wayDone(from, now = performance.now()) {
  const done = from ? clamp((now - from.at) / LASTS, 0, 1) : 1;
  return done * done * (3 - 2 * done);
}

/**
 * Draws what was there before over what is there now, as far as it is not gone; only over a picture of the same size.
 * @param {CanvasRenderingContext2D} context
 * @param {{ sheet: HTMLCanvasElement, at: number } | null} from
 */
export function fadeFrom(context, from, width, height) {
  const left = 1 - wayDone(from),
    { canvas } = context;
  if (!from || !left || from.sheet.width !== canvas.width || from.sheet.height !== canvas.height) return;
  context.save();
  context.globalAlpha = left;
  context.drawImage(from.sheet, 0, 0, width, height);
  context.restore();
}
