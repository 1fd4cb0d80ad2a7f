// A link in a field, and a button that copies it. data: {link, named, copy, copied}, the link and the words.

import { markReady } from "../../../browser/shared/ready.js";

export default function ({ parentElement, data }) {
  const { link, named, copy, copied } = data;
  const field = /** @type {HTMLInputElement} */ (parentElement.querySelector("input")),
    button = /** @type {HTMLButtonElement} */ (parentElement.querySelector("button"));
  if (field.value !== link) button.textContent = copy;
  field.value = link;
  field.setAttribute("aria-label", named);
  field.onfocus = () => field.select();
  button.onclick = async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(link);
      button.textContent = copied;
    } catch {
      // Browsers have no clipboard for a page that comes without https.
      if (document.execCommand("copy")) button.textContent = copied;
    }
  };
  markReady(parentElement);
}
