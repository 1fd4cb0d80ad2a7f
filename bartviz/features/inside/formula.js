// The formula above the row of arithmetic. While the pointer is over a panel of the picture, the part that the panel
// shows is lit, and a line says what it is. Text reaches the page only through textContent.
// data is UTF-8 JSON: {parts: [{text, sub, role, panels}], panels: {subplot: panel}, say: {panel: sentence}, rest, within}

import { markReady } from "../../browser/shared/ready.js";

/** Which parts of the formula a panel of the picture shows. -> [true, false, ...] */
export function lit(parts, panel) {
  return parts.map((part) => panel !== null && part.panels.includes(panel));
}

/** The panel of plotly's subplot, or null. */
export function panelOf(panels, subplot) {
  return Object.hasOwn(panels, subplot) ? panels[subplot] : null;
}

export default function ({ parentElement, data }) {
  const told = JSON.parse(new TextDecoder().decode(data));
  const root = parentElement.querySelector(".formula");
  const line = root.querySelector(".line"),
    say = root.querySelector(".say");
  const spans = told.parts.map((part) => {
    const span = document.createElement("span");
    span.textContent = part.text;
    if (part.role) span.classList.add(part.role);
    if (part.sub) span.append(Object.assign(document.createElement("sub"), { textContent: part.sub }));
    return span;
  });
  line.replaceChildren(...spans);
  let shown;
  const show = (panel) => {
    if (panel === shown) return;
    shown = panel;
    lit(told.parts, panel).forEach((on, i) => spans[i].classList.toggle("lit", on));
    root.classList.toggle("pointing", panel !== null);
    say.textContent = panel === null ? told.rest : told.say[panel];
  };
  show(null);
  const point = (event) => {
    const area = event.target instanceof Element ? event.target.closest("[data-subplot]") : null;
    show(area && area.closest(told.within) ? panelOf(told.panels, area.dataset.subplot) : null);
  };
  markReady(parentElement);
  document.addEventListener("pointermove", point, { passive: true });
  document.addEventListener("pointerdown", point, { passive: true });
  return () => {
    document.removeEventListener("pointermove", point);
    document.removeEventListener("pointerdown", point);
  };
}
