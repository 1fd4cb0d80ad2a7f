// One entry of the browser's history for each step of a lesson, so that one press of Back is one step.

/** The step that the query of an address names: "lesson at", "" where it names none. */
export function stepOf(query) {
  const said = new URLSearchParams(query);
  return said.get("lesson") ? `${said.get("lesson")} ${said.get("at")}` : "";
}

/**
 * Whether an address that is to be written stands for the same step as the current one. The server writes the words of
 * a step one after the other, and a page of its own first: all that is one entry of the browser's history. `now`,
 * `next`: locations; `running`: the step over which the strip stands, "" where there is none.
 */
export function isSame(now, next, running) {
  const [from, to] = [stepOf(now.search), stepOf(next.search)];
  return to !== "" && (to === from || (from === "" && now.pathname === next.pathname && to === running));
}

export function oneEntryForAStep() {
  if (document.body.dataset.lessonHistory) return;
  document.body.dataset.lessonHistory = "yes";
  const push = history.pushState.bind(history);
  history.pushState = (state, unused, url) => {
    const running = document.querySelector(".st-key-lesson") ? (document.body.dataset.lessonStep ?? "") : "";
    const same = isSame(location, new URL(url ?? "", location.href), running);
    return same ? history.replaceState(state, unused, url) : push(state, unused, url);
  };
}
