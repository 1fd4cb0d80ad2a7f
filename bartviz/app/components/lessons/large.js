// Z enlarges the type of every page, and makes it as it was again: it presses a button of the page. data: nothing.

import { markReady } from "../../../browser/shared/ready.js";

export default function ({ parentElement }) {
  markReady(parentElement);
  const { body } = document;
  if (body.dataset.largeKey) return;
  body.dataset.largeKey = "yes";
  document.addEventListener("keydown", (event) => {
    const at = /** @type {HTMLInputElement | undefined} */ (event.composedPath()[0]);
    const field =
      ["INPUT", "TEXTAREA", "SELECT"].includes(at?.tagName) && !["range", "checkbox", "radio"].includes(at.type);
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || field || at?.isContentEditable) return;
    if (event.key.toLowerCase() !== "z" && event.code !== "KeyZ") return;
    event.preventDefault();
    /** @type {HTMLButtonElement | null} */ (document.querySelector(".st-key-large_switch button"))?.click();
  });
}
