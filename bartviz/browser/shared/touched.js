// What a visitor touches in a picture is said on the page: a step of a lesson may have asked for it.

/**
 * Says it; whether somebody took it, so that the picture should do nothing else with it.
 * @param {Element} node
 * @param {Record<string, unknown>} what such as {row: 1, column: 2}
 */
export const sayTouched = (node, what) =>
  !node.dispatchEvent(new CustomEvent("bv-touch", { bubbles: true, cancelable: true, composed: true, detail: what }));
