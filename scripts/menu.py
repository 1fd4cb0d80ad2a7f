"""The menu of the app in a browser: the sections of the bar, or the sidebar of a narrow screen."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page


def link(page: Page, label: str) -> Locator:
    """The link to the page of that label, reached as a visitor does: its section is open, or the sidebar."""
    page.locator("[data-testid='stTopNavLink'], [data-testid='stSidebarNavLink']").first.wait_for(state="attached")
    named = re.compile(f"^{re.escape(label)}$")
    if page.get_by_test_id("stTopNav").count() == 0:
        if not page.get_by_test_id("stSidebarNav").is_visible():
            page.get_by_test_id("stExpandSidebarButton").click()
        return page.get_by_test_id("stSidebarNavLink").filter(has_text=named)
    found = page.get_by_test_id("stTopNav").get_by_role("link", name=label, exact=True)
    for section in page.get_by_test_id("stTopNavSection").all():
        if found.count():
            break
        section.click()
        page.get_by_test_id("stTopNavDropdownLink").first.wait_for()
        found = page.get_by_test_id("stTopNavDropdownLink").filter(has_text=named)
    return found
