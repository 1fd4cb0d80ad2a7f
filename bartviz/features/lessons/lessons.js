// Keys of a lesson: N or Page Down (a presenter's clicker, in large type) goes forward, B or Page Up goes back, A shows
// the answer. They press the strip's own buttons, so that what cannot be pressed cannot be keyed either.

import { markReady } from "../../browser/shared/ready.js";
import { focusOn } from "../../browser/shared/focus.js";
import { calm } from "../../browser/shared/steps.js";
import { keep } from "../../app/components/scroll_to/keep.js";
import { oneEntryForAStep } from "./history.js";
import { write } from "./store.js";

const SPACE = 4; // pixels above and below a part in sight
const NARROW = 760; // pixels of a window, as in strip.css
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

// What is not to be cut by the strip's edge: lines of text, and what is pressed.
const LINES = "[data-testid='stMain'] :is(h1, h2, h3, p, label, button, .bv-lead):not(.st-key-lesson *)";

/**
 * The way that also takes lines of text, which the edge of the strip would cut, out of sight above it, if the part stays
 * below the edge. `by`: the way in pixels that the part needs; `top`: where the part begins; `edge`: the edge of the
 * strip; `lines`: where each line begins and ends; all before the way.
 */
export function pastLines(by, top, edge, lines) {
  let way = by;
  for (;;) {
    const cut = lines.filter((line) => line.top - way < edge && line.bottom - way > edge);
    if (!cut.length) return way;
    way = Math.max(...cut.map(({ bottom }) => bottom)) - edge;
    if (top - way < edge) return by;
  }
}

/**
 * What is in sight below the strip, in pixels of the window; null where the strip scrolls away with the page. `partly`:
 * what to look at does, and only the question stays.
 */
function roomOf(main) {
  const strip = document.querySelector(".st-key-lesson")?.parentElement;
  const { position, top } = strip ? getComputedStyle(strip) : { position: "", top: "" };
  if (position !== "sticky") return null;
  const from = main.getBoundingClientRect().top + parseFloat(top) + strip.getBoundingClientRect().height;
  return { top: from + SPACE, bottom: innerHeight - SPACE, partly: innerWidth <= NARROW };
}

/**
 * Scroll to what a new step is about, below the strip, if that keeps the step's text in view. The place is noted where
 * the pages note theirs (scroll_to.js), so that the page after the lesson begins at its top.
 */
function show({ step, page, part, below }) {
  const { dataset } = document.body,
    main = document.querySelector("[data-testid='stMain']"),
    on = `lesson ${page} `,
    at = `${on}${step} ${part}`,
    before = dataset.scrollTo,
    stays = before?.startsWith(on) && !calm(); // the same page moves to what is asked next
  if (before === at) return;
  Object.assign(dataset, { scrollTo: at, lessonStep: step });
  if (!part) return; // on another page
  if (before && !stays) main.scrollTo({ top: 0, behavior: "instant" });
  const away = () => {
    const box = document.querySelector(part)?.getBoundingClientRect(),
      room = roomOf(main),
      top = stays ? -main.scrollTop : 0;
    if (!(box?.height > 20)) return null;
    if (room?.partly && !below) return top; // what to look at is read first
    const by = room && distance(box, room);
    if (by) {
      const lines = [...document.querySelectorAll(LINES)].map((line) => line.getBoundingClientRect());
      return pastLines(by, box.top, room.top - SPACE, lines);
    }
    if (room) return 0; // what an answer moves is held in its place
    return below ? box.top + box.height / 2 - innerHeight / 2 : top;
  };
  keep(main, away, () => dataset.scrollTo === at, REST, stays);
}

/** Plotly says what was clicked to whoever asked its node: ask when a pointer goes down on one, before the click. */
const ASKED = new WeakSet();
function askPlot(event) {
  const plot = /** @type {any} */ (event.target.closest?.(".js-plotly-plot"));
  if (!plot?.on || ASKED.has(plot)) return;
  ASKED.add(plot);
  plot.on("plotly_click", ({ points: [point] }) =>
    plot.dispatchEvent(new CustomEvent("bv-touch", { bubbles: true, cancelable: true, detail: pointOf(plot, point) })),
  );
}

