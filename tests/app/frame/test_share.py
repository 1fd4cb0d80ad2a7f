"""The link that Share gives: it shows the same page, with the text or without it, and says which."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from bartviz.app.frame import share
from bartviz.record.record import Record, open_record
from bartviz.serving import first_record
from tests.support.pages import App
from tests.support.visits import words

TEXT = "The cat & the dog, 100 %."


def opened(page: AppTest) -> AppTest:
    page.session_state[share.KEY] = True
    return page.run()


def query(page: AppTest) -> dict[str, list[str]]:
    """The words of the link that is shown."""
    (link,) = links(page)
    return parse_qs(urlsplit(link).query)


def links(page: AppTest) -> list[str]:
    """The links that are shown."""
    shown = [part.proto for part in page.get("bidi_component") if part.proto.component_name == "bartviz.link_field"]
    return [json.loads(one.json)["link"] for one in shown]


def test_a_closed_button_makes_nothing(app: App) -> None:
    assert not links(app("heads"))


def test_the_link_has_the_choices_of_the_page_and_the_text(app: App) -> None:
    page = app("heads", layer="2", head="3", kind="encoder")
    page.session_state["text"] = TEXT
    page.session_state[share.WITH_TEXT] = True
    page = opened(page)
    found = query(page)
    assert (found["text"], found["model"]) == ([TEXT], ["bart-tiny-en-de"])
    assert (found["layer"], found["head"], found["kind"]) == (["2"], ["3"], ["encoder"])
    assert "contains your text" in words(page)


def test_the_page_is_also_shared_as_a_file_that_opens_again(app: App) -> None:
    page = app("heads")
    below = {button.proto.label: button for button in page.get("download_button")}
    page = opened(page)
    (again,) = [one for one in page.get("download_button") if f"{share.KEY}_file" in one.proto.id]
    assert again.proto.label == "Save to open again"
    assert again.proto.label in below  # the page offers the same below
    assert "From a file" in words(page)


def test_a_page_without_a_run_has_no_file_to_share(app: App) -> None:
    page = opened(app("models"))
    assert not [one for one in page.get("download_button") if f"{share.KEY}_file" in one.proto.id]
    assert "Or as a file" not in words(page)


def test_without_the_text_it_says_so(app: App) -> None:
    page = app("heads", layer="2")
    page.text_area(key="text").input("A secret.")
    page = opened(page)  # opened by no click: the text is left out until asked for
    assert "text" not in query(page)
    assert "without your text" in words(page)
    page.toggle(key=share.WITH_TEXT).set_value(True).run()
    assert "without your text" not in words(page)


@pytest.mark.parametrize(("host", "for_a_room"), [("127.0.0.1", False), ("192.168.1.5", True)])
def test_only_a_link_that_others_can_open_has_a_code(
    app: App, monkeypatch: pytest.MonkeyPatch, host: str, for_a_room: bool
) -> None:
    monkeypatch.setattr(share, "link", lambda *, with_text: f"http://{host}:8501/heads")
    monkeypatch.setattr("bartviz.app.frame.share.st.image", lambda drawn, width: None)  # it needs a server
    page = opened(app("heads"))
    assert not page.exception
    assert ("with a phone" in words(page)) == for_a_room
    assert ("Only this computer can open this address" in words(page)) != for_a_room


def test_the_text_that_every_visit_begins_with_makes_no_link_longer(app: App) -> None:
    page = app("heads", layer="2", record=open_record(first_record.FILE))
    page.session_state[share.WITH_TEXT] = True
    page = opened(page)
    assert "contains your text" not in words(page)
    assert "Every visit begins with this text" in words(page)
    assert not {"model", "text"} & set(query(page))


def test_an_address_is_short_and_means_the_same() -> None:
    said = {"text": "Yes (no): 1/2, a+b & c=d? #5 100% 안녕", "layer": ["1", "2"]}
    address = share.addressed("http://here/heads", said)
    assert parse_qs(urlsplit(address).query) == {"text": [said["text"]], "layer": ["1", "2"]}
    assert "Yes+(no):+1/2,+a%2Bb" in address


def test_the_button_fills_the_screen_once_and_closes_what_is_in_front(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(share, "link", lambda *, with_text: "http://room.test:8501/heads")
    monkeypatch.setattr("bartviz.app.frame.share.st.image", lambda drawn, width: None)  # it needs a server
    page = opened(app("heads"))
    assert "bv-code" not in words(page)
    page.button(key="share_large").click().run()
    assert not page.session_state[share.KEY]
    shown = words(page)
    assert "A code for cameras: http://room.test:8501/heads" in shown
    assert "<p class='bv-address'>http://room.test:8501/heads</p>" in shown
    assert "bv-code" not in words(page.run())


@pytest.mark.parametrize("length", [share.LONGEST_CODE, 200])
def test_the_longest_link_still_has_a_code(length: int) -> None:
    assert "<path" in share.code("h" * length)


@pytest.mark.parametrize(
    ("word", "query", "said"),
    [
        ("inside", {"layer": "99"}, "“layer=99”, which is not available: “"),
        ("inside", {"kind": "sideways"}, "“kind=sideways”, which is not available: “cross”"),
        ("heads", {"kind": "<b>"}, "“kind=&lt;b&gt;”"),
    ],
)
def test_a_link_says_what_it_lacks_until_another_is_chosen(
    app: App, word: str, query: dict[str, str], said: str
) -> None:
    page = app(word, **query)
    assert said in words(page)
    (key,) = query
    if key == "layer":
        page.slider(key=key).set_value(2).run()
    else:
        page.segmented_control(key=key).set_value("encoder").run()
    assert "which is not available" not in words(page)


def test_a_link_to_a_step_of_a_longer_text_says_so_until_another_is_chosen(app: App, record: Record) -> None:
    page, last = app("decoding", step="99"), len(record.steps)
    assert f"“step=99”, which is not available: “{last}”" in words(page)
    page.query_params["step"] = str(last)  # as the player writes where it stands
    assert f"“step=99”, which is not available: “{last}”" in words(page.run())
    page.query_params["step"] = "2"
    assert "which is not available" not in words(page.run())


@pytest.mark.parametrize(
    ("word", "query", "said"),
    [
        ("quiz", {"quiz_seed": "abc"}, "“quiz_seed=abc”, which is not available: “7”"),
        ("quiz", {"quiz_seed": "-3"}, "“quiz_seed=-3”, which is not available: “7”"),
        ("quiz", {"quiz_count": "999"}, "“quiz_count=999”, which is not available: “10”"),
        ("quiz", {"quiz_question": "6", "quiz_count": "3"}, "“quiz_question=6”, which is not available: “3”"),
        ("heads", {"row": "999"}, "“row=999”, which is not available"),
        ("heads", {"head": "first"}, "“head=first”, which is not available"),
        ("heads", {"layer": "-1"}, "“layer=-1”, which is not available"),
        ("inside", {"row": "2.5"}, "“row=2.5”, which is not available"),
        ("masks", {"row": "999"}, "“row=999”, which is not available"),
        ("masks", {"row_encoder": "999"}, "“row=999”, which is not available"),
        ("alignment", {"links": "threshold", "link_weight": "7"}, "“link_weight=7”, which is not available"),
        ("compare", {"threshold": "many"}, "“threshold=many”, which is not available: “0.5”"),
        ("denoising", {"noise_seed": "-1"}, "“noise_seed=-1”, which is not available: “2”"),
        ("parameters", {"n": "513"}, "“n=513”, which is not available: “"),
        ("start", {"top_k": "0"}, "“top_k=0”, which is not available: “10”"),
        ("start", {"search": "sampling", "temperature": "hot"}, "“temperature=hot”, which is not available: “1”"),
        ("start", {"search": "beams", "length_penalty": "x"}, "“length_penalty=x”, which is not available"),
        ("start", {"ngrams": "-4"}, "“ngrams=-4”, which is not available"),
        ("start", {"level": "genius"}, "“level=genius”, which is not available"),
        ("alignment", {"align": "set", "set": ["L1H0", "L9H9"]}, "“set=L9H9”, which is not available: “L1H0”"),
        ("textbook", {"line": "no-such-line"}, "“line=no-such-line”, which is not available"),
    ],
)
def test_what_is_not_there_is_said(app: App, word: str, query: dict[str, Any], said: str) -> None:
    page = app(word, **query)
    assert not page.exception
    assert said in words(page)
    assert said in words(page.run())  # until the visitor chooses another


def test_a_number_that_the_page_has_is_not_said(app: App) -> None:
    for word, query in (
        ("quiz", {"quiz_seed": "12", "quiz_question": "2"}),
        ("compare", {"threshold": "0.35"}),
        ("start", {"search": "sampling", "temperature": "0.55", "max_new_tokens": "3"}),
    ):
        page = app(word, **query)
        assert "which is not available" not in words(page.run())


def test_a_whole_link_lacks_nothing(app: App) -> None:
    assert "which is not available" not in words(app("inside", layer="1", head="2", kind="encoder"))
