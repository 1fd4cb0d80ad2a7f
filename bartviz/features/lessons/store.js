// What a visitor has seen of the lessons, in this browser's own store: { lesson: [steps seen, where one left off] }.

const NAME = "bartviz.lessons";

/** What is stored and what is known, together: the most steps that were seen, and the place of this visit. */
export function merged(stored, known) {
  const all = { ...stored };
  for (const [word, [seen, at]] of Object.entries(known)) all[word] = [Math.max(seen, stored[word]?.[0] ?? 0), at];
  return all;
}

/** Whether one of two says of a lesson what the other does not. */
export const differs = (one, other) => Object.entries(one).some(([word, [seen]]) => (other[word]?.[0] ?? 0) < seen);

export function read() {
  try {
    const found = JSON.parse(localStorage.getItem(NAME));
    const fit = (entry) => Array.isArray(entry) && entry.length === 2 && entry.every(Number.isInteger);
    return Object.fromEntries(Object.entries(found ?? {}).filter(([, entry]) => fit(entry)));
  } catch {
    return {}; // a browser may have no store, or something else in it
  }
}

export function write(known) {
  try {
    localStorage.setItem(NAME, JSON.stringify(merged(read(), known)));
  } catch {
    // nothing is kept then
  }
}