/** What was clicked in a figure: its key, the place on its axes, its label, and the number of the point. */
export function pointOf(plot, { x, y, label, text, pointNumber, curveNumber }) {
  const key = /st-key-(\w+)/.exec(plot.closest("[class*='st-key-']")?.className ?? "")?.[1] ?? "";
  const point = typeof pointNumber === "number" ? { point: pointNumber } : {};
  return { figure: key, x, y, label: label ?? text, curve: curveNumber, ...point };
}

/** A word of a running text, or of three aligned lines: its line's key, its place in it, what it says. */
export function chipOf(target) {
  const chip = target.closest?.(".bv-chip"),
    box = chip?.closest("[class*='st-key-']");
  if (!box) return null;
  const key = /st-key-(\w+)/.exec(box.className)?.[1] ?? "";
  return {
    figure: key,
    chip: [...box.querySelectorAll(".bv-chip")].indexOf(chip),
    label: chip.firstChild?.textContent,
  };
}

/** What is said is read aloud: a region that is there all the time, as a new one would not be read. */
function sayAloud(text) {
  const id = "bartviz-lesson-said";
  let region = document.getElementById(id);
  if (!region) {
    region = document.createElement("div");
    region.id = id;
    region.setAttribute("role", "status");
    region.style.cssText = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)";
    document.body.append(region);
  }
  if (region.textContent !== text) region.textContent = text;
}

const measuring = globalThis.ResizeObserver && new ResizeObserver(([{ target }]) => measureSee(target));

/** The height of what scrolls away of the strip in a narrow window. */
function measureSee(see) {
  document.documentElement.style.setProperty("--bv-see", `${see.getBoundingClientRect().height}px`);
}

const measuringStrip =
  globalThis.ResizeObserver &&
  new ResizeObserver(([{ target }]) => {
    holdPicture(target, document.querySelector("[data-testid='stMain']"));
    document.documentElement.style.setProperty("--bv-strip", `${target.getBoundingClientRect().height}px`);
  });

const held = { ask: "", height: 0 };
const askOf = (strip) => strip.querySelector(".bv-ask")?.textContent ?? "";

/** Before the visitor does something: how high the strip of this step is. It comes piece by piece, and is higher while
 * parts of the step before are still there. */
export function noteHeight(strip) {
  Object.assign(held, { ask: askOf(strip), height: strip.getBoundingClientRect().height });
}

/**
 * What is said of an answer changes the height of the strip: the page scrolls by as much, so that the picture stays in
 * its place. Where it cannot scroll back, the strip keeps that height until the next step.
 */
export function holdPicture(strip, main, root = document.documentElement) {
  if (askOf(strip) !== held.ask) {
    root.style.removeProperty("--bv-card");
    return;
  }
  const { height } = strip.getBoundingClientRect(),
    to = main.scrollTop + height - held.height;
  main.scrollTop = to;
  if (to < 0) root.style.setProperty("--bv-card", `${height - to}px`);
  held.height = height - Math.min(to, 0);
}

// The words of a figure and of a running text, which hear nothing; some have their place and their colour beside them.
const SAID = ".js-plotly-plot :is(text, tspan), .bv-chip",
  PLACED = /^▎\d+ |[\u2009 ]\d*▎$/;

/** A word of the strip's text that is pointed at or has the focus lights its place in the picture. */
function lightWord(target, lit) {
  const word = target.closest?.(".bv-spot");
  if (!word) return;
  const label = lit ? word.textContent : null;
  document.dispatchEvent(new CustomEvent("bv-light", { detail: label }));
  for (const said of document.querySelectorAll(SAID)) {
    const text = said.textContent ?? "";
    said.classList.toggle("bv-lit", label !== null && (text === label || text.replace(PLACED, "") === label));
  }
}

const TOUCHED = "3px solid var(--bv-primary)",
  JUDGED = 8000; // milliseconds after which a touch is forgotten that nobody has judged
