// Fixes for keyboard and touch events of Streamlit and plotly, the focus, files that are dropped, and Streamlit's own words,
// for all pages. data is UTF-8 JSON: {limit, phrases}, the bytes of the largest file that is accepted, and what to say instead
// of each phrase.

import { markReady } from "../../../browser/shared/ready.js";
import { REFUSED, openFiles } from "./files.js";
import { followFocus } from "./focus.js";
import { keepFromRun } from "./keys.js";
import { leaveToBrowser } from "./touch.js";
import { speak } from "./words.js";

export default function ({ parentElement, data, setTriggerValue }) {
  markReady(parentElement);
  /** @param {any} event */
  const refused = (event) => setTriggerValue("refused", event.detail);
  document.addEventListener(REFUSED, refused);
  const { limit, phrases } = JSON.parse(new TextDecoder().decode(data));
  speak(Object.entries(phrases));
  begin(limit);
  return () => document.removeEventListener(REFUSED, refused);
}

function begin(limit) {
  const { body } = document;
  if (body.dataset.listens) return; // once is enough, whichever page it came with
  body.dataset.listens = "yes";
  body.addEventListener("keydown", keepFromRun);
  openFiles(limit);
  body.addEventListener("click", followFocus, { capture: true });
  body.addEventListener("touchstart", leaveToBrowser, { capture: true, passive: true });
}
