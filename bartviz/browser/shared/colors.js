// Colours of a theme: pure functions, tested with `node --test`.

export function parseColor(text) {
  const hex = /^#([0-9a-f]{3,8})$/i.exec(text.trim());
  if (hex) {
    const digits = hex[1].length < 6 ? [...hex[1]].map((d) => d + d).join("") : hex[1];
    return [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16));
  }
  const parts = text.match(/[\d.]+/g);
  return parts && parts.length >= 3 ? parts.slice(0, 3).map(Number) : [255, 255, 255];
}

export const css = (rgb) => `rgb(${rgb.join(",")})`;
export const mixed = (a, b, share) =>
  parseColor(a).map((v, i) => Math.round(v * share + parseColor(b)[i] * (1 - share)));

/** Relative luminance of WCAG 2, 0 (black) to 1 (white). */
export function luminance([r, g, b]) {
  const linear = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

export const isDark = (color) => luminance(parseColor(color)) < 0.2;

/** The text colour, black or white, that contrasts more with a background: at least 4.58. */
export function inkOn(rgb) {
  const light = luminance(rgb);
  return 1.05 / (light + 0.05) > (light + 0.05) / 0.05 ? "#ffffff" : "#000000";
}

/** 256 colours between evenly spaced stops, [r, g, b] each. */
export function ramp(stops) {
  const colors = stops.map(parseColor);
  return Array.from({ length: 256 }, (_, i) => {
    const at = (i / 255) * (colors.length - 1),
      low = Math.min(Math.floor(at), colors.length - 2);
    return colors[low].map((v, c) => Math.round(v + (colors[low + 1][c] - v) * (at - low)));
  });
}

/** What canvas needs of the theme's variables: plain colours and fonts. */
export function themeOf(root) {
  const style = getComputedStyle(root),
    color = (name) => style.getPropertyValue(name).trim();
  const ground = color("--st-background-color"),
    ink = color("--st-text-color");
  return {
    ground,
    ink,
    dark: isDark(ground),
    faint: css(mixed(ink, ground, 0.68)),
    text: css(mixed(ink, ground, 0.85)),
    line: color("--st-border-color"),
    hatch: css(mixed(ink, ground, 0.55)),
    masked: mixed(ink, ground, 0.09),
    font: color("--st-font"),
    mono: color("--st-code-font"),
  };
}

/** A kind's 256 colours on this ground; `both` are its stops for light and for dark. */
export const rampOn = ({ ground, dark }, both) => ramp([ground, ...both[dark ? 1 : 0].slice(1)]);

/** These colours from left to right, as a background of CSS. */
export const across = (colors) =>
  `linear-gradient(to right, ${colors
    .filter((_, at) => at % 51 === 0)
    .map(css)
    .join(", ")})`;

/** The one of them that lines and marks of the kind have. */
export const strongOf = ({ dark }, colors) => css(colors[dark ? 190 : 170]);
