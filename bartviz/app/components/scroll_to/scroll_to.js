// A page that was opened starts at its top, or at the part that its link asks for: that is brought into sight, and kept
// there while what stands above it is still being drawn; it stops at once when the visitor scrolls, types or points.
// data: { page: its word, part: a selector, or "" for none, ups: how often the page was to go to its top again }

import { markReady } from "../../../browser/shared/ready.js";
import { keep } from "./keep.js";

const UNDER = 72; // pixels: below the bar of pages

export default function ({ parentElement, data }) {
  markReady(parentElement);
  const main = document.querySelector("[data-testid='stMain']"),
    { dataset } = document.body,
    place = `${data.page} ${data.ups} `,
    asked = place + data.part,
    before = dataset.scrollTo;
  if (before === asked) return;
  dataset.scrollTo = asked;
  // Streamlit keeps the place of the page before; the browser finds it again when the new page has the same parts.
  if (before && !before.startsWith(place)) main.scrollTo({ top: 0, behavior: "instant" });
  const away = () => {
    const box = document.querySelector(data.part)?.getBoundingClientRect();
    return box?.height > 20 ? box.top - main.getBoundingClientRect().top - UNDER : null;
  };
  if (data.part) keep(main, away, () => dataset.scrollTo === asked);
}
