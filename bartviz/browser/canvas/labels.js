// Labels of tokens next to a picture.

/** @import { Canvas } from "./types.js" */
import { BESIDE, widest } from "../shared/drawing.js";

/** @param {Canvas} it */
export const fontSize = (it) => (it.large ? 19 : 12 * (it.type ?? 1));

/** What rows and columns are, in the corner of a map: the rows' line is the lower one. @param {Canvas} it */
const cornerTexts = (it) => [it.say("axis_rows"), it.say("axis")];

/** The pixels of both lines above a map. @param {Canvas} it */
export const titleHeight = (it) => Math.ceil(2.25 * fontSize(it)) + BESIDE + 2;

/** The pixels of the longer one. @param {Canvas} it */
export function titleWidth(it) {
  const { context } = it.plot;
  context.save();
  context.font = `${fontSize(it)}px ${it.colors.font}`;
  const width = widest(context, cornerTexts(it));
  context.restore();
  return width;
}

/**
 * What rows and columns are, where it has room left of the labels of columns.
 * @param {Canvas} it
 */
export function title(it, context) {
  const { left, top } = it.fit,
    size = fontSize(it);
  if (titleWidth(it) > left - BESIDE || top < titleHeight(it)) return;
  context.font = `${size}px ${it.colors.font}`;
  context.fillStyle = it.colors.faint;
  context.textAlign = "right";
  context.textBaseline = "alphabetic";
  for (const [line, text] of cornerTexts(it).entries())
    context.fillText(text, left - BESIDE, top - BESIDE - 1.25 * line * size);
}

/** @param {Canvas} it */
export function label(it, context, text, x, y, strong, special) {
  context.font = `${strong ? "bold " : ""}${special && !strong ? fontSize(it) - 1 : fontSize(it)}px ${it.colors.mono}`;
  context.fillStyle = strong ? it.colors.ink : special ? it.colors.faint : it.colors.text;
  context.fillText(text, x, y);
}
