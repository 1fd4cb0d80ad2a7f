// Keep a part of the page where it belongs while the page is still being drawn.

const LONG = 30_000; // milliseconds; a busy server draws for long
const ACTS = ["wheel", "touchstart", "pointerdown", "keydown"];

/**
 * Scroll by what `away` gives, in pixels, until the visitor acts or `wanted` says no: it stops at once when the visitor
 * scrolls, types or points. `away` gives null while its part is not there; `rest`: milliseconds of nothing to do that
 * end it.
 */
export function keep(main, away, wanted, rest = LONG) {
  const ends = performance.now() + LONG,
    acted = new AbortController();
  let moved = performance.now();
  for (const act of ACTS)
    addEventListener(act, () => acted.abort(), { capture: true, passive: true, signal: acted.signal });
  const look = () => {
    if (acted.signal.aborted) return;
    const now = performance.now(),
      by = away();
    if (!wanted() || now > ends || now - moved > rest) return acted.abort();
    if (by === null || Math.abs(by) > 4) moved = now;
    if (by && Math.abs(by) > 4) main.scrollBy({ top: by, behavior: "instant" });
    setTimeout(look, 150);
  };
  look();
}
