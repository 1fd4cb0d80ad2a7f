"""With every message in ⟦brackets⟧: text of a page without them is not translated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from bartviz import language
from bartviz.app import streamlit_internals
from bartviz.app.frame import examples, languages, page_list
from bartviz.app.state import session
from bartviz.corpus import shipped
from bartviz.families.catalogue import CATALOGUE
from bartviz.language import LANGUAGES, PSEUDO
from tests.app.frame.test_sidebar import settled
from tests.support import stand_in
from tests.support.pages import App, unfolded
from tests.support.seen import plain, texts

assert languages.KEY == "lang"  # imported: it says whom to follow, before a test says it
LETTERS = re.compile(r"[^\W\d_]+")
NAMES = re.compile(r"[\w.]*\w_\w[\w.]*")  # of transformers' arguments and outputs, such as input_ids


def corpus_texts(name: str) -> list[str]:
    """The examples of an atlas that ships."""
    examples = shipped.atlas(name).examples
    return [*examples["text"], *examples["target"].dropna()]


# Texts of a visitor, tokens, names of models and files, and what is written the same in every language.
GIVEN = " ".join(
    [
        *stand_in.SOURCE,
        *stand_in.OUTPUT,
        "kaufen stand-in Stand-in Haus",
        *(text for name in shipped.NAMES for text in corpus_texts(name)),
        *LANGUAGES.values(),
        *(entry.name for entry in CATALOGUE),
        *(one.text for found in examples.BY_KIND.values() for one in found),
    ]
)
# What the tests of each feature say of its page: the choices that draw something else, texts that are not translated,
# and for a choice the text whose pieces are shown.
VIEWS: dict[str, tuple[dict[str, str], ...]] = {}
CUT: dict[str, str] = {}
for file in sorted((Path(__file__).parents[1] / "features").glob("*/drawn.py")):
    drawn = import_module(f"tests.features.{file.parent.name}.drawn")
    VIEWS[file.parent.name] = getattr(drawn, "VIEWS", ())
    CUT |= getattr(drawn, "CUT", {})
    GIVEN += " ".join(["", *getattr(drawn, "TEXTS", ())])
# Formats, units, functions and terms that are written so in every language; and the sentence of the articles.
SAME = """CSV NPZ HTML Pharaoh Markdown MB kB GB TB FLOPs ID log tanh ReLU GELU gelu relu softmax pre post norm
float bfloat int NaN CLS SEP MASK Ich will ein Auto kaufen"""
KNOWN = frozenset(LETTERS.findall(f"{GIVEN} {SAME}"))


@pytest.fixture(autouse=True)
def pseudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_followed", [lambda: PSEUDO])


def unspoken(text: str) -> str:
    """What stands outside of all brackets."""
    while "⟦" in text and "⟧" in text:
        shorter = re.sub(r"⟦[^⟦⟧]*⟧", " ", text)
        if shorter == text:
            break
        text = shorter
    return re.sub(r"⟦[^⟦⟧]*$", " ", text)  # the first sentence of a longer text, such as a measure's definition


def missing(found: Iterator[tuple[str, str]], cut: str = "") -> list[str]:
    """Texts that are not looked up. ``cut``: a text whose pieces are shown, in small letters too."""
    said = {}
    cut = cut.lower()
    for kind, text in found:
        left = LETTERS.findall(NAMES.sub(" ", unspoken(text)))
        left = [word for word in left if len(word) > 1 and word not in KNOWN]
        left = [word for word in left if word.lower() not in cut]
        if left:
            said[f"{kind}: {' '.join(text.split())[:110]}: {' '.join(left)[:80]}"] = True
    return list(said)


def told(word: str, found: Iterable[str]) -> str:
    return "\n".join(
        [
            f"Texts of {word} that are not translated: wrap them in _(...); add the name of a table's column to "
            f"bartviz/app/controls/columns.py, and what stays as it is to TEXTS in tests/features/{word}/drawn.py.",
            *found,
        ]
    )


def test_text_outside_of_brackets_is_found() -> None:
    assert unspoken("⟦all of ⟦it⟧ said⟧ 3").strip() == "3"
    assert unspoken("⟦all⟧ not ⟦its first sentence.").strip() == "not"
    assert missing(iter([("html", "⟦one⟧ forgotten ⟦three⟧")])) == ["html: ⟦one⟧ forgotten ⟦three⟧: forgotten"]
    assert plain("<p title='told'>a &lt; b</p><style>c</style>").split() == ["a", "<", "b", "told"]


@pytest.mark.slow
@pytest.mark.parametrize("word", [entry.word for entry in page_list.PAGES])
def test_every_text_of_a_page_is_looked_up(app: App, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an expert sees it, and every choice of it that draws something else."""
    monkeypatch.setattr(session, "submit", lambda _request: None)  # a run that another test has left would be shown
    found: dict[str, None] = {}
    for query in ({}, *VIEWS.get(word, ())):
        page = unfolded(app(word, level="expert", **query))
        assert not page.exception
        found |= dict.fromkeys(missing(texts(page), CUT.get(query.get("look", ""), "")))
    assert not found, told(word, found)


@pytest.mark.some(4)
@pytest.mark.slow
@pytest.mark.parametrize("word", [entry.word for entry in page_list.PAGES])
def test_every_text_is_looked_up_where_other_models_or_none_are_shown(app: App, word: str) -> None:
    found: dict[str, None] = {}
    shown = (stand_in.record(kind="encoder", trained=False), stand_in.record(kind="decoder"), None)
    for record in shown:
        page = unfolded(app(word, record=record, level="expert"))
        assert not page.exception
        found |= dict.fromkeys(missing(texts(page)))
    assert not found, told(word, found)


@pytest.mark.parametrize("query", [{"text": " "}, {"text": "x" * 500_000}])
def test_refusals_are_in_the_visitors_language(
    app: App, query: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamlit_internals, "is_alive", lambda _session: True)
    page = settled(app("heads", **query)).run()
    assert not page.exception
    assert page.error
    assert not missing(texts(page))
