// The explorer in the cell of a running notebook: what is chosen in its frame is set on the widget, and what Python sets
// on the widget is chosen in the frame.

const NAMES = /** @type {const} */ (["kind", "layer", "head", "row"]);

/**
 * @param {{ model: import("./types.js").WidgetModel, el: HTMLElement }} view
 * @returns {() => void} what ends it
 */
function render({ model, el }) {
  const frame = document.createElement("iframe");
  Object.assign(frame, { srcdoc: model.get("_page"), title: model.get("_name") });
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style.cssText = `width: 100%; height: ${model.get("_height")}px; border: 0`;
  const chosen = () => JSON.stringify(NAMES.map((name) => model.get(name)));
  const view = Math.random().toString(36).slice(2);
  let [begun, waiting, shown, asked] = [false, false, "", 0];
  // A notebook may send back what the frame has chosen, also when the frame has moved on. Such an echo holds the state
  // that this view has signed; what Python sets is signed by nobody.
  const isEcho = () => model.get("_signed") === view + chosen();
  const tell = () => {
    waiting = false;
    if (chosen() === shown || isEcho()) return;
    const wanted = Object.fromEntries(NAMES.map((name) => [name, model.get(name)]));
    frame.contentWindow?.postMessage({ bartviz: { ...wanted, asked: ++asked } }, "*");
  };
  const soon = () => {
    if (!waiting) queueMicrotask(tell); // once all names of a message are set
    waiting = true;
  };
  /** @param {MessageEvent} event */
  const onMessage = ({ source, data }) => {
    if (source !== frame.contentWindow || !data?.bartviz) return;
    const first = !begun;
    begun = true;
    if (!first && data.bartviz.asked !== asked) return; // Python has asked for something else since
    shown = JSON.stringify(NAMES.map((name) => data.bartviz[name]));
    if (first) return tell(); // what Python has set before the frame was there
    if (model.get("_signed") === view + shown && chosen() === shown) return;
    if (chosen() !== shown) for (const name of NAMES) model.set(name, data.bartviz[name]);
    model.set("_signed", view + shown);
    model.save_changes();
  };
  const events = NAMES.map((name) => `change:${name}`);
  addEventListener("message", onMessage);
  for (const event of events) model.on(event, soon);
  el.append(frame);
  return () => {
    removeEventListener("message", onMessage);
    for (const event of events) model.off(event, soon);
  };
}

export default () => ({ render });
