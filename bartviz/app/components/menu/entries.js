// One entry of the browser's history for each thing that a visitor does, so that one press of Back undoes it. What is
// written to the address before the visitor acts again belongs to that entry: a page leaves the defaults out of a link,
// and a link to another page is written in several steps.

const ACTS = ["pointerdown", "keydown"];

/** `write` calls `push` for the first address after an `act`, and `replace` for the others; after Back the visitor is at `rest`. */
export function entries(push, replace) {
  let acted = false;
  const write = (...address) => {
    const first = acted;
    acted = false;
    return first ? push(...address) : replace(...address);
  };
  const act = () => {
    acted = true;
  };
  const rest = () => {
    acted = false;
  };
  return { write, act, rest };
}

export function oneEntryForAnAct() {
  const { write, act, rest } = entries(history.pushState.bind(history), history.replaceState.bind(history));
  for (const name of ACTS) addEventListener(name, act, true);
  addEventListener("popstate", rest, true);
  history.pushState = write;
}
