// Keep a part of the page where it belongs while the page is still being drawn.

const LONG = 30_000; // milliseconds; a busy server draws for long
const ARRIVES = 600; // milliseconds that a smooth way may take
const ACTS = ["wheel", "touchstart", "pointerdown", "keydown"];

/**
 * Scroll by what `away` gives, in pixels, until the visitor acts or `wanted` says no: it stops at once when the visitor
 * scrolls, types or points. `away` gives null while its part is not there; `rest`: milliseconds of nothing to do that
 * end it; `smooth`: the first way is gone smoothly.
 */
export function keep(main, away, wanted, rest = LONG, smooth = false) {
  const ends = performance.now() + LONG,
    acted = new AbortController();
  let moved = performance.now();
  for (const act of ACTS)
    addEventListener(act, () => acted.abort(), { capture: true, passive: true, signal: acted.signal });
  const look = () => {
    if (acted.signal.aborted) return;
    const now = performance.now(),
      by = away(),
      far = by && Math.abs(by) > 4;
    if (by === null || far) moved = now; // a busy browser may look late
    if (!wanted() || now > ends || now - moved > rest) return acted.abort();
    if (far) main.scrollBy({ top: by, behavior: smooth ? "smooth" : "instant" });
    setTimeout(look, far && smooth ? ARRIVES : 150);
    if (far) smooth = false;
  };
  look();
}
