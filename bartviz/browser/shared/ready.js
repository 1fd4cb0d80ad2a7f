// A component is aria-busy until its script has run: a press before that would be lost. Screen readers and the browser
// tests wait for it.

/** @param {Element} parentElement the component's own frame, as Streamlit gives it */
export const markReady = (parentElement) => parentElement.querySelector("[aria-busy]")?.removeAttribute("aria-busy");
