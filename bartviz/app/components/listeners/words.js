// What Streamlit itself writes, and names for screen readers, it has in English only: here they get the page's language.

const NAMES = ["aria-label", "placeholder", "title"];
const TEXTS = ["stFileUploaderDropzone", "InputInstructions", "stSkipToContent"]
  .map((id) => `[data-testid="${id}"]`)
  .concat("[role='listbox']")
  .join();
const GAP = /\{\w+\}/; // what stands for any text in a phrase
const PAUSE = 50; // milliseconds in which changes of the page are gathered

let phrases = []; // pairs: from, to
let watch; // the observer, from the first time on
let waiting = false;

/** A text in its other words, if it is one of the phrases (pairs of the same with a gap or without).
 * @param {string} text
 * @param {string[][]} pairs
 * @returns {string | undefined} */
export function rephrased(text, pairs) {
  for (const [from, to] of pairs) {
    if (!GAP.test(from)) {
      if (text === from) return to;
      continue;
    }
    const [before, after] = from.split(GAP);
    const fits = text.length > before.length + after.length && text.startsWith(before) && text.endsWith(after);
    if (fits) return to.replace(GAP, () => text.slice(before.length, text.length - after.length));
  }
  return undefined;
}

/** Let the page say these phrases from now on, and no longer those of the language before.
 * @param {string[][]} pairs */
export function speak(pairs) {
  if (JSON.stringify(pairs) === JSON.stringify(phrases)) return;
  rewrite(phrases.map(([from, to]) => [to, from]));
  phrases = pairs;
  rewrite(phrases);
  watch ??= new MutationObserver(later);
  watch.disconnect();
  if (!pairs.length) return;
  const what = { subtree: true, childList: true, characterData: true, attributeFilter: NAMES };
  watch.observe(document.body, what);
}

function later() {
  if (waiting) return;
  waiting = true;
  setTimeout(() => {
    waiting = false;
    rewrite(phrases);
  }, PAUSE);
}

function rewrite(pairs) {
  if (!pairs.length) return;
  for (const name of NAMES) {
    for (const element of document.querySelectorAll(`[${name}]`)) {
      const said = rephrased(element.getAttribute(name), pairs);
      if (said !== undefined) element.setAttribute(name, said);
    }
  }
  for (const place of document.querySelectorAll(TEXTS)) {
    const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const node = /** @type {Text} */ (texts.currentNode);
      const said = rephrased(node.data, pairs);
      if (said !== undefined) node.data = said;
    }
  }
}
