"""What a page asks of its reader: no more controls on the first screen of a laptop than the limit of the level."""

from __future__ import annotations

import pytest

from bartviz.app.frame.page_list import PAGES
from scripts.controls import MOST, SIZE, above, count, counted
from tests.browser.conftest import Open

CASES = [(page.word, level) for page in PAGES for level in MOST]


@pytest.mark.some("decoding-beginner", "compare-expert")
@pytest.mark.parametrize(("word", "level"), CASES, ids=["-".join(case) for case in CASES])
def test_the_first_screen_has_few_controls(visit: Open, shipped: str, word: str, level: str) -> None:
    address = f"{shipped}/{'' if word == PAGES[0].word else word}?level={level}"
    found = [f"{control['tag'].lower()} {control['name']}" for control in above(counted(visit(address, size=SIZE)))]
    assert 5 < len(found) <= MOST[level], found  # the menu alone has five


DRAWN = """
<header data-testid="stHeader"><a href="#a">Menu</a></header>
<button><a href="#b">one, though it holds a link</a></button>
<div tabindex="0"><input aria-label="two"></div>
<div role="radiogroup">
<button role="radio" tabindex="0">three</button><button role="radio" tabindex="-1">four</button></div>
<svg>
<rect tabindex="0" width="9" height="9"/><rect tabindex="-1" x="20" width="9" height="9"/></svg>
<div id="host"></div>
<button disabled>not to press</button><button style="display: none">gone</button>
<button style="opacity: 0">unseen</button>
<div style="height: 900px"></div><button>below the fold</button>
"""


def test_controls_are_counted_once_and_only_where_they_can_be_pressed(visit: Open, shipped: str) -> None:
    page = visit(shipped, size=SIZE)
    page.set_content(DRAWN)
    page.evaluate(
        """() => document.querySelector("#host").attachShadow({ mode: "open" }).innerHTML = "<select></select>" """
    )
    found = count(page)
    assert [control["tag"] for control in above(found)] == [
        "A",
        "BUTTON",
        "INPUT",
        "BUTTON",
        "BUTTON",
        "rect",
        "SELECT",
    ]
    assert [control["framed"] for control in above(found)] == [True] + 6 * [False]
    assert [control["name"] for control in found["controls"][7:]] == ["below the fold"]
