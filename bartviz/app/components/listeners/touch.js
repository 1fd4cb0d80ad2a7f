// A finger on a chart scrolls the page, and a tap clicks what is tapped: touches are the browser's own, which makes mouse
// events of a tap. Plotly's answer was to zoom the chart by every swipe, and to click, on the second tap, the cell of the
// first: it handles a click by what the pointer was over before. Only a chart that is moved sideways to see the rest of
// it (the beam tree) keeps its touches.

/** Keep a touch of a chart's area from plotly. */
export function leaveToBrowser(event) {
  const area = event.target.closest?.(".draglayer");
  if (!area) return;
  const { dragmode, xaxis, yaxis } = area.closest(".js-plotly-plot").layout;
  const movesSideways = dragmode === "pan" && yaxis?.fixedrange && !xaxis?.fixedrange;
  if (!movesSideways) event.stopPropagation();
}
