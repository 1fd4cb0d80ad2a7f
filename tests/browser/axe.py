"""What axe-core finds on a page."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from scripts.node import JS
from scripts.settled import settle

AXE = JS / "node_modules" / "axe-core" / "axe.min.js"
RUN = """async () => (await axe.run({ resultTypes: ["violations"] })).violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => [id, nodes.map((node) => node.target.join(" ") + ": " + node.failureSummary)])"""


def findings(page: Page) -> list[Any]:
    """The serious and critical findings on the page as it is."""
    settle(page)
    page.evaluate(AXE.read_text("utf-8"))
    found: list[Any] = page.evaluate(RUN)
    return found
