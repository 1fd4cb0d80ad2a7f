"""Large type on a projector: its menu lies over the page until one is chosen or a text is run, and the type stays."""

from __future__ import annotations

from bartviz.app.controls import large_type
from bartviz.app.state import session
from bartviz.serving.request import Request
from tests.support.pages import App
from tests.support.visits import words


def test_the_menu_closes_when_a_page_is_chosen_and_the_type_stays_large(app: App) -> None:
    test = app("masks", large="true")
    assert large_type.MENU not in words(test)
    test.button(key="large_menu").click().run()
    assert large_type.MENU in words(test)
    test.switch_page("pages/heads.py").run()
    assert large_type.MENU not in words(test)
    assert test.toggle(key="large").value
    assert test.query_params["large"] in ("true", ["true"])


def test_the_menu_closes_when_a_text_was_run_and_by_its_own_button(app: App) -> None:
    test = app("masks", large="true")
    for _time in range(2):
        test.button(key="large_menu").click().run()
    assert large_type.MENU not in words(test)
    test.button(key="large_menu").click().run()
    test.session_state[session.ASKED] = Request("bart-tiny-en-de", "The cat is sleeping.")
    test.run()
    assert large_type.MENU not in words(test)


def test_usual_type_has_no_such_button(app: App) -> None:
    test = app("masks", large="true")
    test.button(key="large_switch").click().run()
    assert all(button.key != "large_menu" for button in test.button)
    assert not test.toggle(key="large").value


def test_a_lesson_that_shows_the_menu_shows_it_in_large_type(app: App) -> None:
    test = app("start", lesson="attention", at="1", large="true")
    assert large_type.MENU not in words(test)
    test.button(key="lesson_frame").click().run()
    assert large_type.MENU in words(test)
