"""The page: the word of the row that was chosen, its attribution as shades, and all methods beside each other."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from bartviz.analysis import word_colors
from bartviz.analysis.attribution import Attribution, Axis
from bartviz.analysis.attribution_methods import METHODS
from bartviz.analysis.verdicts import ALIKE, BETTER, WORSE
from bartviz.analysis.word_colors import NONE
from bartviz.app.controls import experiment_tasks
from bartviz.drawing.colors import word_places
from bartviz.errors import SettingError, TextError
from bartviz.features.why import numbers, parts, parts_words
from bartviz.features.why import parts_judged as judging
from bartviz.language import percentages
from bartviz.record.record import Record
from tests.support import node, stand_in, visits
from tests.support.pages import App


def answered(record: Record, method: str, step: int) -> Attribution:
    """An attribution in which a word counts by its place in the text."""
    cross = record.cross is not None
    place = numbers.places(record)[step]
    count = len(record.source)
    earlier = np.zeros((1, len(record.attention("decoder").query)), np.float32) if cross else None
    return Attribution(
        record.model.name,
        METHODS[method],
        Axis.apart([place.label]),
        np.array([place.row]),
        np.zeros(1, np.float32),
        Axis.of(record.source),
        np.arange(count, dtype=np.float32)[None],
        Axis.of(record.attention("decoder").query) if cross else None,
        earlier,
    )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Every task answers at once; returns what was asked for, in order."""
    found: list[tuple[str, int]] = []

    def ask(name: str, record: Record, key: dict[str, Any], *_: object, **__: object) -> object:
        method = name.removeprefix("why_")
        if method not in METHODS:
            return None
        found.append((method, key["step"]))
        if method == "integrated gradients":
            return numbers.Refused(SettingError("Not complete."))
        return answered(record, method, key["step"])

    monkeypatch.setattr(experiment_tasks, "ask", ask)
    return found


def sent(page: AppTest) -> dict[str, Any]:
    """What the two lines of words were given."""
    assert not page.exception
    (part,) = [part for part in page.get("bidi_component") if part.proto.component_name == "bartviz.why"]
    return json.loads(part.proto.bytes)  # type: ignore[no-any-return]


def test_the_arithmetic_of_the_browser() -> None:
    node.run_tests(Path(__file__).with_name("words.test.mjs"))


def test_the_methods_that_are_there_at_once_are_computed_first() -> None:
    needs = [METHODS[name].needs for name in parts.in_order()]
    assert sorted(parts.in_order()) == sorted(METHODS)
    assert set(needs) == set(parts.SOONEST)
    assert needs == sorted(needs, key=parts.SOONEST.index)


def test_a_row_of_the_address_is_explained_by_every_method(app: App, asked: list[tuple[str, int]]) -> None:
    page = app("why", row="5")
    data = sent(page)
    assert (data["chosen"], data["output"][5]["text"], data["kind"]) == (5, "kau", "cross")
    assert [word["text"] for word in data["source"]][1:4] == ["I", "want", "to"]
    assert data["source"][-1]["share"] == 1.0
    assert {step for _, step in asked} == {5}
    assert {method for method, _ in asked} == set(METHODS)
    words = visits.words(page)
    assert "“kau” in “kaufen”: leave-one-out points to “.”, “car” and “a”." in words
    assert "Not complete." in words
    assert re.search(
        r"“100% → [\d.]+%” next to a word means: with that word hidden, the probability of “kau” goes from", words
    )
    links = {link.proto.label: link.proto.query_string for link in page.get("page_link")}
    assert links["Reading earlier layers"] == "kind=cross&row=5&around=lens&from=why"
    shares = [0 if word["special"] else word["share"] for word in data["source"]]
    position = shares.index(max(shares))  # each word is one token
    assert (
        links["Which heads carry the change?"] == f"experiment=edit&side=source&position={position}&put=head&from=why"
    )
    assert sent(page.run())["chosen"] == 5  # the runs that follow, as when a method is there


