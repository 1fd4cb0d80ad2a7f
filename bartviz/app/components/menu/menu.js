// On a phone the sidebar covers the page: it closes when a page is chosen or a run begins, and never comes up open. The
// script is on every page, so it also keeps the browser's history, the menu's lists, and the mark of the open section.

import { markReady } from "../../../browser/shared/ready.js";
import { oneEntryForAnAct } from "./entries.js";
import { markSection, nameButtons, nameSections, watch } from "./sections.js";

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

/** What Streamlit calls the sidebar is the menu on a phone. */
function nameAll() {
  const { opensMenu, leavesMenu } = document.body.dataset;
  if (innerWidth < PHONE) nameButtons(document, opensMenu ?? "", leavesMenu ?? "");
}

/** `section`: the label of the open page's; `open`, `close`: the names of the menu's buttons on a phone. */
export default function ({ parentElement, data }) {
  markReady(parentElement);
  const { body } = document;
  Object.assign(body.dataset, { section: data.section, opensMenu: data.open, leavesMenu: data.close });
  markSection(document, data.section);
  nameAll();
  if (body.dataset.closesMenu) return; // one listener is enough, whichever page it came with
  body.dataset.closesMenu = "yes";
  close();
  oneEntryForAnAct();
  const [sidebar, bar] = ["stSidebar", "stHeader"].map((name) => document.querySelector(`[data-testid='${name}']`));
  if (sidebar)
    watch(sidebar, () => {
      nameSections(sidebar);
      nameAll();
    });
  if (bar)
    watch(bar, () => {
      markSection(bar, body.dataset.section);
      nameAll();
    });
  document.addEventListener("click", (event) => leaves(event.composedPath()) && setTimeout(close));
}
