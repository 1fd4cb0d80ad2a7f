// A box that scrolls sideways is reached with Tab: what it holds may have nothing else to focus.
// data: { box: the key of its container }

import { markReady } from "../../../browser/shared/ready.js";

export default function ({ parentElement, data }) {
  markReady(parentElement);
  const box = /** @type {HTMLElement | null} */ (document.querySelector(`.st-key-${data.box}`));
  if (box && box.scrollWidth > box.clientWidth) box.tabIndex = 0;
}
