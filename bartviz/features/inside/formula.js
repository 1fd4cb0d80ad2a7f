// The formula above the row of arithmetic. While the pointer is over a panel of the picture, the part that the panel
// shows is lit, and a line says what it is. Its player shows the panels one after the other, from query to output; it
// hides those that have not come yet by a style of the page, as plotly draws the picture again whenever it likes. Text
// reaches the page only through textContent.
// data is UTF-8 JSON: {parts: [{text, sub, role, panels}], panels: {subplot: panel}, say: {panel: sentence}, rest,
// within, order: [panel], captions: {panel: number}, steps: {panel: sentence}, words}

import { clamp, filled } from "../../browser/shared/helpers.js";
import { markReady } from "../../browser/shared/ready.js";
import { calm, isNowhere } from "../../browser/shared/steps.js";

const PACE = 3000; // ms that a step stays
const ALL = -1; // the step at which everything is shown

/** Which parts of the formula a panel of the picture shows. -> [true, false, ...] */
export function lit(parts, panel) {
  return parts.map((part) => panel !== null && part.panels.includes(panel));
}

/** The panel of plotly's subplot, or null. */
export function panelOf(panels, subplot) {
  return Object.hasOwn(panels, subplot) ? panels[subplot] : null;
}

/** The style that hides the panels and captions that come after step `at`; empty if none do. */
export function hiding({ within, order, panels, captions }, at) {
  if (at === ALL) return "";
  const later = order.slice(at + 1);
  const subplots = Object.keys(panels).filter((subplot) => later.includes(panels[subplot]));
  const hidden = [
    ...subplots.map((subplot) => `${within} .subplot.${subplot}`),
    ...later.map((panel) => `${within} .annotation[data-index="${captions[panel]}"]`),
  ];
  return hidden.length ? `${hidden.join(", ")} { opacity: 0.04 !important; }` : "";
}

/** The step after `by` steps: from everything the first or the last one; beyond the end everything again. */
export function stepFrom(at, by, count) {
  if (at === ALL) return by > 0 ? 0 : count - 1;
  return at + by >= count ? ALL : clamp(at + by, 0, count - 1);
}

export default function ({ parentElement, data }) {
  const told = JSON.parse(new TextDecoder().decode(data));
  const root = parentElement.querySelector(".formula");
  const [line, say, count, back, play, next] = ["line", "say", "count", "back", "play", "next"].map((name) =>
    root.querySelector(`.${name}`),
  );
  const spans = told.parts.map((part) => {
    const span = document.createElement("span");
    span.textContent = part.text;
    if (part.role) span.classList.add(part.role);
    if (part.sub) span.append(Object.assign(document.createElement("sub"), { textContent: part.sub }));
    return span;
  });
  line.replaceChildren(...spans);
  const style = document.head.appendChild(document.createElement("style"));
  const fade = calm() ? "" : `${told.within} :is(.subplot, .annotation) { transition: opacity 0.5s; }`;
  let at = ALL,
    timer = 0,
    pointed = null;

  const draw = () => {
    const stepped = at === ALL ? null : told.order[at],
      panel = pointed ?? stepped;
    lit(told.parts, panel).forEach((on, i) => spans[i].classList.toggle("lit", on));
    root.classList.toggle("pointing", panel !== null);
    root.classList.toggle("stepping", pointed === null && stepped !== null);
    say.textContent = pointed ? told.say[pointed] : stepped ? told.steps[stepped] : told.rest;
  };
  const go = (to) => {
    at = to;
    style.textContent = at === ALL ? "" : `${fade} ${hiding(told, at)}`;
    count.textContent = at === ALL ? "" : filled(told.words.count, { step: at + 1, count: told.order.length });
    draw();
    const subplot = Object.keys(told.panels).find((name) => told.panels[name] === told.order[at]);
    const area = subplot && document.querySelector(`${told.within} .nsewdrag[data-subplot="${subplot}"]`);
    const part = area?.closest('[data-testid="stElementContainer"]');
    part?.scrollIntoView({ block: "nearest", inline: "nearest", behavior: calm() ? "auto" : "smooth" });
  };
  const mark = () => {
    play.classList.toggle("playing", timer > 0);
    play.title = told.words[timer ? "pause" : "play"];
    play.setAttribute("aria-label", play.title);
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    mark();
  };
  const move = (by) => {
    stop();
    go(stepFrom(at, by, told.order.length));
  };
  const toggle = () => {
    if (timer) return stop();
    go(stepFrom(at, 1, told.order.length));
    timer = setInterval(() => {
      go(stepFrom(at, 1, told.order.length));
      if (at === ALL) stop();
    }, PACE);
    mark();
  };
  for (const [button, name] of [
    [back, "back"],
    [next, "next"],
  ]) {
    button.title = told.words[name];
    button.setAttribute("aria-label", told.words[name]);
  }
  root.setAttribute("aria-label", told.words.play);
  back.onclick = () => move(-1);
  next.onclick = () => move(1);
  play.onclick = toggle;
  const onKey = (event, anywhere) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const space = event.key === " " && !anywhere && event.composedPath()[0].tagName !== "BUTTON";
    if (!by && !space) return;
    event.preventDefault();
    event.stopPropagation();
    if (space) toggle();
    else move(by);
  };
  root.onkeydown = (event) => onKey(event, false);
  const nowhere = (event) => isNowhere(event.target) && onKey(event, true);
  const point = (event) => {
    const area = event.target instanceof Element ? event.target.closest("[data-subplot]") : null;
    const panel = area && area.closest(told.within) ? panelOf(told.panels, area.dataset.subplot) : null;
    if (panel === pointed) return;
    pointed = panel;
    draw();
  };
  go(ALL);
  stop();
  markReady(parentElement);
  document.addEventListener("pointermove", point, { passive: true });
  document.addEventListener("pointerdown", point, { passive: true });
  document.addEventListener("keydown", nowhere);
  return () => {
    clearInterval(timer);
    style.remove();
    document.removeEventListener("pointermove", point);
    document.removeEventListener("pointerdown", point);
    document.removeEventListener("keydown", nowhere);
  };
}
