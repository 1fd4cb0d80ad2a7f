// Strokes that paint. A mouse paints from where it is pressed. A finger also scrolls the page: it paints by a tap, by a
// drag along the row, or by any drag after a short press. The node needs `touch-action: pan-y pinch-zoom`.

const HOLD = 250; // milliseconds that a finger rests before it paints
const STILL = 8; // pixels within which it rests

/**
 * What a finger's way from where it went down asks for: null while it rests.
 * @returns {"paint" | "scroll" | null}
 */
export function wayOf(across, down) {
  if (Math.hypot(across, down) <= STILL) return null;
  return Math.abs(across) > Math.abs(down) ? "paint" : "scroll";
}

/**
 * Listens for strokes on a node.
 * @param {HTMLElement} node
 * @param {object} stroke
 * @param {(event: PointerEvent) => boolean} stroke.begin paints where the pointer went down; false where nothing can be
 *  painted
 * @param {(event: PointerEvent) => void} stroke.move paints where it is now
 * @param {(kept: boolean) => void} stroke.end it is lifted, or else the browser took it, to zoom for instance
 */
export function listenForStrokes(node, { begin, move, end }) {
  /** @type {PointerEvent | null} a finger that may come to paint */
  let waiting = null;
  let painting = false,
    timer = 0;

  const drop = () => {
    clearTimeout(timer);
    waiting = null;
  };
  /** @param {PointerEvent} event */
  const start = (event) => {
    drop();
    painting = begin(event);
    if (painting) node.setPointerCapture(event.pointerId);
  };
  const finish = (kept) => {
    drop();
    if (painting) end(kept);
    painting = false;
  };
  node.addEventListener("pointerdown", (event) => {
    if (!event.isPrimary) return finish(false);
    if (event.button !== 0) return;
    if (event.pointerType === "mouse") return start(event);
    waiting = event;
    timer = setTimeout(() => start(event), HOLD);
  });
  node.addEventListener("pointermove", (event) => {
    if (!event.isPrimary) return;
    if (waiting) {
      const way = wayOf(event.clientX - waiting.clientX, event.clientY - waiting.clientY);
      if (way === "paint") start(waiting);
      else if (way === "scroll") drop();
    }
    if (painting) move(event);
  });
  node.addEventListener("pointerup", (event) => {
    if (!event.isPrimary) return;
    if (waiting) start(waiting);
    finish(true);
  });
  node.addEventListener("pointercancel", (event) => event.isPrimary && finish(false));
  node.addEventListener("touchmove", (event) => painting && event.preventDefault(), { passive: false });
}
