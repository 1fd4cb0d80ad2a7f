// A component is aria-busy until its script has run: a press before that would be lost. Screen readers and the browser
// tests wait for it.

/** @param {Element} parentElement the component's own frame, as Streamlit gives it */
export const markReady = (parentElement) => parentElement.querySelector("[aria-busy]")?.removeAttribute("aria-busy");

/**
 * What Streamlit calls on every change of a component's data or of the theme: the view of its place is made once, gets
 * what has come, and ends with the component.
 * @template {{ end(): void }} T
 * @param {string} selector of its root
 * @param {new (root: any) => T} View
 * @param {(view: T, component: any) => void} receive
 */
export function component(selector, View, receive) {
  /** @type {WeakMap<Element, T>} */
  const views = new WeakMap();
  return ({ parentElement, ...given }) => {
    const view = views.get(parentElement) ?? new View(parentElement.querySelector(selector));
    views.set(parentElement, view);
    receive(view, given);
    markReady(parentElement);
    return () => {
      view.end();
      views.delete(parentElement);
    };
  };
}