def test_a_beginner_is_asked_nothing_but_to_touch_a_word(app: App, asked: list[tuple[str, int]]) -> None:
    page = app("why", row="4", level="beginner")
    assert sent(page)["chosen"] == 4
    assert asked == [("leave-one-out", 4)]
    assert not {"method", "instead"} & {box.key for box in page.selectbox}
    assert "Among the words of the text, “.”, “car” and “a” matter most for “Auto”" in visits.words(page)


def test_a_method_that_a_link_names_is_shown_to_a_beginner_too(app: App, asked: list[tuple[str, int]]) -> None:
    page = app("why", row="4", level="beginner", method="best head")
    assert asked == [("best head", 4)]
    assert [box.key for box in page.selectbox if box.key in ("method", "instead", "operator")] == ["method"]
    assert "best head points to" in visits.words(page)


@pytest.fixture
def answers_at_once(monkeypatch: pytest.MonkeyPatch) -> dict[str, str | None]:
    """Every record is large work, and only methods without a button answer; returns the button of each task."""
    buttons: dict[str, str | None] = {}

    def ask(name: str, record: Record, key: dict[str, Any], *_: object, button: str | None = None) -> object:
        buttons[name] = button
        method = name.removeprefix("why_")
        return answered(record, method, key["step"]) if method in METHODS and button is None else None

    monkeypatch.setattr(experiment_tasks, "ask", ask)
    monkeypatch.setattr(experiment_tasks, "large", lambda record, runs: runs > 2)
    return buttons


@pytest.mark.parametrize("level", ["beginner", "intermediate"])
def test_large_work_is_asked_for_above_words_that_a_quick_method_shades(
    app: App, answers_at_once: dict[str, str | None], level: str
) -> None:
    page = app("why", row="4", level=level)
    assert max(word["share"] for word in sent(page)["source"]) == 1.0
    assert answers_at_once["why_leave-one-out"] == "Ask leave-one-out"
    said = visits.words(page)
    assert "leave-one-out may take ten seconds, or minutes on a slow machine, so the page asks first." in said
    assert "“Auto”: norms of weighted values points to “.”, “car” and “a”." in said
    if level == "intermediate":  # the others are beside it
        assert answers_at_once["why_gradient x input"] == "Ask gradient x input"