/** @type {(() => void) | undefined} */
let unmark;

/** Mark at once what was touched, and name it where the verdict will stand; a map as a whole is not outlined. */
function mark(node, label) {
  unmark?.();
  const answer = document.querySelector(".bv-answer"),
    style = node instanceof HTMLElement && node.tagName !== "CANVAS" && node.offsetWidth < 300 ? node.style : undefined;
  if (style) style.outline = TOUCHED;
  if (typeof label === "string" && label.trim()) answer?.setAttribute("data-touched", `“${label.trim()}”`);
  unmark = () => {
    clearTimeout(late);
    style?.removeProperty("outline");
    answer?.removeAttribute("data-touched");
    unmark = undefined;
  };
  const late = setTimeout(() => unmark?.(), JUDGED);
}

/** @type {Map<Node, { asks: string, then: (what: unknown) => void }>} */
const strips = new Map(); // of those in the page, by their elements, in the order in which they came
/** @type {Document | undefined} */
let heard;

/** The strip that is answered: of those in the page the one that came last. The one of the step before may be drawn once
 * more, and goes some time later. */
const current = () => [...strips].reverse().find(([element]) => element.isConnected)?.[1];

/** Tell `then` what is touched in a picture, while this strip is the last one in the page. Returns what ends it.
 * @param {Node} element
 * @param {string} asks
 * @param {(what: unknown) => void} then */
export function listen(element, asks, then) {
  const own = { asks, then };
  strips.set(element, own);
  if (heard !== document) hear((heard = document));
  return () => {
    if (strips.get(element) === own) strips.delete(element);
  };
}

/** Hear, once for all strips, what is pointed at and touched in a document. */
function hear(page) {
  for (const [type, lit] of /** @type {[string, boolean][]} */ ([
    ["pointerover", true],
    ["focusin", true],
    ["pointerout", false],
    ["focusout", false],
  ]))
    page.addEventListener(type, ({ target }) => lightWord(/** @type {Element} */ (target), lit));
  page.addEventListener("bv-touch", (event) => {
    const strip = current();
    if (!strip?.asks) return;
    event.preventDefault(); // a picture does nothing else with an answer that could not be taken back
    mark(event.composedPath()[0], /** @type {CustomEvent} */ (event).detail?.label);
    strip.then(/** @type {CustomEvent} */ (event).detail);
  });
  // A click may come alone, from a screen reader.
  for (const type of ["pointerdown", "keydown", "click"])
    page.addEventListener(
      type,
      () => {
        const strip = document.querySelector(".st-key-lesson");
        if (strip) noteHeight(strip);
      },
      { capture: true },
    );
  page.addEventListener("pointerdown", (event) => void (current()?.asks && askPlot(event)), { capture: true });
  page.addEventListener("click", (event) => {
    const strip = current(),
      chip = strip?.asks && chipOf(event.target);
    if (!chip) return;
    mark(event.target, chip.label);
    strip.then(chip);
  });
}

// data: { step: "lesson at", page: its word, part: the selector of what it is about, "" on another page, below: whether that
// is below the page's own picture, asks: which side of the picture answers, "" for none, said: of the last answer, seen:
// how far the visitor is in each lesson }
export default function ({ parentElement, data, setTriggerValue }) {
  markReady(parentElement);
  const { body } = document;
  show(data);
  write(data.seen);
  sayAloud(data.said);
  unmark?.();
  focusOn(`lesson ${data.step} ${data.said}`, data.said ? ".bv-answer" : ".bv-ask", { lost: data.said !== "" });
  const see = document.querySelector(".bv-see"),
    strip = document.querySelector(".st-key-lesson");
  if (see) measuring.observe(see);
  if (strip) {
    holdPicture(strip, document.querySelector("[data-testid='stMain']")); // one that is held at a height has no new one
    measuringStrip.observe(strip);
  }
  const close = listen(parentElement, data.asks, (what) => setTriggerValue("touch", what));
  if (body.dataset.lessonKeys) return close; // one listener is enough, whichever page it came with
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
  return close;
}
