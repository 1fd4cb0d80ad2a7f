"""Choices as words of the address: which one applies when a link, a click, another page and a slow browser disagree."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bartviz import language
from bartviz.app.frame import languages
from bartviz.app.state import url_state
from tests.support.pages import App

assert languages.KEY == "lang"  # imported: it says whom to follow, before a test says it


def script() -> None:
    import streamlit as st

    from bartviz.app.controls import pick

    names = st.session_state.get("names", {"red": "Red", "green": "Grass green", "blue": "Blue"})
    default = st.session_state.get("default")

    def paint(word: str) -> None:
        st.session_state["colour"] = word

    st.button("Paint it blue", on_click=paint, args=("blue",))
    word = pick.one_of("Colour", names, key="colour", default=default)
    size = pick.select("Size", {"s": "Small", "m": "Middle", "l": "Large"}, key="size", default="m")
    ripe = st.session_state.get("fruits", ("fig",))
    some = pick.several("Fruits", {"fig": "Fig", "pear": "Pear", "plum": "Plum"}, key="fruit", default=ripe)
    tab, place = pick.tabs({"one": "First", "two": "Second"}, key="tab")
    place.text(f"{word} {size} {'+'.join(some)} {tab}")


def opened(**query: str | list[str]) -> AppTest:
    page = AppTest.from_function(script, default_timeout=120)
    for name, value in query.items():
        page.query_params[name] = value
    return page.run()


def drawn(page: AppTest) -> str:
    assert not page.exception
    return str(page.text[0].value)


def said(page: AppTest) -> dict[str, Any]:
    found: dict[str, Sequence[str]] = dict(page.query_params)
    return {key: value[0] if isinstance(value, list) and len(value) == 1 else value for key, value in found.items()}


def test_defaults_are_not_in_the_address() -> None:
    page = opened()
    assert drawn(page) == "red m fig one"
    assert said(page) == {}


def test_a_link_is_read_by_word_and_an_older_one_by_label() -> None:
    page = opened(colour="green", size="l", fruit=["pear", "plum"], tab="two")
    assert drawn(page) == "green l pear+plum two"
    assert drawn(page.run()) == "green l pear+plum two"
    older = opened(colour="grass GREEN", size="Large", fruit=["Pear"], tab="Second")
    assert drawn(older) == "green l pear two"
    assert said(older) == {"colour": "green", "size": "l", "fruit": "pear", "tab": "two"}


def test_an_english_label_is_understood_in_another_language(monkeypatch: pytest.MonkeyPatch) -> None:
    def korean() -> None:
        import streamlit as st

        from bartviz.app.controls import pick

        st.text(pick.reading())

    monkeypatch.setattr(language, "_followed", [lambda: "ko"])
    page = AppTest.from_function(korean, default_timeout=120)
    page.query_params["reading"] = "token it reads"
    assert page.run().text[0].value == "reads"
    assert page.segmented_control(key="reading").options != ["token it predicts", "token it reads"]


@pytest.mark.parametrize("value", ["", "mauve", "RED ", "x" * 5000, "0", "⟦"])
def test_a_word_that_is_not_there_is_the_default_and_leaves_the_address(value: str) -> None:
    page = opened(colour=value, size=value, fruit=[value], tab=value)
    assert drawn(page) == f"red m {'' if not value else 'fig'} one"
    assert said(page) == ({"fruit": ""} if not value else {})


def test_nothing_may_be_chosen_of_several() -> None:
    page = opened()
    page.multiselect(key="fruit").set_value([]).run()
    assert drawn(page) == "red m  one"
    assert said(page) == {"fruit": ""}
    assert drawn(opened(fruit="")) == "red m  one"


def test_a_click_is_in_the_address_and_the_default_is_not() -> None:
    page = opened()
    page.segmented_control(key="colour").set_value("green").run()
    assert (drawn(page), said(page)) == ("green m fig one", {"colour": "green"})
    page.segmented_control(key="colour").set_value("red").run()
    assert (drawn(page), said(page)) == ("red m fig one", {})


def test_what_a_callback_sets_counts() -> None:
    page = opened(colour="green")
    page.button[0].click().run()
    assert (drawn(page), said(page)) == ("blue m fig one", {"colour": "blue"})


def test_a_link_to_the_page_itself_counts_and_stays() -> None:
    page = opened(colour="green")
    page.query_params["colour"] = "blue"
    assert drawn(page.run()) == "blue m fig one"
    page.selectbox(key="size").set_value("s").run()
    assert (drawn(page), said(page)) == ("blue s fig one", {"colour": "blue", "size": "s"})


def test_an_old_address_from_a_slow_browser_reverts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened(colour="green")
    page.segmented_control(key="colour").set_value("blue").run()
    late = time.monotonic() + 30  # the server had other things to do
    monkeypatch.setattr(url_state, "time", SimpleNamespace(monotonic=lambda: late))
    page.query_params["colour"] = "green"  # it has not heard of blue yet
    page.selectbox(key="size").set_value("s").run()
    assert (drawn(page), said(page)) == ("blue s fig one", {"colour": "blue", "size": "s"})
    monkeypatch.setattr(url_state, "LAG", 0.0)  # later the same address can only be a link
    page.segmented_control(key="colour").set_value("red").run()
    page.query_params["colour"] = "green"
    assert drawn(page.run()) == "green s fig one"


def test_a_word_counts_again_where_it_is_one_of_the_options() -> None:
    page = opened(colour="blue")
    page.session_state["names"] = {"red": "Red", "white": "White"}
    assert drawn(page.run()) == "red m fig one"
    assert drawn(page.run()) == "red m fig one"
    page.session_state["names"] = {"white": "White", "blue": "Blue"}
    assert drawn(page.run()) == "blue m fig one"
    page.segmented_control(key="colour").set_value("white").run()
    page.session_state["names"] = {"red": "Red", "blue": "Blue", "white": "White"}
    assert drawn(page.run()) == "white m fig one"


def test_without_a_choice_the_default_applies() -> None:
    page = opened()
    page.session_state["default"] = "blue"
    assert (drawn(page.run()), said(page)) == ("blue m fig one", {})


def test_what_a_slow_browser_still_sends_is_no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened()
    page.session_state["default"], page.session_state["fruits"] = "blue", ()
    assert drawn(page.run()) == "blue m  one"
    page.segmented_control(key="colour").set_value("red")  # as both were when it asked for something else
    page.multiselect(key="fruit").set_value(["fig"])
    page.selectbox(key="size").set_value("s").run()
    assert (drawn(page), said(page)) == ("blue s  one", {"size": "s"})
    late = time.monotonic() + 2 * url_state.BEHIND
    monkeypatch.setattr(url_state, "time", SimpleNamespace(monotonic=lambda: late))
    page.segmented_control(key="colour").set_value("red")  # later the same value can only be a click
    page.multiselect(key="fruit").set_value(["fig"]).run()
    assert (drawn(page), said(page)) == ("red s fig one", {"size": "s", "colour": "red", "fruit": "fig"})


def slow() -> None:
    import streamlit as st

    from bartviz.app.controls import pick
    from bartviz.app.state import url_state

    url_state.begin()
    some = pick.several("Fruits", {"fig": "Fig", "pear": "Pear"}, key="fruit", default=st.session_state["fruits"])
    st.session_state["clock"].now += st.session_state["takes"]  # what is drawn after it
    st.text("+".join(some))
    url_state.write()


@pytest.mark.parametrize(("takes", "after", "counts"), [(5.0, 8.0, False), (5.0, 12.0, True), (0.1, 3.0, True)])
def test_a_browser_that_draws_slowly_is_waited_for_longer(
    monkeypatch: pytest.MonkeyPatch, takes: float, after: float, counts: bool
) -> None:
    """Only from the end of the script run, which it may not have shown before."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(url_state, "time", SimpleNamespace(monotonic=lambda: clock.now))
    page = AppTest.from_function(slow, default_timeout=120)
    page.session_state["clock"], page.session_state["takes"], page.session_state["fruits"] = clock, takes, ()
    assert drawn(page.run()) == ""
    page.session_state["fruits"] = ("fig",)  # a result has come
    assert drawn(page.run()) == "fig"
    clock.now += after
    page.multiselect(key="fruit").set_value([]).run()
    assert drawn(page) == ("" if counts else "fig")


