// What a visitor has done of the lessons, in this browser's own store: { lesson: [steps seen, where one left off, the
// answered steps, a bit for each] }.

const NAME = "bartviz.lessons";

/** What is stored and what is known, together: all steps that were seen or answered, and the place of this visit. */
export function merged(stored, known) {
  const all = { ...stored };
  for (const [word, [seen, at, answered = 0]] of Object.entries(known)) {
    const [before = 0, , done = 0] = stored[word] ?? [];
    all[word] = [Math.max(seen, before), at, answered | done];
  }
  return all;
}

/** Whether one of two says of a lesson what the other does not. */
export const differs = (one, other) =>
  Object.entries(one).some(([word, [seen, , answered = 0]]) => {
    const [known = 0, , done = 0] = other[word] ?? [];
    return known < seen || (answered & ~done) !== 0;
  });

export function read() {
  try {
    const found = JSON.parse(localStorage.getItem(NAME));
    const fit = (entry) => Array.isArray(entry) && [2, 3].includes(entry.length) && entry.every(Number.isInteger);
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
