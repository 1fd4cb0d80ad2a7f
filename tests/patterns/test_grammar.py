"""Patterns are read, and what cannot be read is refused at its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.errors import PatternError, SettingError
from bartviz.patterns.grammar import DEEPEST, LONGEST, PARTS, RELATIONS, parse
from bartviz.patterns.nodes import CLASSES, COLUMNS, LABELS, LINKS, TREE

CLASS = st.sampled_from(
    [*(name for name in CLASSES if " " not in name), "first word", "last word", *PARTS, '"the"', 'pos="VBZ"']
)
STEP = st.one_of(
    CLASS,
    st.sampled_from([*(f"its {name}" for name in RELATIONS), "its head", "link", "itself", "earlier", "later"]),
    st.sampled_from(["previous token", "next word", "3 back", "12 ahead", "within 2", "same token", "same pos"]),
)


def either(inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two = st.tuples(inside, inside)
    return st.one_of(
        two.map(lambda pair: f"{pair[0]} and {pair[1]}"),
        two.map(lambda pair: f"({pair[0]} or {pair[1]})"),
        inside.map(lambda one: f"not ({one})"),
    )


SETS = st.recursive(CLASS, either, max_leaves=4)
TARGETS = st.recursive(st.lists(STEP, min_size=1, max_size=3).map(" of ".join), either, max_leaves=4)
CLAUSES = st.tuples(SETS, st.sampled_from(["", " just read"]), TARGETS).map(lambda one: "from {}{} to {}".format(*one))
PATTERNS = st.lists(CLAUSES, min_size=1, max_size=2).map(" or ".join)


@given(PATTERNS)
def test_what_the_grammar_allows_is_read(text: str) -> None:
    pattern = parse(text)
    assert parse(f"  {text.replace(' ', '   ')} ") == pattern  # white space says nothing
    assert len(pattern.clauses) == text.count("from ")


def refused(text: str) -> PatternError | None:
    try:
        parse(text)
    except PatternError as error:
        return error
    return None


@given(PATTERNS, st.data())
def test_a_broken_pattern_is_refused_at_a_place_in_it(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text) - 1))
    error = refused(f"{text[:cut]}§{text[cut:]}")
    if text[:cut].count('"') % 2 == 0:  # within a quoted word any sign may stand
        assert error is not None
        assert error.position == cut


@given(st.text(max_size=40))
def test_no_text_makes_anything_but_a_pattern_or_its_error(text: str) -> None:
    error = refused(f"from any to {text}")
    assert error is None or 0 <= error.position <= len(text) + 12


@pytest.mark.parametrize(
    ("text", "position", "said"),
    [
        ("", 0, "ends where “from” is expected"),
        ("any to next", 0, "Character 1: “from” is expected, not “any”"),
        ("from any", 8, "ends where “to” is expected"),
        ("from verbb to any", 5, "Character 6: a class of tokens (verb or a word in quotation marks)"),
        ("from any to nxt token", 12, "(next or a word in quotation marks) is expected, not “nxt”"),
        ("from any to its nsbj", 16, "not “nsbj”"),
        ("from any to 3 tokens", 14, "“back” or “ahead”"),
        ("from any to 0 back", 12, "a distance is from 1 to 10,000"),
        ("from any to 99999999999999 back", 12, "a distance is from 1 to 10,000"),
        ("from any to within token", 19, "a number of tokens is expected"),
        ('from "the to any', 5, "The quotation mark at character 6 is not closed"),
        ('from "" to any', 5, "nothing between the quotation marks"),
        ("from any to link!", 16, "Character 17, “!”, has no meaning"),
        ("from (any to link", 10, "“)” is expected, not “to”"),
        ("from pos=VBZ to any", 9, "the value of the column in quotation marks"),
        ("from any to same to", 17, "“token”, “word”, “position” or the name of a column"),
        ("from any to link first", 17, "or the end of the pattern"),
        (f"from {'(' * (DEEPEST + 1)}any", 26, "too many brackets"),
        ("from any to " + "x" * LONGEST, LONGEST, "at most 2,000 characters"),
    ],
)
def test_an_error_points_at_the_place(text: str, position: int, said: str) -> None:
    with pytest.raises(PatternError) as found:
        parse(text)
    assert said in str(found.value)
    assert found.value.position == position


@pytest.mark.parametrize(
    ("text", "needs", "columns"),
    [
        ("from any to previous token", set(), set()),
        ("from number to special", {LABELS}, set()),
        ("from verb to its nsubj", {LABELS, COLUMNS, TREE}, {"upos"}),
        ("from word to link", {LINKS}, set()),
        ("from pos='V' to same role of next", {LABELS, COLUMNS}, {"pos", "role"}),
    ],
)
def test_a_pattern_knows_what_it_needs(text: str, needs: set[str], columns: set[str]) -> None:
    assert (set(parse(text).needs), set(parse(text).columns)) == (needs, columns)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("from any to previous token", ("encoder", "decoder")),
        ("from any to special", ("encoder", "decoder", "cross")),
        ("from any to link", ("cross",)),
        ("from any to previous token of link", ("cross",)),
        ("from any to same token", ("encoder", "decoder", "cross")),
        ("from any to next token of same token", ("encoder", "decoder", "cross")),
        ("from any to its head", ("encoder",)),
        ("from word to its head of link", ("cross",)),
        ("from any to previous of same position", ("encoder", "decoder", "cross")),
    ],
)
def test_a_pattern_has_a_meaning_for_some_kinds(text: str, kinds: tuple[str, ...]) -> None:
    assert parse(text).kinds(("encoder", "decoder", "cross")) == kinds


def test_a_pattern_without_a_meaning_for_the_model_is_refused() -> None:
    with pytest.raises(SettingError, match="for encoder attention: links lead from an output to its source"):
        parse("from word to link").kinds(("encoder",))
