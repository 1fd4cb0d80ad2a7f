"""The parameters page in a browser: first on a fresh server, the map opens to a matrix, files arrive, phones fit."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from scripts.settled import settle
from tests.browser.conftest import Open, take


def test_a_deep_link_draws_map_and_curves(server: str, visit: Open) -> None:
    page = visit(f"{server}/parameters?of=t5-small&n=1024&level=intermediate", scheme="dark")
    expect(page.locator(".bv-lead")).to_contain_text("32,128 tokens × 512")
    expect(page.locator(".treemaplayer").get_by_text("Decoder (writes the output) · 25.2 M").first).to_be_visible()
    expect(page.get_by_text("equal at").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
def test_each_touch_opens_one_level_down_to_a_matrix_and_the_path_leads_back(
    server: str, visit: Open, size: tuple[int, int]
) -> None:
    page = visit(f"{server}/parameters?of=facebook/bart-base&level=intermediate", size=size)
    lead, opened = page.locator(".bv-lead"), page.locator(".treemaplayer")

    def touch(name: str) -> None:
        area = opened.get_by_text(name, exact=True).last
        expect(area).to_be_visible()
        settle(page)
        area.scroll_into_view_if_needed()
        box = area.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + 4, box["y"] + box["height"] / 2)

    touch("Layer 2")
    expect(lead).to_contain_text(
        "Decoder: 57,500,160 numbers"
    )  # 6 layers of 9,451,776, positions of 1,026 x 768, a norm
    touch("Layer 2")
    expect(lead).to_contain_text("Decoder, layer 2: 9,451,776 numbers")
    touch("cross-attention")
    expect(lead).to_contain_text("Decoder, layer 2, cross-attention: ")
    page.mouse.move(1, 1)
    touch("query weight")
    expect(lead).to_contain_text("cross-attention query weight: 768 × 768, 589,824 numbers")
    path = page.get_by_role("navigation", name="Path to the open area")
    expect(path.get_by_role("button")).to_have_text(["bart-base", "Decoder", "Layer 2", "cross-attention"])
    path.get_by_role("button", name="bart-base").click()
    expect(lead).to_contain_text("139,420,416 parameters")
    expect(opened.get_by_text("Layer 5", exact=True).first).to_be_visible()


def test_keys_alone_open_an_area_and_lead_back(server: str, visit: Open) -> None:
    page = visit(f"{server}/parameters?of=facebook/bart-base&beside=bert-base-uncased")
    lead, table = page.locator(".bv-lead"), page.get_by_role("table", name="Parts")
    table.get_by_role("button", name="encoder layers").focus()
    page.keyboard.press("Enter")
    expect(lead).to_contain_text("Encoder: 43,316,736 numbers in bart-base, ")
    expect(table.get_by_role("button", name="Embeddings")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(lead).to_contain_text("Encoder, layer 0: ")
    page.get_by_role("button", name="bart-base, bert-base-uncased").press("Enter")
    expect(lead).to_contain_text("times as many parameters")


@pytest.mark.thorough
def test_the_tables_shapes_are_not_cut_off(server: str, visit: Open) -> None:
    page = visit(f"{server}/parameters?of=facebook/bart-base&part=decoder")
    box = page.get_by_test_id("stDataFrame")
    expect(box.get_by_test_id("data-grid-canvas")).to_be_visible()
    settle(page)
    rows = box.locator("table tr").evaluate_all(  # what a screen reader has of the canvas
        "rows => rows.map(row => [...row.children].slice(0, 4).map(cell => cell.textContent))"
    )
    assert rows[0] == ["Layer", "Role", "Parameters", "Shape"]
    columns = list(zip(*(row[2:] for row in rows), strict=True))
    needed = page.evaluate(
        """columns => {
          const pen = document.createElement("canvas").getContext("2d");
          const root = parseFloat(getComputedStyle(document.documentElement).fontSize);
          pen.font = `${root * 0.875}px ${getComputedStyle(document.body).fontFamily}`;  // as Streamlit's tables are
          const wide = texts => Math.max(...texts.map(text => pen.measureText(text).width)) + 16;
          return 50 + 180 + columns.reduce((sum, texts) => sum + wide(texts), 0);  // layer and role have these widths
        }""",
        columns,
    )
    size = box.bounding_box()
    assert size is not None
    assert needed <= size["width"]


@pytest.mark.thorough
def test_the_slider_moves_the_numbers_and_the_link(server: str, visit: Open) -> None:
    page = visit(f"{server}/parameters?of=bert-base-uncased&level=intermediate")
    expect(page.get_by_text("151 MB")).to_be_visible()
    slider = page.get_by_role("slider").first
    slider.focus()
    slider.press("ArrowLeft")
    settle(page)
    expect(page).to_have_url(re.compile(r"n=384"))
    expect(page.get_by_text("84.9 MB")).to_be_visible()


@pytest.mark.thorough
def test_the_table_arrives_as_a_file(server: str, visit: Open, tmp_path: Path) -> None:
    page = visit(f"{server}/parameters?of=gpt2&level=intermediate")
    take(page, page.locator(".st-key-parameters_csv button"), tmp_path / "table.csv")
    rows = list(csv.DictReader((tmp_path / "table.csv").read_text("utf-8-sig").splitlines()))
    assert sum(int(row["count"]) for row in rows) == 124_439_808
    assert rows[-1]["shared_with"] == "transformer.wte.weight"


@pytest.mark.parametrize("query", ["of=facebook/bart-base", "of=facebook/bart-base&large=true"])
@pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
def test_the_area_of_every_field_is_its_count(server: str, visit: Open, size: tuple[int, int], query: str) -> None:
    page = visit(f"{server}/parameters?{query}", size=size)
    expect(page.locator(".treemaplayer").get_by_text("Layer 5", exact=True).first).to_be_visible()
    settle(page)
    fields = page.evaluate(
        """() => {
          const map = document.querySelector(".st-key-parameters .js-plotly-plot");
          const { customdata, maxdepth } = map.data[0];
          return [...map.querySelectorAll(".treemaplayer path.surface")]
            .filter(({ __data__: { children, depth } }) => depth === maxdepth - 1 || (!children && depth < maxdepth))
            .map((path) => [path.getBBox(), customdata[path.__data__.data.data.i][1]])
            .map(([{ width, height }, count]) => [width * height, count]);
        }"""
    )
    shares = [area / count for area, count in fields if count > 100_000]  # a vector is a hair's breadth wide
    assert len(shares) == 33  # of each side: six layers of two or three parts, the positions; the shared embeddings
    assert max(shares) == pytest.approx(min(shares), rel=0.02)


def test_what_is_written_in_the_map_is_large_enough_to_read(shipped: str, visit: Open) -> None:
    page = visit(f"{shipped}/parameters")
    texts = page.locator(".treemaplayer .slicetext text, .treemaplayer text.slicetext")
    for name in ("Encoder (reads the text) · ", "Layer 0", "cross-attention"):
        text = texts.get_by_text(name) if name == "Encoder (reads the text) · " else texts.get_by_text(name, exact=True)
        expect(text.first).to_be_visible()
    sizes = texts.evaluate_all(
        """(all) => all.filter((text) => text.getBoundingClientRect().height > 0)
          .map((text) => parseFloat(getComputedStyle(text).fontSize) * (text.getCTM()?.a ?? 1))"""
    )
    assert min(sizes) >= 11.9
