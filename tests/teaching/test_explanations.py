"""What the pages explain: every page has its text at each level, its terms exist, and its code runs."""

from __future__ import annotations

import importlib
import re
import string

import markdown_it
import pytest

from bartviz.app.frame import page_list
from bartviz.language import LANGUAGES, speaking
from bartviz.teaching.explanations import Explanation, explanation, files, parts
from bartviz.teaching.glossary import glossary

WRITTEN = sorted(files())


def test_every_page_is_explained() -> None:
    assert [entry.word for entry in page_list.PAGES if not parts(entry.word)] == []


@pytest.mark.parametrize("word", WRITTEN)
def test_what_is_explained_is_explained_at_each_level(word: str) -> None:
    told = explanation(word)
    assert isinstance(told, Explanation)
    assert all(text.strip() for text in (told.beginner, told.intermediate, told.expert))
    assert told.terms
    assert told.code


def test_nothing_explains_what_is_no_page() -> None:
    assert set(WRITTEN) == {word for entry in page_list.PAGES for word in parts(entry.word)}
    for word in ("nowhere", "", "../heads", "os.path"):
        with pytest.raises(LookupError, match=r"features/.*explanation\.en\.md"):
            explanation(word)


@pytest.mark.parametrize("word", WRITTEN)
def test_a_beginner_reads_no_formula(word: str) -> None:
    assert "$" not in explanation(word).beginner


@pytest.mark.parametrize("word", WRITTEN)
def test_formulas_are_closed_and_terms_are_in_the_glossary(word: str) -> None:
    told = explanation(word)
    for text in (told.beginner, told.intermediate, told.expert):
        inline = text.replace("$$", "")
        assert text.count("$$") % 2 == 0
        assert inline.count("$") % 2 == 0
        assert set(text) - set(string.printable) <= set("αéàü×→≤“”’–·")
    assert set(told.terms) <= set(glossary())
    assert len(set(told.terms)) == len(told.terms)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("word", WRITTEN)
def test_no_sign_of_markdown_is_left_over(word: str, language: str) -> None:
    """A closing ** after a full stop or quote, with a letter behind it, is none: Korean particles bring that about."""
    markdown = markdown_it.MarkdownIt("commonmark")
    with speaking(language):
        told = explanation(word)
    for text in (told.beginner, told.intermediate, told.expert):
        plain = re.sub(r"\$[^$]*\$", "", text.replace("$$", "$"))
        assert "*" not in re.sub(r"<[^>]*>", "", markdown.render(plain))


@pytest.mark.some(5)
@pytest.mark.slow
@pytest.mark.parametrize("word", WRITTEN)
def test_its_code_runs(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    importlib.import_module("bartviz")
    exec(compile(explanation(word).code, f"{word}.py", "exec"), {})
    assert capsys.readouterr().out
