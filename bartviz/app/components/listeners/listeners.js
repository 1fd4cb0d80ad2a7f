// Fixes for keyboard and touch events of Streamlit and plotly, for all pages.

import { markReady } from "../../../browser/shared/ready.js";
import { keepFromRun } from "./keys.js";
import { leaveToBrowser } from "./touch.js";

export default function ({ parentElement }) {
  markReady(parentElement);
  const { body } = document;
  if (body.dataset.listens) return; // once is enough, whichever page it came with
  body.dataset.listens = "yes";
  body.addEventListener("keydown", keepFromRun);
  body.addEventListener("touchstart", leaveToBrowser, { capture: true, passive: true });
}
