// One step for all that show it. The player keeps the time; its followers are notified, and may ask it to move. Both
// are in one page, each in its own module: here they meet. Nothing of it goes to the server. "at": {record, step,
// count, playing, reveal}, from the player; "ask": {record, to | by | play | where}, to it.

const STEPS = (globalThis[Symbol.for("bartviz.steps")] ??= new EventTarget());

export const sendSteps = (type, detail) => STEPS.dispatchEvent(new CustomEvent(type, { detail }));

/** Listens to one type of message of one record; returns a function that stops it. */
export function onSteps(type, record, then) {
  const receiveStep = ({ detail }) => detail.record === record() && then(detail);
  STEPS.addEventListener(type, receiveStep);
  return () => STEPS.removeEventListener(type, receiveStep);
}

export const calm = () => globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? false;

/** Whether a key was pressed while nothing had the focus: a click outside all controls focuses the page's own frame. */
export const isNowhere = (target) => target === globalThis.document?.body || target?.dataset?.testid === "stMain";