def timed() -> None:
    import streamlit as st

    from bartviz.app.controls import pick
    from bartviz.app.state import url_state

    if st.session_state.get("timer"):
        url_state.polled()
    if clicked := st.session_state.get("clicked"):  # a click's own request, right after
        st.session_state["fruit"] = clicked
    url_state.begin()
    some = pick.several("Fruits", {"fig": "Fig", "pear": "Pear"}, key="fruit")
    layer = pick.index("Layer", 6, key="layer", default=1)
    st.text(f"{'+'.join(some)} {layer}")
    url_state.write()


def test_what_a_timer_of_the_browser_sends_is_no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """However late: the browser may draw a progress line, and its timer may ask, long before it draws the rest."""
    page = AppTest.from_function(timed, default_timeout=120).run()
    page.multiselect(key="fruit").set_value(["fig"])
    page.slider(key="layer").set_value(3).run()
    assert drawn(page) == "fig 3"
    late = time.monotonic() + 1000
    monkeypatch.setattr(url_state, "time", SimpleNamespace(monotonic=lambda: late))
    page.session_state["timer"] = True
    page.multiselect(key="fruit").set_value([])
    page.slider(key="layer").set_value(1).run()
    assert (drawn(page), page.slider(key="layer").value) == ("fig 3", 3)
    page.session_state["clicked"] = ["pear"]
    page.multiselect(key="fruit").set_value([])
    page.slider(key="layer").set_value(1).run()
    assert drawn(page) == "pear 3"
    del page.session_state["timer"], page.session_state["clicked"]
    page.multiselect(key="fruit").set_value([])
    page.slider(key="layer").set_value(1).run()
    assert drawn(page) == "1"


