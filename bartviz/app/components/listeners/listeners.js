// Fixes for keyboard and touch events of Streamlit and plotly, the focus, files that are dropped, Streamlit's own words, and
// the own text of this tab, for all pages. data is UTF-8 JSON: {limit, phrases, own, asks}, the bytes of the largest file that
// is accepted, what to say instead of each phrase, the own text or null, and whether one that was kept is wanted.

import { markReady } from "../../../browser/shared/ready.js";
import { REFUSED, openFiles } from "./files.js";
import { followFocus } from "./focus.js";
import { keepFromRun } from "./keys.js";
import { keep, kept } from "./own_text.js";
import { leaveToBrowser } from "./touch.js";
import { speak } from "./words.js";

export default function ({ parentElement, data, setTriggerValue }) {
  markReady(parentElement);
  /** @param {any} event */
  const refused = (event) => setTriggerValue("refused", event.detail);
  document.addEventListener(REFUSED, refused);
  const { limit, phrases, own, asks } = JSON.parse(new TextDecoder().decode(data));
  speak(Object.entries(phrases));
  begin(limit);
  if (own) keep(own);
  const found = asks && kept();
  if (found) setTriggerValue("kept", found);
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
