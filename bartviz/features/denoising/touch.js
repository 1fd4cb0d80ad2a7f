// Words of the three lines that can be touched: a press on one sends its places in the original text. Arrow keys go from word
// to word of the first line, so that one Tab is enough for all.

import { markReady } from "../../browser/shared/ready.js";

const WAYS = { ArrowLeft: -1, ArrowRight: 1 };

/**
 * `box`: the key of the container of the lines; `lost`: the words that are hidden, so that this runs again when they change.
 * @param {{ parentElement: Element, data: { box: string, lost: number[] }, setTriggerValue: Function }} component
 */
export default function ({ parentElement, data, setTriggerValue }) {
  markReady(parentElement);
  const box = /** @type {HTMLElement | null} */ (document.querySelector(`.st-key-${data.box}`));
  if (!box) return;
  const words = () => /** @type {HTMLElement[]} */ ([...box.querySelectorAll("[role=button][data-words]")]);
  const reach = (chosen) => words().forEach((one) => (one.tabIndex = one === chosen ? 0 : -1));
  const press = (target) => {
    const part = /** @type {HTMLElement | null} */ (target.closest("[data-words]"));
    if (!part) return;
    box.dataset.touched = part.dataset.words;
    setTriggerValue("words", part.dataset.words);
  };
  box.onclick = ({ target }) => press(target);
  box.onkeydown = (event) => {
    const all = words(),
      at = all.indexOf(/** @type {HTMLElement} */ (event.target));
    if (at < 0 || !(event.key in WAYS || event.key === "Enter" || event.key === " ")) return;
    event.preventDefault();
    if (!(event.key in WAYS)) return press(event.target);
    const backwards = getComputedStyle(all[at]).direction === "rtl" ? -1 : 1;
    const next = all[at + backwards * WAYS[event.key]] ?? all[at];
    reach(next);
    next.focus();
  };
  const had = words().find((one) => one.dataset.words === box.dataset.touched);
  reach(had ?? words()[0]);
  if (had && document.activeElement === document.body) had.focus({ preventScroll: true }); // it was drawn once more
}
