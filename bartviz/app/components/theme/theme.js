// Streamlit reports a change of theme to the server only with the next run. This asks for that run at once, because
// figures are drawn in the theme's colours on the server. It also tells the browser (and a screen reader) which
// language the page is in. data: {dark: whether the server drew for a dark theme, lang: a language code}.

import { markReady } from "../../../browser/shared/ready.js";

/** Whether a CSS colour, #rrggbb or rgb(), is darker than middle grey. */
export function isDark(color) {
  const hex = color.match(/^#(\w\w)(\w\w)(\w\w)/);
  const parts = hex
    ? hex.slice(1).map((part) => parseInt(part, 16))
    : (color.match(/\d+/g) ?? [255, 255, 255]).map(Number);
  return 0.3 * parts[0] + 0.59 * parts[1] + 0.11 * parts[2] < 128;
}

export default function ({ parentElement, data, setTriggerValue }) {
  markReady(parentElement);
  if (document.documentElement.lang !== data.lang) document.documentElement.lang = data.lang;
  const color = getComputedStyle(parentElement.querySelector("span")).getPropertyValue("--st-background-color").trim();
  if (color && isDark(color) !== data.dark) setTriggerValue("changed", isDark(color));
}
