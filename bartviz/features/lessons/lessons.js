// Keys of a lesson: N or Page Down (a presenter's clicker, in large type) goes forward, B or Page Up goes back, A shows
// the answer. They press the strip's own buttons, so that what cannot be pressed cannot be keyed either.

import { markReady } from "../../browser/shared/ready.js";
import { keep } from "../../app/components/scroll_to/keep.js";
import { oneEntryForAStep } from "./history.js";
import { write } from "./store.js";

const SPACE = 4; // pixels above and below a part in sight
const REST = 4000; // milliseconds without anything to scroll, after which a part stays where it is
const LETTERS = { n: "next", b: "back", a: "answer" };
const CLICKER = { PageDown: "next", PageUp: "back" };

/** The Latin letter of a key press, whatever alphabet the keyboard is set to; "" if there is none. */
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

/**
 * How far to scroll so that a part is in the visible area: not at all if it is, as little as needed if it fits,
 * otherwise to its top.
 */
export function distance({ top, bottom }, room) {
  if (top >= room.top && bottom <= room.bottom) return 0;
  const fits = bottom - top <= room.bottom - room.top;
  return fits && bottom > room.bottom ? bottom - room.bottom : top - room.top;
}

/** What is in sight below the strip, in pixels of the window; null where the strip scrolls away with the page. */
function roomOf(main) {
  const strip = document.querySelector(".st-key-lesson")?.parentElement;
  const { position, top } = strip ? getComputedStyle(strip) : { position: "", top: "" };
  if (position !== "sticky") return null;
  const from = main.getBoundingClientRect().top + parseFloat(top) + strip.getBoundingClientRect().height;
  return { top: from + SPACE, bottom: innerHeight - SPACE };
}

/** Scroll to what a new step is about, below the strip, if that keeps the step's text in view. */
function show({ step, part, below }) {
  const { dataset } = document.body,
    main = document.querySelector("[data-testid='stMain']"),
    at = `${step} ${part}`,
    first = !dataset.lessonAt;
  if (dataset.lessonAt === at) return;
  Object.assign(dataset, { lessonAt: at, lessonStep: step });
  if (!part) return; // on another page
  if (!first) main.scrollTo({ top: 0, behavior: "instant" });
  const away = () => {
    const box = document.querySelector(part)?.getBoundingClientRect(),
      room = roomOf(main);
    if (!(box?.height > 20)) return null;
    if (room) return distance(box, room);
    return below ? box.top + box.height / 2 - innerHeight / 2 : 0;
  };
  keep(main, away, () => dataset.lessonAt === at, REST);
}

// data: { step: "lesson at", part: the selector of what it is about, "" on another page, below: whether that is below the
// page's own picture, seen: how far the visitor is in each lesson }
export default function ({ parentElement, data }) {
  markReady(parentElement);
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
