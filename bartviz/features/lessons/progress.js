// The lessons page. data: what the server knows of this visit; it is notified once if the store has more.

import { markReady } from "../../browser/shared/ready.js";
import { focusOn } from "../../browser/shared/focus.js";
import { oneEntryForAStep } from "./history.js";
import { differs, read, write } from "./store.js";

let told = false;

export default function ({ parentElement, data, setStateValue }) {
  markReady(parentElement);
  oneEntryForAStep(); // the first step's too
  focusOn("lesson ended", ".st-key-lesson_ended h2");
  write(data);
  const stored = read();
  if (told || !differs(stored, data)) return;
  told = true;
  setStateValue("seen", stored);
}
