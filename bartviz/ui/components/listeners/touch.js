// A finger on a chart scrolls the page, and a tap clicks what is tapped: touches are the browser's own, which makes mouse
// events of a tap. Plotly's answer was to zoom the chart by every swipe, and to click, on the second tap, the cell of the
// first: it handles a click by what the pointer was over before.

/** Keep a touch of a chart's area from plotly. */
export function leaveToBrowser(event) {
  if (event.target.closest?.(".js-plotly-plot .draglayer")) event.stopPropagation();
}
