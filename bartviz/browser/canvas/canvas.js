// State, pointer and frames. Streamlit calls the default export again on every change of data or theme.

import { later } from "./choice.js";
import { markReady } from "../shared/ready.js";
import { askSteps, showStepper } from "./following.js";
import { draw, render } from "./frame.js";
import { listen } from "./pointer.js";
import { LIVE, create, current, paint, receive } from "./state.js";

const STATES = new WeakMap(); // parentElement -> state

export default function (component) {
  const { parentElement } = component;
  let it = STATES.get(parentElement);
  const first = !it || !it.root.isConnected;
  if (first) it = create(parentElement);
  STATES.set(parentElement, it);
  LIVE.add(it);
  receive(it, component);
  if (it.meta) paint(it);
  if (first) listen(it);
  if (it.meta) showStepper(it);
  if (it.meta?.steps) askSteps(it, { where: true });
  if (it.meta && !current(it)) later(it);
  it.unmeasured = true;
  if (first) render(it);
  else draw(it);
  markReady(parentElement);
  return () => {
    cancelAnimationFrame(it.frame);
    clearTimeout(it.timer);
    it.gone = true;
    it.resized.disconnect();
    it.unfollow();
    document.removeEventListener("keydown", it.anywhere);
    STATES.delete(parentElement);
    LIVE.delete(it);
  };
}
