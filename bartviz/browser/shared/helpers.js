// Small things that every component needs. Words come from Python, in the reader's language: none are in a script.

export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** A word within a sentence: one that is read from right to left would move what is next to it. Once is enough. */
export const isolated = (text) => (RIGHT_TO_LEFT.test(text) && !text.includes("\u2068") ? `\u2068${text}\u2069` : text);

/** A message with its {places} filled; one that depends on a number is a pair, for one and for several: `count`. */
export const filled = (message, values = {}) =>
  (Array.isArray(message) ? message[values.count === 1 ? 0 : 1] : message).replace(/\{(\w+)\}/g, (place, name) =>
    name in values ? isolated(String(values[name])) : place,
  );

/** name -> the message of that name, filled. */
export const speaker = (words) => (name, values) => filled(words[name], values);

/** The words of a component's own markup: data-say names the text of a node, data-title and data-label its attributes. */
export function nameAll(root, say) {
  for (const node of root.querySelectorAll("[data-say]")) node.textContent = say(node.dataset.say);
  for (const node of root.querySelectorAll("[data-title]")) node.title = say(node.dataset.title);
  for (const node of root.querySelectorAll("[data-label]")) node.setAttribute("aria-label", say(node.dataset.label));
}

export const quoted = (label) => `“${isolated(label)}”`;
const unjoined = (label) => (label.length > 1 && label.startsWith("⋯") ? label.slice(1) : label);

/** A token in a sentence; a piece with the `word` that it is one of, as Python's message of "{piece} of {word}" says it. */
export const inWord = (message, label, word) =>
  word ? filled(message, { piece: quoted(unjoined(label)), word: quoted(word) }) : quoted(label);

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export function make(tag, className = "", text = "") {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.textContent = text;
  return node;
}
