"""The textbook page as a script: tally, filters, lines and links."""

from __future__ import annotations

import html
import re

import pytest
from streamlit.testing.v1 import AppTest

from bartviz.analysis import start
from bartviz.app.frame import app_folder, page_list
from bartviz.features import textbook
from bartviz.features.textbook import CLAIMS, measured, tally
from bartviz.features.textbook.judging import BELIEVED, NAMES, Claim, Word
from bartviz.features.textbook.parts import ABOUT_WEIGHTS
from bartviz.features.textbook.parts_guess import ANSWERS, Mark, judge
from bartviz.record.record import Record
from bartviz.serving import saved_records
from tests.support.pages import App
from tests.support.visits import words


def cards(page: AppTest) -> list[str]:
    return [part.proto.body for part in page.get("html") if "bv-claim" in part.proto.body and "<h4>" in part.proto.body]


@pytest.mark.slow
def test_every_line_has_a_card_and_a_link(app: App) -> None:
    page = app("textbook", record=None, chapter="all")
    assert not page.exception
    assert len(cards(page)) == len(CLAIMS)
    assert all("bv-verdict" in card for card in cards(page))  # none is still to come
    links = [link.proto for kind in ("page_link", "link_button") for link in page.get(kind)]
    assert sum(link.label.startswith("See it: ") for link in links) == len(CLAIMS)


@pytest.mark.slow
def test_a_line_judged_by_another_model_opens_a_visit_of_its_own(app: App) -> None:
    page = app("textbook", record=None, chapter="heads")
    first = page.get("link_button")[0].proto
    assert first.url.startswith("compare?kind=encoder&model=bert-tiny-en&text=The+cat+did+not+cross")
    assert "&lang=en&level=" in first.url


@pytest.mark.slow
def test_what_was_measured_is_counted(app: App) -> None:
    page = app("textbook", record=None, chapter="all")
    counts = tally({**textbook.verdicts(), **measured.verdicts()})
    told = next(part.proto.body for part in page.get("html") if "bv-tallied" in part.proto.body)
    assert sum(counts.values()) == len(CLAIMS)
    judged = sum(count for word, count in counts.items() if word != "undecided")
    assert f"{len(CLAIMS)} statements from texts about BERT" in words(page)
    assert f"relatives. {judged} of them" in words(page)
    assert [int(count) for count in re.findall(r"<b>(\d+)</b>", told)] == list(counts.values())


@pytest.mark.slow
def test_the_filters_by_link(app: App) -> None:
    page = app("textbook", record=None, verdict="fails", chapter="generation")
    assert not page.exception
    found, all_found = cards(page), textbook.verdicts(None, measured.verdicts())
    failed = [line for line in CLAIMS if line.chapter == "generation" and all_found[line.number].word == "fails"]
    assert len(found) == len(failed) > 1
    assert all("False" in card and "✗" in card for card in found)
    assert [heading.value for heading in page.subheader] == ["Generation"]
    page.selectbox(key="chapter").select("masks").run()
    assert not cards(page)
    assert "No statement has this verdict here" in words(page)


@pytest.mark.slow
def test_a_link_unfolds_one_line(app: App) -> None:
    page = app("textbook", record=None, line="6")
    (unfolded,) = [card for card in cards(page) if "<details open>" in card]
    assert "A BERT of 85 million" in unfolded
    assert "85,054,464" in unfolded


@pytest.mark.slow
def test_a_visitor_who_guesses_first_sees_no_verdict_before_the_answer(app: App) -> None:
    page = app("textbook", record=None, guess="true", chapter="cost")
    assert not page.exception
    assert len(cards(page)) == 7
    assert not any("bv-verdict" in card for card in cards(page))
    assert not any("False" in label for group in page.button_group for label in group.options)  # a give-away
    page.button(key="guess_33_false").click().run()  # it depends
    (answered,) = [card for card in cards(page) if "bv-verdict" in card]
    assert "It depends" in answered
    assert "You said “False”, which is partly right: the statement holds for 2 of 6 numbers, and not for 4" in words(
        page
    )
    assert "Right: 0 of 1. Right in part: 1. Statements here: 7." in words(page)
    page.button(key="guess_32_false").click().run()  # holds
    assert "You said “False”. The numbers say otherwise." in words(page)
    page.button(key="guess_34c_depends").click().run()
    assert "You said “It depends”, and the numbers agree: the statement holds for 1 of 2 numbers" in words(page)
    page.button(key="guess_34_true").click().run()
    assert "You said “True”, which is partly right" in words(page)
    assert "Right: 1 of 4. Right in part: 2. Statements here: 7." in words(page)
    page.button(key="guess_again").click().run()
    assert not any("bv-verdict" in card for card in cards(page))


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["true", "false", "depends"])
def test_no_answer_is_wrong_where_nothing_is_decided(app: App, answer: str) -> None:
    page = app("textbook", record=None, guess="true", chapter="heads")
    page.button(key=f"guess_35_{answer}").click().run()
    assert "It cannot be tested here." in words(page)
    assert "Choose, then see what the numbers say." in words(page)  # nothing to count yet


@pytest.mark.parametrize(
    ("word", "answer", "mark"),
    [
        ("fails", "false", "right"),
        ("fails", "true", "wrong"),
        ("fails", "depends", "wrong"),
        ("holds", "true", "right"),
        ("holds", "false", "wrong"),
        ("caveat", "depends", "right"),
        ("caveat", "false", "part"),
        ("caveat", "true", "part"),
        ("undecided", "true", "open"),
    ],
)
def test_an_answer_is_judged_by_the_verdict(word: Word, answer: str, mark: Mark) -> None:
    assert judge(word, answer) == mark


