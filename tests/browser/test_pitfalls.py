"""The page of warnings in a browser: claims, the runs of the shipped model that it needs, and a link."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Browser, expect

pytest.importorskip("bartviz.features.pitfalls")
from bartviz.analysis import sentence_words
from bartviz.features.pitfalls import numbers as pitfalls
from bartviz.language.percentages import percent
from bartviz.serving import first_record
from scripts.settled import settle
from tests.browser.conftest import Open
from tests.support import stand_in


@pytest.mark.thorough
def test_five_warnings_with_numbers_pictures_and_two_runs(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/pitfalls?level=intermediate")
    record = first_record.record()
    assert record is not None
    gap = pitfalls.gap(record)
    assert gap is not None
    leads = page.locator(".bv-lead")
    expect(leads.nth(1)).to_contain_text(f"({percent(float(gap.weights[gap.looked]))})")
    expect(page.get_by_text("With random weights a row of cross-attention")).to_be_visible()
    expect(page.get_by_text("every layer norm still has a gain of exactly 1")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Silence each of the 96 heads")).click()
    expect(page.get_by_text(re.compile(r"Of \d+ heads with at least 0\.5 there"))).to_be_visible()
    settle(page)
    expect(page.locator(".js-plotly-plot")).to_have_count(11)


def test_a_link_opens_the_head_with_its_sinks_hidden(visit: Open, server: str) -> None:
    page = visit(f"{server}/pitfalls")
    found = pitfalls.sinks(stand_in.record())
    assert found is not None
    page.get_by_text("3 · Much of the weight goes to special tokens").click()
    page.get_by_role("link", name="this head, with sinks hidden").click()
    expect(page).to_have_url(re.compile("/heads"))
    expect(page.locator(".bv-lead").first).to_contain_text(
        sentence_words.capitalized(sentence_words.head_in_words(found.head.layer, found.head.head))
    )
    expect(page.get_by_text("hidden; each row is renormalised")).to_be_visible()


# What plotly does for each of hundreds of labels: write it where nobody sees it, and ask for its size.
MEASURE = """() => {
    const tester = document.querySelector("#js-plotly-tester");
    const label = document.createElementNS("http://www.w3.org/2000/svg", "text");
    label.textContent = "label";
    tester.appendChild(label);
    label.getBoundingClientRect();
    label.remove();
    tester.getBoundingClientRect();
}"""


@pytest.mark.some(1)
@pytest.mark.parametrize("width", [1366, 1000])
def test_measuring_a_label_makes_no_other_styles_be_looked_up(
    chrome: Browser, visit: Open, shipped: str, width: int
) -> None:
    page = visit(f"{shipped}/pitfalls", size=(width, 768))
    page.locator(".js-plotly-plot").first.wait_for()
    settle(page)
    page.evaluate(MEASURE)
    chrome.start_tracing(page=page, categories=["devtools.timeline"])
    page.evaluate(MEASURE)
    events = json.loads(chrome.stop_tracing())["traceEvents"]
    restyled = [event["args"]["elementCount"] for event in events if event["name"] == "UpdateLayoutTree"]
    everything = page.evaluate("document.querySelectorAll('*').length")
    assert restyled
    assert max(restyled) < everything / 20  # a rule like `:has(...) div` would make it all of them
