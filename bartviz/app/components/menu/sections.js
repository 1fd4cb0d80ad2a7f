// The menu of a phone. Streamlit puts each section, its heading and its pages, into one list whose items they are not, so
// a screen reader counts nothing. Each section becomes a list of its own, named by its heading.

const MENU = "[data-testid='stSidebarNavItems']";

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

/** Do so now and whenever the menu is drawn anew: it comes with the window's width, and with another language. */
export function watchSections(sidebar) {
  nameSections(sidebar);
  new MutationObserver(() => nameSections(sidebar)).observe(sidebar, {
    childList: true,
    subtree: true,
    characterData: true,
  });
}