@pytest.mark.slow
def test_who_rightly_says_false_is_not_marked_as_wrong(app: App) -> None:
    page = app("textbook", record=None, level="beginner")
    false = next(number for number in BELIEVED if textbook.verdicts(None, measured.verdicts())[number].word == "fails")
    page.button(key=f"guess_{false}_false").click().run()
    [said] = [card for card in cards(page) if "bv-outcome" in card]
    assert "bv-outcome-right" in said
    assert "<i aria-hidden='true'>✓</i> You said “False”, and the numbers agree." in said
    assert "✗" not in said.split("<details")[0]
    assert "The statement: False." in said


def test_answers_and_verdicts_are_the_same_words() -> None:
    assert set(ANSWERS.values()) == {name for word, name in NAMES.items() if word != "undecided"}


@pytest.mark.slow
def test_beginners_begin_with_what_many_believe(app: App) -> None:
    page = app("textbook", record=None, level="beginner")
    keys = [str(button.key) for button in page.button if str(button.key).startswith("guess_")]
    assert list(dict.fromkeys(key.split("_")[1] for key in keys)) == list(BELIEVED)
    assert not any(re.search(r"[\d√²]", textbook.claim(number).said) for number in BELIEVED)  # no formula
    assert "Next chapter" in " ".join(link.proto.label for link in page.get("page_link"))


@pytest.mark.slow
def test_a_beginner_sees_what_a_weight_is_in_the_statement_about_weights(app: App) -> None:
    said = words(app("textbook", record=None, level="beginner"))
    about, example = list(BELIEVED).index(ABOUT_WEIGHTS), "An example of weights"
    before, after = (said.index(textbook.claim(list(BELIEVED)[at]).said) for at in (about, about + 1))
    assert before < said.index(example) < after
    assert example not in words(app("textbook", record=None, level="beginner", chapter="masks"))
    assert example not in words(app("textbook", record=None, guess="true", chapter="heads"))  # intermediate


def test_beginners_guess_first_and_others_do_not(app: App) -> None:
    assert app("textbook", record=None, level="beginner").toggle(key="guess").value
    assert not app("textbook", record=None).toggle(key="guess").value
    assert not app("textbook", record=None, level="beginner", line="6").toggle(key="guess").value


@pytest.mark.slow
def test_chapter_by_chapter(app: App) -> None:
    page = app("textbook", record=None)
    assert [heading.value for heading in page.subheader] == ["Sizes and parameters"]
    (following,) = [link.proto for link in page.get("page_link") if link.proto.label.startswith("Next chapter")]
    assert following.label == "Next chapter: Masks"
    assert following.query_string == "chapter=masks"


@pytest.mark.slow
@pytest.mark.parametrize("query", [{"verdict": "<b>"}, {"chapter": "x"}, {"line": "99"}])
def test_invalid_links(app: App, query: dict[str, str]) -> None:
    page = app("textbook", record=None, **query)
    assert not page.exception
    assert len(cards(page)) == sum(line.chapter == "sizes" for line in CLAIMS)


@pytest.mark.slow
def test_a_run_of_the_visitors_own_is_judged(app: App, record: Record) -> None:
    page = app("textbook", record=record, chapter="masks")
    assert not page.exception
    assert "your run of stand-in" in words(page)


@pytest.mark.slow
def test_the_content_of_a_card_is_escaped(app: App) -> None:
    page = app("textbook", record=None, chapter="generation")
    assert "&lt;/s&gt;" in words(page)
    assert "<s>" not in "".join(cards(page))


@pytest.mark.parametrize("line", [one for one in CLAIMS if page_list.has(one.page)], ids=lambda line: line.number)
def test_a_link_opens_a_page_that_applies_it(line: Claim) -> None:
    assert page_list.page(line.page).file.is_file()
    for word in set(line.query) - {"model", "text", "pair", "special"}:  # the sidebar's
        assert any(f'"{word}"' in text for text in SOURCES[line.page]), f"{line.page} does not know {word}"


PACKAGE = app_folder.ROOT / "bartviz"
COMMON = [(PACKAGE / "app" / "controls" / "pick.py").read_text("utf-8")]
SOURCES = {
    entry.word: [*COMMON, *(path.read_text("utf-8") for path in (PACKAGE / "features" / entry.word).glob("*.py"))]
    for entry in page_list.PAGES
}


def test_a_beginner_sees_what_a_weight_is_before_statements_about_weights(app: App) -> None:
    record = saved_records.read("start")
    head, row = start.head_of(record, "cross"), start.row_of(record, "cross")
    weights = record.attention("cross").head(head.layer, head.head)[row]
    page = app("textbook", record=None, level="beginner")
    written = record.rows("cross").labels[row]
    said = f"looked when the model wrote “{written}”. The stronger a word's colour, the larger its weight."
    assert said in html.unescape(words(page))
    strongest = record.attention("cross").key.labels[int(weights.argmax())]
    assert re.search(rf"title='{weights.max():.3f}'>{re.escape(strongest)}</span>", words(page))
    assert said not in html.unescape(words(app("textbook", record=None, level="beginner", chapter="sizes")))
    assert said not in html.unescape(words(app("textbook", record=None, level="expert", chapter="heads")))