def test_where_two_passes_are_large_work_attention_itself_shades(
    app: App, answers_at_once: dict[str, str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiment_tasks, "large", lambda record, runs: True)
    page = app("why", row="4", method="norms of weighted values")
    assert answers_at_once["why_norms of weighted values"] == "Ask norms of weighted values"
    assert answers_at_once["why_mean attention"] is None
    assert "“Auto”: mean attention points to “.”, “car” and “a”." in visits.words(page)


def test_small_work_does_not_ask(app: App, asked: list[tuple[str, int]]) -> None:
    assert "so the page asks first" not in visits.words(app("why", row="4", level="beginner"))


def test_a_method_that_waits_has_one_button(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit refuses two buttons of one key: all methods are side by side here, and this one waits above them."""

    def ask(name: str, record: Record, key: dict[str, Any], *_: object, button: str | None = None) -> object:
        if button is not None:
            st.button(button, key=f"begin_{name}")
            return None
        method = name.removeprefix("why_")
        return answered(record, method, key["step"]) if method in METHODS else None

    monkeypatch.setattr(experiment_tasks, "ask", ask)
    monkeypatch.setattr(experiment_tasks, "large", lambda record, runs: runs > 2)
    page = app("why", row="4", method="gradient x input")
    assert not page.exception
    asking = [button.label for button in page.button if button.label.startswith("Ask ")]
    assert asking == ["Ask gradient x input", "Ask contrast"]


def test_an_output_without_words_is_drawn_and_why_it_is_not_judged_is_said(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = numbers.Refused(TextError("The model wrote no word here that could be judged: give another text."))

    def ask(name: str, record: Record, key: dict[str, Any], *_: object, **__: object) -> object:
        method = name.removeprefix("why_")
        if method in METHODS:
            return answered(record, method, key["step"])
        return refusal if name == "why_judged" else None

    monkeypatch.setattr(experiment_tasks, "ask", ask)
    page = app("why", record=stand_in.record(output=["<s>", "</s>"]), row="1", level="beginner")
    assert [(word["text"], word["special"]) for word in sent(page)["output"]] == [("<s>", True), ("</s>", True)]
    said = visits.words(page)
    assert "matter most for “&lt;/s&gt;”: without one of them" in said
    assert "The model wrote no word here that could be judged" in said
    assert "found this way" not in said


@pytest.mark.parametrize("kind", ["encoder", "encoder-decoder"])
def test_the_words_of_every_model_are_drawn(app: App, asked: list[tuple[str, int]], kind: Any) -> None:
    record = stand_in.record(kind=kind)
    page = app("why", record=record)
    data = sent(page)
    assert len(data["output"]) == len(numbers.places(record))
    assert ("Touch another word in the bottom row" in visits.words(page)) == (len(data["output"]) > 1)
    assert data["kind"] == ("encoder" if kind == "encoder" else "cross")


def test_another_token_can_be_compared_by_methods_that_can(app: App, asked: list[tuple[str, int]]) -> None:
    page = app("why", row="5")
    assert [box.key for box in page.selectbox if box.key in ("method", "instead")] == ["method", "instead"]
    page = app("why", row="5", method="rollout")
    assert [box.key for box in page.selectbox if box.key in ("method", "instead")] == ["method"]


def test_a_browser_may_name_only_places_that_are_there() -> None:
    assert [parts_words.asked(message, 3) for message in (0, 2, 3, -1, True, "1", None, [0])] == [0, 2, *[None] * 6]


def test_a_gap_shows_what_the_model_puts_into_it() -> None:
    places = (numbers.Place(1, "[MASK]", special=True), numbers.Place(4, "[MASK]", special=True))
    assert [place.label for place in parts_words.filled(places, 1, "small")] == ["[MASK]", "small"]
    assert parts_words.filled(places, 0, "") == places


TAKEN = (
    numbers.Taken((), 0.97, ("kau", 0.97), "Ich möchte ein Auto kaufen."),
    numbers.Taken(("buy", "car"), 0.01, ("<b>", 0.5), "<i>"),
    numbers.Taken(("I", "."), 0.9, ("kau", 0.9), "Ich"),
)


def test_what_becomes_of_a_word_is_said_and_drawn_beside_random_words() -> None:
    said = judging.fallen(TAKEN)
    assert said == "Without “buy” and “car”: 97% → 1.0%. Without “I” and “.”, chosen at random: 97% → 90%."
    drawn = judging.bars(TAKEN, "Ich möchte ein Auto", "Ich")
    assert [f"--share:{share}%" in drawn for share in ("97.00", "1.00", "90.00")] == [True] * 3
    assert "<b>" not in drawn.replace("<b>with", "")
    assert "&lt;i&gt;" in drawn
    assert drawn.count("written anew from what is left:") == 1  # not what is on the page already
    assert drawn.count("written anew from what is left, now without “Ich”:") == 1  # that it is gone is no mistake
    assert drawn.count("likeliest after “Ich möchte ein Auto”, as before: “kau”") == 2
    assert drawn.index("Ich möchte ein Auto kaufen.") < drawn.index("likeliest")  # what the button promises
    assert "likeliest at the beginning: “kau”" in judging.bars(TAKEN, "", "Ich")
    assert "likeliest here: “kau”" in judging.bars(TAKEN, None, "Ich")


@pytest.mark.parametrize(
    ("text", "word", "there"),
    [
        ("Ich sehe meinen Mann.", "ein", False),  # a part of another word
        ("Ich sehe EIN Auto.", "ein", True),
        ("Ich sehe.", ".", True),
        ("나는 차를 산다.", "차를", True),
        ("我想买车", "车", True),  # without spaces
    ],
)
def test_a_new_text_has_a_word_only_as_a_whole(text: str, word: str, there: bool) -> None:
    anew = (*TAKEN[:1], numbers.Taken(("buy",), 0.01, ("kau", 0.5), text), *TAKEN[2:])
    drawn = judging.bars(anew, "", word)
    assert (f"now without “{word}”:</small> <q dir='auto'>{text}" not in drawn) == there


def test_the_sentence_warns_where_a_method_is_no_better_than_chance() -> None:
    said = "“a”: b."
    costs = "But over all that was written, removing words found this way costs {} than random ones."
    assert judging.with_verdict(said, ALIKE) == f"{said} {costs.format('no more')}"
    assert judging.with_verdict(said, WORSE) == f"{said} {costs.format('less')}"
    assert judging.with_verdict(said, BETTER) == said


@pytest.mark.slow
def test_a_translation_falls_further_without_the_strongest_words_and_every_method_is_judged() -> None:
    """The whole way with the model that ships, on the sentence of the start page."""
    bartviz = pytest.importorskip("bartviz")
    from bartviz.features.why import run_attributions as run

    model = bartviz.load("bart-tiny-en-de")
    record = bartviz.capture(model, "I want to buy a car.")
    places = numbers.places(record)
    at = next(i for i, place in enumerate(places) if place.label == "kaufen")
    found = run.explained(model, record, "leave-one-out", at, None, bool)
    assert isinstance(found, Attribution)
    assert found.rows.tolist() == [places[at].row]
    strong, others = numbers.to_remove(record, places[at], numbers.shown(record, found))
    read = numbers.source_words(record)
    assert read[strong[0]].text == "buy"
    assert len(strong) == len(others) == 1  # what the sentence names
    assert read[others[0]].text != "."
    assert not set(strong) & set(others)
    names = [[read[i].text for i in words] for words in (strong, others)]
    taken = run.removed(model, record, at, (strong, others), names, "mask", bool)
    assert not isinstance(taken, numbers.Refused)
    whole, without, random = taken
    assert without.share < random.share < whole.share
    assert whole.output == "Ich möchte ein Auto kaufen."
    assert whole.likeliest[0] == "kaufen"
    judged = run.judged(model, record, ["leave-one-out", "best head"], "mask", bool, lambda done, total: None)
    assert not isinstance(judged, numbers.Refused)
    assert judged["leave-one-out"].verdict == BETTER
    short = bartviz.capture(model, "Yes.")
    assert isinstance(run.judged(model, short, ["rollout"], "mask", bool, lambda done, total: None), numbers.Refused)


def test_words_have_the_colours_of_the_other_pages(record: Record) -> None:
    found = numbers.places(record)
    sent = parts_words.payload(record, found, 0, None, "")
    colors = word_colors.of(record)
    assert [chip["color"] for chip in sent["source"]] == word_places(
        colors.source[word.start] for word in numbers.source_words(record)
    )
    assert [chip["color"] for chip in sent["output"]] == word_places(colors.predicts[place.row] for place in found)
    assert {chip["color"] for chip in sent["source"]} > {NONE}


def test_every_bar_has_the_number_of_what_is_left(record: Record) -> None:
    found = numbers.places(record)
    attribution = answered(record, "leave-one-out", 4)
    shown, left = numbers.shown(record, attribution), numbers.left(record, attribution)
    sent = parts_words.payload(record, found, 4, shown, "", left)
    for chip, value, without in zip(sent["source"], attribution.values[0], left[0], strict=True):
        assert without is not None  # each word is one token
        assert without == pytest.approx(np.exp(min(attribution.explained[0] - value, 0.0)))
        barred = chip["share"] >= numbers.SEEN
        assert chip["number"].rpartition("→ ")[2] == (percentages.fine(without) if barred else "")
    assert {bool(chip["number"]) for chip in sent["source"]} == {True, False}
    assert sent["output"][4]["number"] == percentages.fine(float(np.exp(attribution.explained[0])))
    assert parts_words.changes(["", "6%", "", "50%", "70%"], 0.97) == ["", "97% → 6%", "", "→ 50%", "→ 70%"]
    assert parts_words.changes([], None) == []
    assert not any(chip["number"] for chip in parts_words.payload(record, found, 4, shown, "")["source"])


def test_the_key_names_the_colours_and_signs_that_are_drawn() -> None:
    def keyed(values: list[float], written: tuple[float, ...]) -> list[str]:
        words = numbers.source_words(stand_in.record())
        chips = tuple(numbers.Chip(word, value, value) for word, value in zip(words, values, strict=False))
        return list(parts_words.meanings("cross", numbers.Shown(chips, written)))

    assert keyed([-0.04, 1.0], (0.0, 0.01)) == []  # bars of one colour
    assert keyed([0.2, -1.0], (0.0,)) == ["speaks against it"]
    both = ["words of the text", "words written earlier"]
    assert keyed([0.2, 0.5], (1.0, 0.0)) == both
    assert keyed([0.2, 0.5], (1.0, -0.1)) == [*both, "speaks against it"]


def test_the_bars_of_a_method_that_reads_weights_say_where_the_model_looked() -> None:
    assert parts_words.bars(METHODS["best head"], "“a”").startswith(
        "The taller a word's bar, the more the model looked"
    )
    assert parts_words.bars(METHODS["rollout"], "“a”").startswith(
        "The taller a word's bar, the more the model looked"
    ) == (METHODS["rollout"].needs == "weights")
    hidden = parts_words.bars(METHODS["leave-one-out"], "“a”")
    assert hidden == (
        "The taller a bar, the less likely “a” becomes when that word is hidden. A word without a bar matters far less."
    )
    assert parts_words.bars(METHODS["leave-one-out"], "“a”", ("90%", "6.0%")) == (
        "“90% → 6.0%” next to a word means: with that word hidden, the probability of “a” goes from 90% to 6.0%. The "
        "taller the bar, the greater the drop (on a logarithmic scale). A word without a bar matters far less."
    )
    assert (
        parts_words.bars(METHODS["gradient x input"], "“a”") == "The taller a word's bar, the more it speaks for “a”."
    )


def test_the_page_and_its_script_draw_the_same_bars() -> None:
    script, style = (
        Path(parts_words.__file__).with_name(f"words.{ending}").read_text("utf-8") for ending in ("js", "css")
    )
    assert f"const SEEN = {numbers.SEEN};" in script
    assert f"share < {numbers.HATCHED})" in script
    assert parts_words.AGAINST in style


@pytest.mark.parametrize("method", list(METHODS))
def test_it_explains_how_the_method_that_is_shown_finds_its_numbers(
    app: App, asked: list[tuple[str, int]], method: str
) -> None:
    page = app("why", level="beginner", method=method)
    (explained,) = [part.value for part in page.markdown if part.value.startswith("**Which words made the model")]
    hides = method == "leave-one-out"
    assert ("are hidden from it one at a time" in explained) == hides
    assert ("weights of attention" in explained) == (METHODS[method].needs == "weights")


@pytest.mark.parametrize(("kind", "does"), [("encoder-decoder", "writes"), ("encoder", "guesses")])
def test_the_button_names_the_words_that_it_removes(app: App, kind: Any, does: str) -> None:
    record = stand_in.record(kind=kind)
    found: list[str] = []

    def ask(name: str, record: Record, key: dict[str, Any], *_: object, button: str | None = None) -> object:
        if name == "why_remove" and button:
            found.append(button)
        return answered(record, name.removeprefix("why_"), key["step"]) if "step" in key and "sets" not in key else None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiment_tasks, "ask", ask)
        app("why", record=record, method="leave-one-out")
    places = numbers.places(record)
    at = numbers.chosen(record, places, None)
    shown = numbers.shown(record, answered(record, "leave-one-out", at))
    strong, _others = numbers.to_remove(record, places[at], shown)
    assert strong
    words = parts.listed([f"“{shown.source[i].word.text}”" for i in strong])
    assert found == [f"See what the model {does} without {words}"]
