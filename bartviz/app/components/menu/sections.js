// The sections of the menu. On a phone Streamlit puts each, its heading and its pages, into one list whose items they are
// not, so a screen reader counts nothing: each becomes a list of its own, named by its heading. In the bar a section is
// a button, which does not say that the open page is in its list.

const MENU = "[data-testid='stSidebarNavItems']";
const OPENS = "[data-testid='stExpandSidebarButton']";
const CLOSES = "[data-testid='stSidebarCollapseButton'] button";
const BAR = "[data-testid='stTopNavSection']";

/** Give the parts of the menu their roles; what has them already is left alone. */
export function nameSections(root) {
  const menu = root.querySelector(MENU);
  if (!menu) return;
  menu.role = "none";
  for (const part of menu.children) {
    const heading = part.querySelector("header");
    if (!heading) {
      part.role = "none"; // a page outside of the sections: a link alone
      continue;
    }
    heading.role = "none";
    part.role = "list";
    part.ariaLabel = heading.querySelector("p")?.textContent ?? "";
  }
}

/** Name the buttons that open and close the menu. */
export function nameButtons(root, open, close) {
  for (const [button, name] of [
    [OPENS, open],
    [CLOSES, close],
  ])
    root.querySelector(button)?.setAttribute("aria-label", name);
}

/** Mark the section of the bar that has the open page; `section` is its label. */
export function markSection(root, section) {
  for (const button of root.querySelectorAll(BAR)) {
    if (button.textContent.trim() === section) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

/** Do so now and whenever the menu is drawn anew: it comes with the window's width, and with another language. */
export function watch(part, act) {
  act();
  new MutationObserver(act).observe(part, { childList: true, subtree: true, characterData: true });
}
