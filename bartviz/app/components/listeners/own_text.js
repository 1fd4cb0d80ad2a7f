// The visitor's own text, in the store of this tab: an address that is typed begins a new session, which knows no text.

const NAME = "bartviz.text";

/** @param {Record<string, string>} own  the text, with its model */
export function keep(own) {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(own));
  } catch {
    // nothing is kept then: a browser may have no store, or a full one
  }
}

/** What an earlier session of this tab has kept; null where there is nothing. */
export function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(NAME));
  } catch {
    return null; // no store, or something else in it
  }
}
