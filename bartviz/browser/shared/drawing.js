// What every canvas needs: its size, labels that fit, hatching.

const USUAL = 15; // pixels of the page's type; for a projector it is larger
export const PROJECTED = 1.3; // times that: from there on it is for a projector
export const GROWTH = [1.4, 1.3, 1.2, 1.1]; // how much larger still words beside a map become there if they have room

/**
 * How much larger than usual the type is: that of the page, or `--bv-type` of what the node stands in.
 * @param {Element} node
 */
export function typeSize(node) {
  const own = getComputedStyle(node).getPropertyValue("--bv-type");
  return parseFloat(own || getComputedStyle(document.documentElement).fontSize) / USUAL || 1;
}

/**
 * How much of the window is below the place where an element begins, in pixels, when nothing is scrolled.
 * @param {Element} element
 */
export function roomBelow(element) {
  let room = innerHeight - element.getBoundingClientRect().top;
  for (let node = /** @type {any} */ (element); node; node = node.parentNode ?? node.host) room -= node.scrollTop ?? 0;
  return room;
}

/**
 * Where a pointer is on an element, in the element's own pixels: it may be drawn enlarged.
 * @param {HTMLElement} element
 * @param {MouseEvent} event
 * @returns {[x: number, y: number]}
 */
export function pointOn(element, event) {
  const { left, top } = element.getBoundingClientRect(),
    zoom = element.currentCSSZoom ?? 1;
  return [(event.clientX - left) / zoom, (event.clientY - top) / zoom];
}

// Sizes are read once, when something changed: reading them at every frame would cause another layout.
export function measured(canvas) {
  const box = canvas.getBoundingClientRect(),
    zoom = canvas.currentCSSZoom ?? 1;
  const [width, height, ratio] = [box.width / zoom, box.height / zoom, (globalThis.devicePixelRatio || 1) * zoom];
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, width, height, ratio };
}

export function shortened(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  const signs = Array.from(text);
  let end = signs.length;
  while (end > 1 && context.measureText(`${signs.slice(0, end).join("")}…`).width > room) end--;
  return `${signs.slice(0, end).join("")}…`;
}

export const widest = (context, labels) =>
  labels.reduce((most, label) => Math.max(most, context.measureText(label).width), 0);

/** Cells that a mask hides are hatched grey, never white as zero. */
export function hatching(context, color) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const pen = tile.getContext("2d");
  pen.strokeStyle = color;
  pen.beginPath();
  for (const shift of [-6, 0, 6]) {
    pen.moveTo(shift, 6);
    pen.lineTo(shift + 6, 0);
  }
  pen.stroke();
  return context.createPattern(tile, "repeat");
}

export function fillMasked(context, { masked }, hatch) {
  context.fillStyle = masked;
  context.fill();
  context.fillStyle = hatch;
  context.fill();
}

export const [BAND, BESIDE] = [3, 9]; // pixels: the width of a word's colour, and from a picture to its labels
const SLENDER = 6; // pixels of a cell; below, colours side by side would be a pattern of their own

/**
 * The colours of words between labels and picture, each through all of its word's pieces.
 * @param {CanvasRenderingContext2D} context
 * @param {(string | undefined)[]} colors of each row or column
 * @param {{ range: [from: number, to: number], cell: number, bar: (from: number, to: number) => [start: number, end: number, across: number], down: boolean }} where
 *  the cells that are seen, the pixels of one, and where the bar of some of them begins and ends along the axis
 */
export function bands(context, colors, { range: [from, to], cell, bar, down }) {
  if (cell < SLENDER) return;
  const begins = (at) => at === from || colors[at] !== colors[at - 1];
  const first = Array.from({ length: to - from }, (_, i) => from + i).filter(begins);
  first.forEach((at, i) => {
    if (!colors[at]) return;
    const [start, end, across] = bar(at, first[i + 1] ?? to),
      length = end - start - 2;
    if (length <= 0) return;
    context.fillStyle = colors[at];
    if (down) context.fillRect(across, start + 1, BAND, length);
    else context.fillRect(start + 1, across, length, BAND);
  });
}
