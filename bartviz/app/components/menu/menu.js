// On a phone the sidebar covers the page: it closes when a page is chosen or a run begins, and never comes up open. The
// script is on every page, so it also keeps the browser's history, and the menu's lists.

import { markReady } from "../../../browser/shared/ready.js";
import { oneEntryForAnAct } from "./entries.js";
import { watchSections } from "./sections.js";

const PHONE = 768; // pixels; below, Streamlit draws the sidebar over the page
const LEAVES = "[data-testid='stSidebarNavLink'], [data-testid='stSidebarLogo'], [data-testid='stFormSubmitButton']";

/** Whether a click there ends what the visitor opened the sidebar for. `path`: from the clicked node up. */
export function leaves(path) {
  return path.some((node) => node.matches?.(LEAVES));
}

function close() {
  const open = document.querySelector("[data-testid='stSidebar'][data-collapsed='false']");
  if (innerWidth >= PHONE || !open) return;
  /** @type {HTMLElement | null} */ (open.querySelector("[data-testid='stSidebarCollapseButton'] button"))?.click();
}

export default function ({ parentElement }) {
  markReady(parentElement);
  const { body } = document;
  if (body.dataset.closesMenu) return; // one listener is enough, whichever page it came with
  body.dataset.closesMenu = "yes";
  close();
  oneEntryForAnAct();
  const sidebar = document.querySelector("[data-testid='stSidebar']");
  if (sidebar) watchSections(sidebar);
  document.addEventListener("click", (event) => leaves(event.composedPath()) && setTimeout(close));
}
