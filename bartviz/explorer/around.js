// Where an explorer stands: on a page of its own, which has an address and a title. Another place is in within.js.

/** @import { Around, Place } from "./types.js" */
import { pause } from "./pause.js";

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
    /** @type {string | null} an address that is about to be written */
    this.hash = null;
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
   * The address is written in a task of its own, where a browser takes 20 ms for it, and once for all that was told in one.
   * @param {Place} place
   * @param {string} hash
   */
  publish({ kind, layer, head, row }, hash) {
    if (FRAMED) return globalThis.parent.postMessage({ bartviz: { kind, layer, head, row, asked: this.asked } }, "*");
    if (this.hash === null) pause().then(() => this.write());
    this.hash = hash;
  }

  write() {
    if (this.hash !== null && this.hash !== location.hash) history.replaceState(null, "", this.hash);
    this.hash = null;
  }

  /** @param {(hash: string | null, wanted: { [name: string]: string }) => void} lead */
  listen(lead) {
    // Not `location`: what was being drawn may have written its own address since.
    globalThis.onhashchange = ({ newURL }) => {
      this.hash = null; // the visitor's address counts
      lead(new URL(newURL).hash, {});
    };
    globalThis.onmessage = ({ source, data }) => {
      if (!FRAMED || source !== globalThis.parent || !data?.bartviz) return;
      this.asked = data.bartviz.asked;
      lead(null, data.bartviz);
    };
  }
}
