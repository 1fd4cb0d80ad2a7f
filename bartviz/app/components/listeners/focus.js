// A button that makes room for what it brought, or is drawn once more elsewhere, loses the focus: keys would then start
// from the top of the page, and screen readers fall silent. The boxes that Python names for it give the focus on.

const MOST_WAITED = 60_000; // milliseconds that a button's answer may take
const BETWEEN = 150; // milliseconds between two looks
const GIVES_ON = '[class*="st-key-focus_"]';
const BROUGHT = [".bv-lead, [data-testid='stAlert']", ".bv-note:not(.bv-unseen)"]; // a note may have been there before
const SPOKEN = ".bv-unseen"; // for screen readers, where nothing else was brought

/** The key of a box, from its class names. */
export const boxOf = (className) => /\bst-key-focus_\w+/.exec(className)?.[0];

/** What a button does, without what follows in parentheses: "Explain more (Expert)" is "Explain more". */
const does = (name) => name.replace(/\s*\([^()]*\)$/, "");

/**
 * What has the focus after a button of a box is gone: the button that does the same, what was brought, or else the first
 * button; undefined while nothing is there.
 */
export function successor(box, name) {
  const buttons = [...box.querySelectorAll(".stButton button")].filter((button) => !button.disabled);
  return (
    buttons.find((button) => does(button.textContent.trim()) === does(name)) ??
    [...BROUGHT, SPOKEN].map((part) => box.querySelector(part)).find(Boolean) ??
    buttons[0]
  );
}

/** The largest box around a button: a page's own, before that of a task in it. */
function outermost(button) {
  const box = button?.closest(GIVES_ON);
  return (box && outermost(box.parentElement)) || box;
}

/** Follow a button that is pressed until the visitor does something else. */
export function followFocus({ target }) {
  const pressed = target.closest?.(".stButton button"),
    key = boxOf(outermost(pressed)?.className ?? "");
  if (!key) return;
  const name = pressed.textContent.trim(),
    ends = performance.now() + MOST_WAITED,
    acted = new AbortController();
  for (const act of ["keydown", "pointerdown"])
    addEventListener(act, () => acted.abort(), { capture: true, signal: acted.signal });
  let has = pressed;
  const look = () => {
    const active = document.activeElement;
    if (acted.signal.aborted || performance.now() > ends || (active !== document.body && active !== has))
      return acted.abort();
    const box = document.querySelector(`.${key}`),
      next = pressed.isConnected || !box ? undefined : successor(box, name);
    if (next && next !== active) {
      if (!next.matches("button")) next.tabIndex = -1; // not in the order of Tab
      next.focus({ preventScroll: true });
      has = next;
    }
    setTimeout(look, BETWEEN);
  };
  look();
}
