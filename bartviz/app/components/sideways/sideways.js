// A box that scrolls sideways is reached with Tab: what it holds may have nothing else to focus.
// data: { box: the key of its container }

import { begun } from "../../../browser/shared/begun.js";

export default function ({ parentElement, data }) {
  begun(parentElement);
  const box = /** @type {HTMLElement | null} */ (document.querySelector(`.st-key-${data.box}`));
  if (box && box.scrollWidth > box.clientWidth) box.tabIndex = 0;
}
