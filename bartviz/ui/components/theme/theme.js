// Streamlit tells the server of a change of theme only with the next run. This asks for that run at once, because
// figures are drawn in the theme's colours on the server. data: one byte, 1 where the server drew for a dark theme.

/** Whether a CSS colour, #rrggbb or rgb(), is darker than middle grey. */
export function isDark(color) {
  const hex = color.match(/^#(\w\w)(\w\w)(\w\w)/);
  const parts = hex ? hex.slice(1).map((part) => parseInt(part, 16)) : (color.match(/\d+/g) ?? [255, 255, 255]).map(Number);
  return 0.3 * parts[0] + 0.59 * parts[1] + 0.11 * parts[2] < 128;
}

export default function ({ parentElement, data, setTriggerValue }) {
  const color = getComputedStyle(parentElement.querySelector("span")).getPropertyValue("--st-background-color").trim();
  if (color && isDark(color) !== (data[0] === 1)) setTriggerValue("changed", isDark(color));
}
