// Labels of tokens next to a picture.

/** @import { Canvas } from "./types.js" */

/** @param {Canvas} it */
export const fontSize = (it) => (it.large ? 19 : 12 * (it.type ?? 1));

/** @param {Canvas} it */
export function label(it, context, text, x, y, strong, special) {
  context.font = `${strong ? "bold " : ""}${special && !strong ? fontSize(it) - 1 : fontSize(it)}px ${it.colors.mono}`;
  context.fillStyle = strong ? it.colors.ink : special ? it.colors.faint : it.colors.text;
  context.fillText(text, x, y);
}
