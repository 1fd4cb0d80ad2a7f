// Where an explorer stands: on a page of its own, which has an address and a title. Another place is in within.js.

/** @import { Around, Place } from "./types.js" */

const FRAMED = globalThis.location?.protocol === "about:";

/**
 * A page of its own. In a notebook's frame, which has no address, the page around it is told (widget.js).
 * @implements {Around}
 */
export class OwnPage {
  constructor() {
    this.root = document;
    this.frame = document.documentElement;
    this.languages = navigator.languages;
    this.asked = 0; // the last question of the page around a notebook's frame
  }

  get address() {
    return location.hash;
  }

  /** @param {string} text */
  title(text) {
    document.title = text;
  }

  /**
   * @param {ShadowRoot} host
   * @param {string} name of a component
   */
  renew(host, name) {
    const template = /** @type {HTMLTemplateElement} */ (document.getElementById(name));
    host.replaceChildren(template.content.cloneNode(true));
  }

  /**
   * @param {Place} place
   * @param {string} hash
   */
  publish({ kind, layer, head, row }, hash) {
    if (FRAMED) return globalThis.parent.postMessage({ bartviz: { kind, layer, head, row, asked: this.asked } }, "*");
    if (hash !== location.hash) history.replaceState(null, "", hash);
  }

  /** @param {(hash: string | null, wanted: { [name: string]: string }) => void} lead */
  listen(lead) {
    // Not `location`: what was being drawn may have written its own address since.
    globalThis.onhashchange = ({ newURL }) => lead(new URL(newURL).hash, {});
    globalThis.onmessage = ({ source, data }) => {
      if (!FRAMED || source !== globalThis.parent || !data?.bartviz) return;
      this.asked = data.bartviz.asked;
      lead(null, data.bartviz);
    };
  }
}
