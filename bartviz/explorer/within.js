// Where an explorer stands: in an element of a page of others.

/** @import { Around, Place } from "./types.js" */
import { isDark } from "../browser/shared/colors.js";

/**
 * An element of a page of others: a shadow root keeps the styles of either side apart, and what is chosen is told by an
 * event, "bartviz", of the element.
 * @implements {Around}
 */
export class Within {
  /**
   * @param {HTMLElement} element
   * @param {{ [name: string]: { style: string, markup: string } }} parts the explorer and its components
   * @param {{ lang?: string, theme?: string, [place: string]: unknown }} options what is shown first
   */
  constructor(element, parts, { lang = "", theme = "", ...place } = {}) {
    this.element = element;
    this.parts = parts;
    this.theme = theme || (isDark(getComputedStyle(element).color) ? "light" : "dark"); // that of the page's letters
    const spoken = /** @type {HTMLElement | null} */ (element.closest("[lang]"))?.lang;
    this.languages = [lang, spoken, ...navigator.languages].filter(Boolean);
    this.address = `#${new URLSearchParams({ ...place, theme: this.theme })}`;
    const host = document.createElement("div"),
      shadow = host.attachShadow({ mode: "open" });
    this.renew(shadow, "explorer");
    this.frame = document.createElement("article"); // its header and footer are not those of the page
    this.frame.className = "explorer";
    this.frame.append(...shadow.childNodes);
    shadow.append(this.frame);
    this.frame.querySelector("noscript").remove();
    this.frame.querySelector("main").setAttribute("role", "none");
    this.frame.querySelector("h1").setAttribute("aria-level", "3");
    this.root = shadow;
    element.replaceChildren(host);
  }

  title() {}

  /**
   * Its style is made by a script, which a strict policy of the page allows.
   * @param {ShadowRoot} host
   * @param {string} name of a component
   */
  renew(host, name) {
    const { style, markup } = this.parts[name],
      sheet = new CSSStyleSheet(),
      template = document.createElement("template");
    sheet.replaceSync(style);
    template.innerHTML = markup;
    host.adoptedStyleSheets = [sheet];
    host.replaceChildren(template.content);
  }

  /** @param {Place} place */
  publish({ kind, layer, head, row, step }) {
    this.element.dispatchEvent(new CustomEvent("bartviz", { detail: { kind, layer, head, row, step } }));
  }

  listen() {}
}
