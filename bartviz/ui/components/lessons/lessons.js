// Keys of a lesson: N or Page Down (a presenter's clicker, in large type) goes on, B or Page Up back, A shows the answer.
// They press the strip's own buttons, so that what cannot be pressed cannot be keyed either.

import { begun } from "../shared/begun.js";
import { oneEntryForAStep } from "./history.js";
import { write } from "./store.js";

const LETTERS = { n: "next", b: "back", a: "answer" };
const CLICKER = { PageDown: "next", PageUp: "back" };

/** The Latin letter of a key press, whatever alphabet the keyboard is set to; "" where it is none. */
export function letterOf({ key, code }) {
  if (/^[a-z]$/i.test(key)) return key.toLowerCase();
  return !/^[\x20-\x7e]$/.test(key) && /^Key[A-Z]$/.test(code ?? "") ? code[3].toLowerCase() : "";
}

/** Whether something is typed or chosen there. `path`: from the innermost node up. */
export function isField(path) {
  const at = path[0];
  return (
    (["INPUT", "TEXTAREA", "SELECT"].includes(at?.tagName) &&
      !["range", "checkbox", "radio", "button"].includes(at.type)) ||
    at?.isContentEditable === true
  );
}

/** Which button a key press means: "next", "back", "answer", or "" for none. `large`: the type is enlarged. */
export function meant(event, path, large) {
  if (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    event.isComposing ||
    event.repeat ||
    event.defaultPrevented ||
    isField(path)
  )
    return "";
  return LETTERS[letterOf(event)] ?? (large ? CLICKER[event.key] : "") ?? "";
}

/** Bring a new step into sight: the element of its focus, else the top of the page. */
function show({ step, focus }) {
  const { body } = document,
    at = `${step} ${focus}`;
  if (body.dataset.lessonAt === at) return;
  const first = !body.dataset.lessonAt,
    behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
  Object.assign(body.dataset, { lessonAt: at, lessonStep: step });
  if (!focus) {
    if (!first) document.querySelector("[data-testid='stMain']")?.scrollTo({ top: 0, behavior });
    return;
  }
  let tries = 200; // a page may still be being drawn, for long on a busy machine
  const look = () => {
    if (body.dataset.lessonAt !== at) return;
    const node = document.querySelector(`.st-key-${focus}`);
    if (node && node.getBoundingClientRect().height > 20) node.scrollIntoView({ block: "center", behavior });
    else if (tries-- > 0) setTimeout(look, 150);
  };
  setTimeout(look, 250);
}

// data: { step: "lesson at", focus: the key of an element or "", seen: how far the visitor is in each lesson }
export default function ({ parentElement, data }) {
  begun(parentElement);
  const { body } = document;
  show(data);
  write(data.seen);
  if (body.dataset.lessonKeys) return; // one listener is enough, whichever page it came with
  body.dataset.lessonKeys = "yes";
  oneEntryForAStep();
  document.addEventListener("keydown", (event) => {
    const large = document.querySelector(".bv-large") !== null;
    const name = meant(event, event.composedPath(), large);
    if (!name) return;
    const button = /** @type {HTMLButtonElement | null} */ (document.querySelector(`.st-key-lesson_${name} button`));
    if (!button || button.disabled) return;
    event.preventDefault();
    button.click();
  });
}
