"""Cached values: equal to new ones for every record, language, theme and level, and computed only once."""

from __future__ import annotations

import itertools
import json
from functools import partial
from typing import Any

import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from bartviz.analysis.measures import of_record
from bartviz.app.controls.large_type import FACTOR
from bartviz.app.frame import theme
from bartviz.app.frame.page_list import PAGES
from bartviz.app.state import result_cache
from bartviz.drawing import theme as colors
from bartviz.drawing.heads import heads
from bartviz.language import speaking
from bartviz.serving.cache import ByteCache
from tests.support import stand_in
from tests.support.pages import App

RECORDS = (stand_in.record(), stand_in.record(source=("<s>", "One", " more", " text", "</s>"), output=("Ja", "</s>")))
ASKED = st.tuples(
    st.integers(0, 1),
    st.sampled_from(["en", "ko"]),
    st.booleans(),
    st.sampled_from([1.0, FACTOR]),
    st.sampled_from([None, 0, 1]),
    st.booleans(),
)


def plain(figure: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(figure.to_dict(), default=str))
    for trace in found["data"]:
        trace.pop("uid", None)
    return found


@pytest.mark.slow
@settings(max_examples=20)
@given(st.lists(ASKED, min_size=2, max_size=8))
def test_a_cached_figure_equals_a_new_one(asked: list[tuple[int, str, bool, float, int | None, bool]]) -> None:
    for number, language, dark, factor, layer, mean in asked:
        call = partial(heads, RECORDS[number].attention("cross"), layer=layer, mean=mean, dark=dark)
        with speaking(language):
            anew = call()
            wanted = anew if factor == 1 else colors.enlarged(anew, factor)
            assert plain(result_cache.figure(call, factor)) == plain(wanted)


def specs(page: AppTest) -> list[str]:
    assert not page.exception
    return [part.proto.spec for part in page.get("plotly_chart")]


@pytest.mark.slow
def test_visitors_see_figures_in_their_own_language_and_theme(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Visitors one after the other, then each alone on a server that has kept nothing.

    Half of all visitors that there may be: any two of their settings come in all four ways.
    """
    visitors = [visitor for visitor in itertools.product((0, 1), repeat=4) if sum(visitor) % 2 == 0]

    def seen(of: int, language: int, level: int, dark: int) -> list[str]:
        monkeypatch.setattr(theme, "dark", lambda: bool(dark))
        words = {"lang": ("en", "ko")[language], "level": ("beginner", "expert")[level]}
        return specs(app("alignment", record=RECORDS[of], **words))

    together = [seen(*visitor) for visitor in visitors]
    for visitor, found in zip(visitors, together, strict=True):
        monkeypatch.setattr(result_cache, "_STORE", ByteCache(result_cache.LIMIT))
        assert seen(*visitor) == found
    assert len({found[0] for found in together}) == 8  # two records, two languages, two themes


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the figures that plotly makes."""
    count = [0]
    begin = go.Figure.__init__

    def counted(figure: go.Figure, *given: Any, **named: Any) -> None:
        count[0] += 1
        begin(figure, *given, **named)

    monkeypatch.setattr(go.Figure, "__init__", counted)
    return count


@pytest.mark.some("start", "alignment", "compare", "inside", "masks", "parameters")
@pytest.mark.slow
@pytest.mark.parametrize("word", [page.word for page in PAGES])
def test_no_figure_is_built_for_a_second_run_or_a_second_visitor(app: App, made: list[int], word: str) -> None:
    page = app(word)
    drawn, first = made[0], specs(page)
    assert bool(drawn) == bool(first)
    assert specs(page.run()) == first
    assert specs(app(word)) == first
    assert made[0] == drawn


@pytest.mark.slow
def test_large_type_and_the_dark_theme_are_other_figures(app: App, made: list[int]) -> None:
    page = app("alignment")
    small, drawn = specs(page), made[0]
    page.toggle(key="large").set_value(True).run()
    large = specs(page)
    assert large != small
    assert made[0] > drawn
    page.toggle(key="large").set_value(False).run()
    assert specs(page) == small


def test_none_is_cached_and_failures_are_not() -> None:
    calls.clear()
    assert result_cache.cached(partial(nothing, 1)) is None
    assert result_cache.cached(partial(nothing, 1)) is None
    assert calls == [1]
    for _ in range(2):
        with pytest.raises(ValueError, match="2"):
            result_cache.cached(partial(failing, 2))
    assert calls == [1, 2, 2]


calls: list[int] = []


def nothing(number: int) -> None:
    calls.append(number)


def failing(number: int) -> None:
    calls.append(number)
    raise ValueError(number)


def test_the_cache_stays_within_its_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_cache, "_STORE", ByteCache(40_000))
    for head, dark in itertools.product(range(4), [False, True]):
        result_cache.figure(partial(heads, RECORDS[0].attention("cross"), layer=1, head=head, dark=dark))
    assert 0 < result_cache._STORE.bytes <= 40_000
    assert len(result_cache._STORE) < 8


def test_visitors_of_one_text_share_its_measures() -> None:
    one = result_cache.cached(partial(of_record, stand_in.record(), "cross"))
    assert result_cache.cached(partial(of_record, stand_in.record(), "cross")) is one
    with speaking("ko"):
        assert result_cache.cached(partial(of_record, stand_in.record(), "cross")) is not one
