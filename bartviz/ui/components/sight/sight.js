// The part of a page that a link speaks of is brought into sight, and kept there while what stands above it is still
// being drawn; whoever scrolls, types or points is left alone at once. data: { visit: a number, part: a selector }

import { begun } from "../shared/begun.js";

const UNDER = 72; // pixels: below the bar of pages
const LONG = 30_000; // milliseconds; a busy server draws for long
const ACTS = ["wheel", "touchstart", "pointerdown", "keydown"];

export default function ({ parentElement, data }) {
  begun(parentElement);
  const { body } = document,
    asked = `${data.visit} ${data.part}`;
  if (body.dataset.sight === asked) return;
  body.dataset.sight = asked;
  const ends = performance.now() + LONG;
  let alone = false;
  const leave = () => (alone = true);
  for (const act of ACTS) addEventListener(act, leave, { capture: true, once: true, passive: true });
  const look = () => {
    if (alone || body.dataset.sight !== asked) return;
    const main = document.querySelector("[data-testid='stMain']"),
      box = document.querySelector(data.part)?.getBoundingClientRect();
    const away = box?.height > 20 ? box.top - main.getBoundingClientRect().top - UNDER : 0;
    if (Math.abs(away) > 4) main.scrollBy(0, away);
    if (performance.now() < ends) setTimeout(look, 150);
    else for (const act of ACTS) removeEventListener(act, leave, { capture: true });
  };
  look();
}
