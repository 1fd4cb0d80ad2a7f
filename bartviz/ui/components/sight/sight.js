// A page that was opened starts at its top, or at the part that its link asks for: that is brought into sight, and kept
// there while what stands above it is still being drawn; whoever scrolls, types or points is left alone at once.
// data: { page: its word, part: a selector, or "" for none }

import { begun } from "../shared/begun.js";

const UNDER = 72; // pixels: below the bar of pages
const LONG = 30_000; // milliseconds; a busy server draws for long
const ACTS = ["wheel", "touchstart", "pointerdown", "keydown"];

/** Keep the part in sight until the visitor acts, or the page asks for something else. */
function keep(main, part, wanted) {
  const ends = performance.now() + LONG,
    acted = new AbortController();
  for (const act of ACTS)
    addEventListener(act, () => acted.abort(), { capture: true, passive: true, signal: acted.signal });
  const look = () => {
    if (acted.signal.aborted) return;
    if (!wanted() || performance.now() > ends) return acted.abort();
    const box = document.querySelector(part)?.getBoundingClientRect();
    const away = box?.height > 20 ? box.top - main.getBoundingClientRect().top - UNDER : 0;
    if (Math.abs(away) > 4) main.scrollBy(0, away);
    setTimeout(look, 150);
  };
  look();
}

export default function ({ parentElement, data }) {
  begun(parentElement);
  const main = document.querySelector("[data-testid='stMain']"),
    { dataset } = document.body,
    asked = `${data.page} ${data.part}`,
    before = dataset.sight;
  if (before === asked) return;
  dataset.sight = asked;
  // Streamlit keeps the place of the page before; the browser finds it again when the new page has the same parts.
  if (before && !before.startsWith(`${data.page} `)) main.scrollTo({ top: 0, behavior: "instant" });
  if (data.part) keep(main, data.part, () => dataset.sight === asked);
}
