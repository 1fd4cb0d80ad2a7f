// What a visitor touches in a picture is said on the page: a step of a lesson may have asked for it.

/**
 * Says it; whether somebody took it, so that the picture should do nothing else with it.
 * @param {Element} node
 * @param {Record<string, unknown>} what such as {row: 1, column: 2}
 */
export const sayTouched = (node, what) =>
  !node.dispatchEvent(new CustomEvent("bv-touch", { bubbles: true, cancelable: true, composed: true, detail: what }));

/**
 * Listens for a word of a lesson's text that is pointed at, so that a picture lights its place: its label, or null.
 * Returns a function that stops it.
 * @param {(label: string | null) => void} then
 */
export function onLight(then) {
  const light = (event) => then(event.detail);
  document.addEventListener("bv-light", light);
  return () => document.removeEventListener("bv-light", light);
}
