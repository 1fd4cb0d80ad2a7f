// A component is busy from the moment its HTML is there until its script has run: what is pressed before is not heard.
// Screen readers wait for it, and so do the tests in a browser.

/** @param {Element} parentElement the component's own frame, as Streamlit gives it */
export const begun = (parentElement) => parentElement.querySelector("[aria-busy]")?.removeAttribute("aria-busy");
