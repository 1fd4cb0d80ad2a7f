// "See it" in the list of terms: a press goes to the page as the app's own links do, without loading all of it anew.

import { markReady } from "../../browser/shared/ready.js";

/** @param {MouseEvent} event */
function follow(event) {
  if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
    return;
  const pressed = event.target instanceof Element ? event.target.closest(".bv-see") : null;
  const word = pressed instanceof HTMLElement ? pressed.dataset.page : undefined;
  /** @type {HTMLElement | null} */
  const link = word ? document.querySelector(`.st-key-glossary_to_${word} a`) : null;
  if (!link) return; // the browser follows it
  event.preventDefault();
  link.click();
}

export default function ({ parentElement }) {
  document.addEventListener("click", follow);
  markReady(parentElement);
  return () => document.removeEventListener("click", follow);
}
