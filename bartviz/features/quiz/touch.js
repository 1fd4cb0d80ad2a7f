// A question that is answered in its picture: a press on a part that has a place sends it; arrow keys go from part to
// part, so that one Tab is enough for all of them.

import { focusOn } from "../../browser/shared/focus.js";
import { markReady } from "../../browser/shared/ready.js";

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/**
 * The part that an arrow key goes to. `places`: "3", or "2 3" for a cell of a row; `at`: the place of the part that has
 * the focus. Where there are no rows, up is back and down is forward. The same place if there is nothing further on.
 */
export function beside(places, at, key) {
  const [down, right] = STEPS[key],
    [row, column] = at.split(" ").map(Number);
  if (column === undefined) {
    const next = places[places.indexOf(at) + down + right];
    return next ?? at;
  }
  const next = `${row + down} ${column + right}`;
  return places.includes(next) ? next : at;
}

/**
 * `question`: its name; `answers`: how many were given to it.
 * @param {{ parentElement: Element, data: { box: string, question: string, answers: number }, setTriggerValue: Function
 * }} component
 */
export default function ({ parentElement, data, setTriggerValue }) {
  markReady(parentElement);
  const lost = data.answers > 0;
  focusOn(`quiz ${data.question} ${data.answers}`, lost ? ".bv-verdict" : ".bv-question", { bring: true, lost });
  const box = /** @type {HTMLElement | null} */ (document.querySelector(`.st-key-${data.box}`));
  if (!box) return;
  const buttons = () => /** @type {HTMLButtonElement[]} */ ([...box.querySelectorAll("button[data-place]")]);
  const button = (place) => buttons().find((one) => one.dataset.place === place);
  const reach = (chosen) => buttons().forEach((one) => (one.tabIndex = one === chosen ? 0 : -1));
  box.onclick = ({ target }) => {
    const part = /** @type {HTMLElement} */ (target).closest("[data-place]");
    if (!(part instanceof HTMLElement)) return;
    box.dataset.touched = `${data.question} ${part.dataset.place}`;
    setTriggerValue("touched", { question: data.question, place: part.dataset.place });
  };
  box.onkeydown = (event) => {
    const { place } = /** @type {HTMLElement} */ (event.target).dataset;
    if (place === undefined || !(event.key in STEPS)) return;
    event.preventDefault();
    event.stopPropagation(); // the arrows of the page go to another question
    const next = button(
      beside(
        buttons().map((one) => one.dataset.place),
        place,
        event.key,
      ),
    );
    reach(next);
    next.focus();
  };
  const [first] = buttons(),
    [question, ...place] = (box.dataset.touched ?? "").split(" "),
    touched = question === data.question ? button(place.join(" ")) : undefined;
  if (first) reach(touched ?? first);
  if (touched && document.activeElement === document.body) touched.focus({ preventScroll: true }); // it was drawn again
}
