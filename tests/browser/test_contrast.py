"""What can be read or has a meaning stands out from what is behind it, on every page, in light and dark."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from bartviz.app.frame.page_list import PAGES
from scripts.contrast import SIZE, findings, record
from tests.browser.conftest import Open

CASES = [(page.word, scheme) for page in PAGES for scheme in ("light", "dark")]


@pytest.mark.some("start-light", "decoding-dark")
@pytest.mark.parametrize(("word", "scheme"), CASES, ids=["-".join(case) for case in CASES])
def test_text_and_marks_stand_out(visit: Open, shipped: str, word: str, scheme: str) -> None:
    address = f"{shipped}/{'' if word == PAGES[0].word else word}?level=expert"
    assert findings(visit(address, size=SIZE, scheme=scheme, before=record)) == []


DRAWN = """
<body style="background: white; color: black; font: 16px sans-serif">
<p>read</p><p style="color: #767676">just read</p><p class="faint" style="color: #787878">not read</p>
<p style="opacity: 0.5">half</p><p style="font-size: 24px; color: #949494">large</p>
<p class="large" style="font-size: 24px; color: #969696">pale</p>
<div style="border: 1px solid #949494; height: 20px"></div><div style="border: 1px solid #949494; height: 9px"></div>
<div class="frame" style="border: 1px solid #999; height: 9px"></div>
<div class="ring" style="box-shadow: inset 0 0 0 1px #ccc; height: 9px"></div>
<i class="bar" style="display: block; width: 9px; height: 9px; background: #bbb"></i>
<svg width="60" height="30"><rect width="30" height="30" fill="#000"/><text x="4" y="20" fill="#fff">on</text>
<rect class="pale" x="30" width="30" height="30" fill="#000" fill-opacity="0.2"/></svg>
<button class="ringless" style="border: 0; background: white; outline: none">no ring</button>
<button style="border: 0; background: white">ring</button><button disabled style="color: #ccc">not now</button>
<canvas width="40" height="40"></canvas>
"""
PENS = """() => {
    const pen = document.querySelector("canvas").getContext("2d");
    pen.fillStyle = "#000";
    pen.fillRect(0, 0, 20, 20);
    pen.fillStyle = "#fff";
    pen.fillText("on black", 5, 10);
    pen.fillText("on white", 5, 35);
    pen.strokeStyle = "#ddd";
    pen.strokeRect(1, 1, 30, 30);
    pen.strokeStyle = "#333";
    pen.strokeRect(5, 5, 30, 30);
}"""


def test_what_is_too_pale_is_found_and_nothing_else(chrome: Browser) -> None:
    with chrome.new_context() as context:
        page = context.new_page()
        record(page)
        page.goto("about:blank")
        page.evaluate("(drawn) => { document.body.innerHTML = drawn; }", DRAWN)
        page.evaluate(PENS)
        told = findings(page)
    found = {(one["what"], one["example"]): one["ratio"] for one in told}
    assert found[("text", "not read")] == pytest.approx(4.42, abs=0.01)
    assert found.keys() == {
        ("text", "not read"),
        ("text", "half"),
        ("text", "pale"),
        ("frame", ""),
        ("mark", "9 x 9"),
        ("mark", "pale"),
        ("focus", "no ring"),
        ("canvas", "text #ffffff 1 on white"),
        ("canvas", "frame #dddddd 1 "),
    }
    assert sum(one["count"] for one in told if one["what"] == "frame") == 2
