// What a new step or question begins with has the focus: a key then goes on from there, and a screen reader reads it.

const TRIES = [0, 300, 1200]; // milliseconds; what is drawn once more loses the focus

/**
 * Focus the part that a selector names, once for each `place`, if the visitor has pressed something since the page was
 * loaded; never while they type. `bring`: it comes into sight; `lost`: only if nothing that can be pressed has the focus.
 */
export function focusOn(place, selector, { bring = false, lost = false } = {}) {
  const { dataset } = document.body,
    before = dataset.focused;
  dataset.focused = place;
  if (before === place || !navigator.userActivation?.hasBeenActive) return;
  const start = document.activeElement,
    typed = start?.matches("input:not([type=radio]), textarea, select"); // it may go: a right number closes its field
  const free = (element) =>
    element === document.body ||
    /** @type {any} */ (element).disabled === true ||
    (!lost && !typed && element === start);
  for (const wait of TRIES)
    setTimeout(() => {
      if (dataset.focused !== place || !free(document.activeElement)) return;
      const part = /** @type {HTMLElement | null} */ (document.querySelector(selector));
      part?.focus({ preventScroll: true });
      if (bring) part?.scrollIntoView({ block: "nearest" });
    }, wait);
}