def test_a_click_back_is_a_click_however_soon() -> None:
    page = opened()
    page.session_state["default"] = "blue"
    page.run()
    for word in ("green", "red", "green", "red"):
        page.segmented_control(key="colour").set_value(word).run()
        assert (drawn(page), said(page)) == (f"{word} m fig one", {"colour": word})


def numbered() -> None:
    import streamlit as st

    from bartviz.app.controls import pick
    from bartviz.app.state import url_state

    url_state.begin()
    layer = pick.index("Layer", 6, key="layer", default=st.session_state.get("first", 1))
    words = pick.switch("Words", key="words", default=st.session_state.get("whole", False))
    st.text(f"{layer} {words}")
    url_state.write()


def test_a_number_that_a_slow_browser_still_sends_is_no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    page = AppTest.from_function(numbered, default_timeout=120).run()
    assert drawn(page) == "1 False"
    page.session_state["first"], page.session_state["whole"] = 4, True
    assert drawn(page.run()) == "4 True"
    page.slider(key="layer").set_value(1)
    page.toggle(key="words").set_value(False).run()
    assert drawn(page) == "4 True"
    late = time.monotonic() + 2 * url_state.BEHIND
    monkeypatch.setattr(url_state, "time", SimpleNamespace(monotonic=lambda: late))
    page.slider(key="layer").set_value(1)
    page.toggle(key="words").set_value(False).run()
    assert drawn(page) == "1 False"


@pytest.mark.slow
def test_what_was_linked_or_chosen_goes_along_to_another_page(app: App) -> None:
    page = app("heads", kind="encoder", layer="2", head="1", words="true")
    page = page.switch_page("pages/inside.py").run()
    assert not page.exception
    assert page.segmented_control(key="kind").value == "encoder"
    assert (page.slider(key="layer").value, page.slider(key="head").value) == (2, 1)
    page.segmented_control(key="kind").set_value("decoder").run()
    page.slider(key="layer").set_value(1).run()
    page = page.switch_page("pages/heads.py").run()
    assert page.segmented_control(key="kind").value == "decoder"
    assert page.slider(key="layer").value == 1
    assert page.toggle(key="words").value is True


def test_one_key_may_hold_one_word_on_a_page_and_several_on_another() -> None:
    def two_pages() -> None:
        import streamlit as st

        from bartviz.app.controls import pick

        if st.session_state.get("second"):
            st.text("+".join(pick.several("Some", {"a": "A", "b": "B"}, key="which", default=("a",))))
        else:
            st.text(pick.one_of("One", {"a": "A", "b": "B"}, key="which"))

    page = AppTest.from_function(two_pages, default_timeout=120)
    page.session_state["which"] = ["b", "a"]
    assert page.run().text[0].value == "a"
    other = AppTest.from_function(two_pages, default_timeout=120)
    other.session_state["which"] = "b"
    other.session_state["second"] = True
    assert other.run().text[0].value == "a"
