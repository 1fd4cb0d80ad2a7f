// A tap on a chart acts at once, and on the cell that is tapped. Plotly handles a click by what the pointer was over last,
// which a finger has not been: the first tap only showed a tip, and the second acted on the first one's cell.

/** Let the chart know where the finger is before it takes the touch for a click. */
export function hoverFirst({ touches, target }) {
  if (touches.length !== 1 || !target.matches?.(".js-plotly-plot .nsewdrag")) return;
  const { clientX, clientY } = touches[0];
  target.dispatchEvent(new MouseEvent("mousemove", { clientX, clientY, bubbles: true }));
}
