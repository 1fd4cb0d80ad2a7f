// Labels of tokens next to a picture.

/** @import { Canvas } from "./types.js" */
import { BESIDE } from "../shared/drawing.js";

/** @param {Canvas} it */
export const fontSize = (it) => (it.large ? 19 : 12 * (it.type ?? 1));

/** What the columns are, beside their labels: the corner of a map. @param {Canvas} it */
export function titleWidth(it) {
  const { context } = it.plot;
  context.save();
  context.font = `${fontSize(it)}px ${it.colors.font}`;
  const { width } = context.measureText(it.say("axis"));
  context.restore();
  return width;
}

/**
 * The title of the columns, where it has room left of their labels.
 * @param {Canvas} it
 */
export function title(it, context) {
  const { left, top } = it.fit,
    size = fontSize(it);
  if (titleWidth(it) > left - BESIDE || top < size + BESIDE) return;
  context.font = `${size}px ${it.colors.font}`;
  context.fillStyle = it.colors.faint;
  context.textAlign = "right";
  context.textBaseline = "alphabetic";
  context.fillText(it.say("axis"), left - BESIDE, top - BESIDE);
}

/** @param {Canvas} it */
export function label(it, context, text, x, y, strong, special) {
  context.font = `${strong ? "bold " : ""}${special && !strong ? fontSize(it) - 1 : fontSize(it)}px ${it.colors.mono}`;
  context.fillStyle = strong ? it.colors.ink : special ? it.colors.faint : it.colors.text;
  context.fillText(text, x, y);
}
