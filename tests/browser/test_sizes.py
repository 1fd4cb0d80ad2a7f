"""Views other than the first: pictures are seen at once on a laptop, and nothing is wider than a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from bartviz.app.frame import page_list
from scripts.settled import settle
from tests.browser.conftest import Open

PLOT = ".stPlotlyChart .nsewdrag"
SEEN = [  # an address, pictures on it, and how many of them are on the first screen
    ("alignment?level=intermediate", PLOT, 2),
    ("compare", ".attention [data-is=plot]", 2),
    ("decoding?step=5", ".player .strip", 1),
    ("experiments?experiment=ablation", ".bv-shares", 1),
    ("experiments?experiment=edit", PLOT, 2),
    ("heads?layer=1&head=0", ".attention [data-is=stage]", 1),
    ("inside?level=intermediate", ".st-key-inside_row .nsewdrag", 3),
    ("masks?level=intermediate", ".square canvas", 3),
    ("parameters?of=facebook/bart-base&level=intermediate", ".js-plotly-plot", 1),
]
NARROW = [  # an address, and what stands there when the page is whole
    ("alignment?level=intermediate", f"{PLOT} >> nth=1"),
    ("corpus?lang=ko", "text=가장 비슷한 헤드"),
    *(
        (f"experiments?level=intermediate&experiment={experiment}", PLOT)
        for experiment in ("ablation", "edit", "reach")
    ),
    *((f"heads?view={view}&layer=1&head=0", ".attention [data-is=stage]") for view in ("map", "lines", "text")),
    ("inputs?look=tokenizers&sample=Korean", ".bv-cut >> nth=2"),
    ("inside?level=intermediate", ".st-key-inside_row .nsewdrag"),
    ("masks?level=intermediate&about=patterns", f"{PLOT} >> nth=1"),
    ("parameters?more=What+the+articles+say&level=intermediate", "text=✗ False"),
    ("pitfalls?lang=ko", "text=평균은 헤드를 가린다"),
    ("textbook?line=33&chapter=cost", "details[open] table"),
]
WIDE = [  # an address, the parts of its picture that say something, and the share of a wide screen that they fill
    ("alignment", ".st-key-alignment_matrix .nsewdrag", 0.12),
    ("compare", ".attention [data-is=plot]", 0.25),
    ("denoising", ".bv-repair", 0.2),
    ("quiz", ".bv-ribbons", 0.15),
    ("side", ".attention [data-is=plot]", 0.25),
]

# Pages on which most stands next to each other; the others in make thorough.
HERE = {"compare", "heads?view=map&layer=1&head=0"}


def there(address: str) -> bool:
    return page_list.has(address.split("?", maxsplit=1)[0])


@pytest.mark.some(*HERE)
@pytest.mark.parametrize(("address", "picture", "count"), [row for row in SEEN if there(row[0])])
def test_pictures_are_seen_without_scrolling(visit: Open, shipped: str, address: str, picture: str, count: int) -> None:
    page = visit(f"{shipped}/{address}")
    expect(page.locator(picture).nth(count - 1)).to_be_attached()
    settle(page)
    for place in range(count):
        box = page.locator(picture).nth(place).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 768
        assert box["x"] + box["width"] <= 1366


@pytest.mark.some(*HERE)
@pytest.mark.parametrize(("address", "part"), [row for row in NARROW if there(row[0])])
def test_nothing_hangs_over_the_edge_of_a_phone(visit: Open, shipped: str, address: str, part: str) -> None:
    page = visit(f"{shipped}/{address}", size=(390, 844))
    expect(page.locator(part).first).to_be_attached()
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator(".attention, .bv-essentials").evaluate_all(
        "parts => parts.every(part => part.scrollWidth <= part.clientWidth)"
    )


@pytest.mark.parametrize("address", [address for address in ("inputs", "born", "heads") if there(address)])
@pytest.mark.some("inputs")
def test_choices_on_a_phone_are_equal_boxes(visit: Open, shipped: str, address: str) -> None:
    page = visit(f"{shipped}/{address}", size=(390, 844))
    row = page.get_by_test_id("stMain").get_by_role("radiogroup").first
    widths = row.get_by_role("radio").evaluate_all("boxes => boxes.map(box => box.getBoundingClientRect().width)")
    assert max(widths) - min(widths) <= 1  # pixels
    assert row.evaluate("row => [...row.querySelectorAll('p')].every(text => text.scrollWidth <= text.clientWidth)")
    edges = "boxes => new Set(boxes.slice(0, -1).map(box => getComputedStyle(box).borderRightColor)).size"
    row.get_by_role("radio").last.tap()
    expect(row.get_by_role("radio").last).to_be_checked()
    assert row.get_by_role("radio").evaluate_all(edges) == 1  # that before the chosen one is closed, too


SHARE = """parts => parts.reduce((sum, part) => {
    const { left, right, top, bottom } = part.getBoundingClientRect();
    return sum + Math.max(0, Math.min(right, innerWidth) - left) * Math.max(0, Math.min(bottom, innerHeight) - top);
}, 0) / (innerWidth * innerHeight)"""


@pytest.mark.some("compare", "quiz")
@pytest.mark.parametrize(("address", "picture", "share"), [row for row in WIDE if there(row[0])])
def test_a_picture_grows_with_a_wide_screen(
    visit: Open, shipped: str, address: str, picture: str, share: float
) -> None:
    page = visit(f"{shipped}/{address}", size=(1920, 1080))
    expect(page.locator(picture).first).to_be_attached()
    settle(page)
    assert page.locator(picture).evaluate_all(SHARE) >= share


PRESSED = [  # an address of the player, whose buttons, films and slider are below its picture
    "decoding?large=true",
    "decoding?large=true&level=intermediate",
    "decoding?large=true&step=3&branch=3.77",
    "?lesson=decoding&at=4&large=true",
]


@pytest.mark.some("decoding?large=true", "?lesson=decoding&at=4&large=true")
@pytest.mark.parametrize(
    "address", [one for one in PRESSED if there("decoding") and ("lesson" not in one or there("lessons"))]
)
def test_large_type_leaves_what_is_pressed_on_the_screen(visit: Open, shipped: str, address: str) -> None:
    page = visit(f"{shipped}/{address}", size=(1920, 1080))
    for size in ((1920, 1080), (1366, 768)):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        settle(page)
        for part in (".player [data-is=play]", ".player [data-is=scrub]"):
            expect(page.locator(part)).to_be_in_viewport(ratio=1)


def test_what_stands_around_a_picture_grows_with_the_type(visit: Open, shipped: str) -> None:
    parts = (".bv-way", ".st-key-share_place [data-testid=stPopoverButton] p >> nth=0")
    heights = []
    for large, size in (("false", (1366, 768)), ("true", (1366, 768)), ("true", (1920, 1080))):
        page = visit(f"{shipped}/masks?large={large}", size=size)
        boxes = [page.locator(part).bounding_box() for part in (*parts, "h1", ".st-key-share button")]
        tall = [box["height"] for box in boxes if box is not None]
        assert len(tall) == len(boxes)
        assert large == "false" or tall[3] <= tall[2] + 1  # a button ends where the title does: what is below is free
        heights.append(tall[: len(parts)])
    for usual, small, most in zip(*heights, strict=True):
        assert small > 1.1 * usual
        assert most > 1.3 * usual


@pytest.mark.skipif(not there("quiz"), reason="without the quiz")
@pytest.mark.parametrize(("number", "picture"), [(1, ".bv-ribbons"), (3, ".bv-grid.bv-large")])
def test_the_picture_of_a_question_grows_with_the_type(visit: Open, shipped: str, number: int, picture: str) -> None:
    for size in ((1920, 1080), (1366, 768)):
        areas = []
        for large in ("false", "true"):
            page = visit(f"{shipped}/quiz?quiz_question={number}&large={large}", size=size)
            box = page.locator(picture).bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= size[1]
            areas.append(box["width"] * box["height"])
        assert areas[1] > 1.05 * areas[0]


AROUND = """lead => {
    const { top, bottom } = lead.querySelector("p").getBoundingClientRect();
    let box = lead.parentElement;
    while (!box.nextElementSibling) box = box.parentElement;  // it may be in a place of its own
    return [top - document.querySelector("h1").getBoundingClientRect().bottom,
            box.nextElementSibling.getBoundingClientRect().top - bottom];
}"""


@pytest.mark.skipif(not there("corpus"), reason="without corpora")
def test_two_lines_of_a_sentence_stand_between_the_title_and_the_controls(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/corpus?large=true", size=(1000, 768))
    settle(page)
    lead = page.locator(".st-key-lead")
    lines = lead.locator("p").evaluate("text => text.clientHeight / parseFloat(getComputedStyle(text).lineHeight)")
    assert lines > 1.5
    above, below = lead.evaluate(AROUND)
    assert above >= 0
    assert below >= 0.4 * 21  # pixels of large type


WIDTHS = """paragraphs => paragraphs.map(
    (paragraph) => paragraph.getBoundingClientRect().width / parseFloat(getComputedStyle(paragraph).fontSize)
)"""


@pytest.mark.parametrize("word", [word for word in ("quiz",) if there(word)])
def test_a_long_text_has_lines_that_can_be_read(word: str, visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/{word}", size=(1920, 1080))
    widths = page.get_by_test_id("stExpanderDetails").locator("p").evaluate_all(WIDTHS)
    assert 25 < max(widths) <= 36  # em, of which a letter of Latin type takes a half or less
