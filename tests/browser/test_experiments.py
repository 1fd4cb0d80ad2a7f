"""The experiments page in a browser, with the models that ship: clicks, keys, links, a long sweep that is stopped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import bartviz
from bartviz.models.roots import default_roots
from scripts.settled import settle
from tests.browser.conftest import Open, serve, take
from tests.support import networks

PLOT = ".stPlotlyChart .nsewdrag"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of 12 x 12 heads that takes a while."""
    folder = tmp_path_factory.mktemp("models")
    networks.save(
        "bert",
        folder / "wide-bert",
        num_hidden_layers=12,
        num_attention_heads=12,
        hidden_size=384,
        intermediate_size=1536,
    )
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Iterator[str]:
    """A server that begins with the saved record of a model that ships."""
    with serve(tmp_path_factory.mktemp("server"), BARTVIZ_MODEL_ROOTS=str(root)) as address:
        yield address


def opened(visit: Open, address: str, said: str, **options: str | tuple[int, int]) -> Page:
    """The page, once its sentence says so: the model may be loaded first."""
    page = visit(address, **options)
    expect(page.get_by_text(said).first).to_be_visible()
    settle(page)
    return page


def cell(page: Page, chart: int, row: int, column: int, shape: tuple[int, int]) -> tuple[Locator, dict[str, float]]:
    """Where to click for one cell of a chart."""
    plot = page.locator(PLOT).nth(chart)
    box = plot.bounding_box()
    assert box is not None
    return plot, {"x": box["width"] * (column + 0.5) / shape[1], "y": box["height"] * (row + 0.5) / shape[0]}


@pytest.mark.thorough
def test_a_click_silences_a_head_and_a_second_click_restores_it(visit: Open, server: str) -> None:
    page = opened(visit, f"{server}/experiments?level=intermediate", "Without encoder L")
    ticked = page.get_by_test_id("stMultiSelect")
    expect(ticked).to_contain_text("L")
    expect(ticked).not_to_contain_text("encoder L1H2")
    plot, place = cell(page, 0, 1, 2, (4, 8))
    plot.click(position=place)  # type: ignore[arg-type]
    expect(ticked).to_contain_text("encoder L1H2")
    expect(page).to_have_url(re.compile(r"silenced=encoder\+L1H2"))  # it took the place of the page's own choice
    expect(page.get_by_text("With encoder L1H2 silenced")).to_be_visible()
    settle(page)
    plot, place = cell(page, 0, 1, 2, (4, 8))
    plot.click(position=place)  # type: ignore[arg-type]
    expect(ticked).not_to_contain_text("encoder L1H2")
    expect(page.get_by_text("No head is silenced").first).to_be_visible()


@pytest.mark.thorough
def test_a_tap_silences_the_head_that_is_tapped_at_once(visit: Open, server: str) -> None:
    page = opened(visit, f"{server}/experiments?level=intermediate", "Without encoder L", size=(390, 844))
    ticked = page.get_by_test_id("stMultiSelect")
    plot, place = cell(page, 0, 1, 2, (4, 8))
    plot.tap(position=place)  # type: ignore[arg-type]
    expect(ticked).to_contain_text("encoder L1H2")
    settle(page)
    plot, place = cell(page, 0, 2, 3, (4, 8))
    plot.tap(position=place)  # type: ignore[arg-type]
    expect(ticked).to_contain_text("encoder L2H3")
    expect(page).to_have_url(re.compile(r"silenced=encoder\+L1H2&silenced=encoder\+L2H3"))


@pytest.mark.thorough
def test_the_ranked_file_holds_what_the_library_measures(visit: Open, server: str, tmp_path: Path) -> None:
    page = opened(visit, f"{server}/experiments?level=intermediate", "Without encoder L")
    take(page, page.get_by_role("button", name="NPZ").first, tmp_path / "sweep.npz")
    model = bartviz.load("bart-tiny-en-de", roots=default_roots())
    sweep = bartviz.ablate_sweep(model, bartviz.capture(model, "I want to buy a car."))
    with np.load(tmp_path / "sweep.npz", allow_pickle=False) as saved:
        for kind in sweep.kinds:
            np.testing.assert_allclose(saved[f"{kind}_log_probability"], sweep.map(kind), atol=1e-3)


@pytest.mark.thorough
def test_a_token_is_changed_by_keys_and_the_link_keeps_it(visit: Open, server: str) -> None:
    page = opened(
        visit, f"{server}/experiments?level=intermediate&experiment=edit&side=target&position=3", "at position 3"
    )
    expect(page.get_by_text("the 3 tokens before it stay bit-identical").first).to_be_visible()
    page.get_by_role("slider", name="Position").press("ArrowLeft")
    expect(page.get_by_text("the 2 tokens before it stay bit-identical").first).to_be_visible()
    expect(page).to_have_url(re.compile("experiment=edit.*position=2|position=2.*experiment=edit"))
    page.get_by_role("textbox", name="Replace it by").fill("Haus")
    page.get_by_role("textbox", name="Replace it by").press("Enter")
    expect(page.get_by_text("became “Haus”").first).to_be_visible()


@pytest.mark.thorough
def test_a_long_sweep_needs_a_click_shows_progress_and_can_be_stopped(visit: Open, server: str) -> None:
    text = "+".join(["the+cat+is+going+to+buy+a+car"] * 6)
    page = opened(visit, f"{server}/experiments?level=intermediate&model=wide-bert&text={text}", "Without encoder L")
    page.get_by_role("button", name="Measure all 144 heads").click()
    expect(page.get_by_test_id("stProgress")).to_contain_text(re.compile(r"Head \d+ of 144"))
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Stopped.")).to_be_visible()
    expect(page.get_by_role("button", name="Run it again")).to_be_visible()
