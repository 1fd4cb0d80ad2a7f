"""The masks of patterns, for texts that a person can check."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bartviz
from bartviz.analysis import gold_alignment
from bartviz.analysis.pattern_masks import of_record
from bartviz.errors import SettingError
from bartviz.families.catalogue import EMBEDDED
from bartviz.patterns.grammar import parse
from bartviz.patterns.pair import Column, Pair, Side, Tree, Unfit
from bartviz.record.attention import Kind

# <s> The dog sees The 7 . </s>, "sees" in two pieces
UPOS = ("DET", "NOUN", "VERB", "DET", "NUM", "PUNCT")
WORDS = ("<s>", "The", "dog", "se", "⋯es", "the", "7", ".", "</s>")
DOG = Side(
    ids=np.array([0, 10, 11, 12, 13, 10, 15, 16, 2]),
    special=np.array([1, 0, 0, 0, 0, 0, 0, 0, 1], np.bool_),
    punctuation=np.array([0, 0, 0, 0, 0, 0, 0, 1, 0], np.bool_),
    groups=np.array([0, 1, 2, 3, 3, 4, 5, 6, 7]),
    words=np.array([-1, 0, 1, 2, 2, 3, 4, 5, -1]),
    codes=np.array([-1, 0, 1, 2, 2, 0, 3, -1, -1]),
    labels=WORDS,
    written=("<s>", "the", "dog", "sees", "sees", "the", "7", ".", "</s>"),
    columns={"upos": Column(UPOS, np.eye(9, dtype=np.bool_)[[1, 2, 3, 5, 6, 7]])},
    tree=Tree(
        np.array([1, 2, -1, 4, 2, 2]),
        ("det", "nsubj", "root", "det", "obj", "punct"),
        np.array([[0, 1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0, 0, 0],
                  [0, 0, 0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1, 0]], np.bool_),
    ),
)  # fmt: skip


def pair(kind: Kind = "encoder") -> Pair:
    mask = np.ones((9, 9), np.bool_)
    return Pair(kind, DOG, DOG, DOG, np.tril(mask) if kind == "decoder" else mask)


def cells(text: str, on: Pair | None = None) -> set[tuple[int, int]]:
    return {(int(row), int(column)) for row, column in np.argwhere(parse(text).mask(on or pair()))}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("from any to previous token", {(row, row - 1) for row in range(1, 9)}),
        ("from any to the next token", {(row, row + 1) for row in range(8)}),
        ("from any to 3 back", {(row, row - 3) for row in range(3, 9)}),
        ("from any to 7 ahead", {(0, 7), (1, 8)}),
        ("from first to itself", {(0, 0)}),
        ("from last to first", {(8, 0)}),
        ("from last token to first word", {(8, 1)}),
        ("from first to last word", {(0, 7)}),
        ("from first to special tokens", {(0, 0), (0, 8)}),
        ("from number to punctuation", {(6, 7)}),
        ("from special to capitalised word", {(0, 1), (8, 1)}),
        ("from any to same token", {(1, 5), (5, 1)}),
        ("from any to same word", {(1, 5), (5, 1)}),
        ("from any to next token of same token", {(1, 6), (5, 2)}),
        ('from "SEES" to next word', {(3, 5), (4, 5)}),
        ('from "sees" to previous word', {(3, 2), (4, 2)}),
        ("from number to within 1 tokens", {(6, 5), (6, 7)}),
        ("from number to within 1 and not punctuation", {(6, 5)}),
        ("from number to later and not (last or punctuation)", set()),
        ("from first word to earlier", {(1, 0)}),
        ("from verb to its nsubj", {(3, 2)}),  # the column of this text has only its first piece
        ("from noun to its head", {(2, 3), (2, 4)}),
        ("from noun to its det", {(2, 1)}),
        ("from num to its dependents", {(6, 5)}),
        ("from noun to its det of its obj of its head", {(2, 5)}),
        ("from det to same upos", {(1, 5), (5, 1)}),
        ('from upos="det" and not capitalised to itself', {(5, 5)}),
        ("from first to first or from last to last", {(0, 0), (8, 8)}),
        ("from (first or last) and special to number", {(0, 6), (8, 6)}),
    ],
)
def test_masks_are_as_one_draws_them(text: str, wanted: set[tuple[int, int]]) -> None:
    assert cells(text) == wanted


def test_a_row_looks_at_what_it_may_see() -> None:
    assert cells("from any to next token", pair("decoder")) == set()
    assert cells("from any to same token", pair("decoder")) == {(5, 1)}


def side(ids: list[int], words: list[int]) -> Side:
    found = np.array(words)
    return Side(
        np.array(ids), found < 0, found < -1, np.arange(len(ids)), found, np.array(ids) * (found >= 0) - (found < 0)
    )


# the source "a b", the output "b a"; what has been read is one token behind, after a start token
SOURCE, OUTPUT, READ = side([0, 5, 6, 2], [-1, 0, 1, -1]), side([6, 5, 2], [0, 1, -1]), side([2, 6, 5], [-1, 0, 1])
LINKS = np.array([[False, True], [True, False]])  # (T, S)
CROSS = Pair("cross", OUTPUT, SOURCE, READ, np.ones((3, 4), np.bool_), LINKS)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("from word to link", {(0, 2), (1, 1)}),
        ("from word just read to link", {(1, 2), (2, 1)}),
        ("from word to previous token of link", {(0, 1), (1, 0)}),
        ("from any to link of next token", {(0, 1)}),
        ("from any to same token", {(0, 2), (1, 1)}),
        ("from any to same position", {(0, 0), (1, 1), (2, 2)}),
        ("from any to next token of same position", {(0, 1), (1, 2), (2, 3)}),
        ("from first to special", {(0, 0), (0, 3)}),
        ("from first to special and not itself", {(0, 0), (0, 3)}),  # of another text
        ("from any to diagonal", {(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 3)}),  # 0, 1.5 and 3
    ],
)
def test_masks_across_two_texts(text: str, wanted: set[tuple[int, int]]) -> None:
    assert cells(text, CROSS) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "from any to previous",
        "from any to previous of itself",
        "from any to link of link",
        "from any to same position of link",
    ],
)
def test_a_path_crosses_once(text: str) -> None:
    with pytest.raises(Unfit):
        cells(text, CROSS)


SETS = ("any", "word", "special", "number", "first", "noun", '"the"')
TARGETS = ("previous token", "next word", "same token", "within 2", "its head", "special", "2 back of same word")


@given(
    st.sampled_from(SETS), st.sampled_from(TARGETS), st.sampled_from(TARGETS), st.sampled_from(["encoder", "decoder"])
)
def test_masks_obey_the_laws_of_sets(start: str, one: str, other: str, kind: Kind) -> None:
    on = pair(kind)
    first, second = (parse(f"from {start} to {target}").mask(on) for target in (one, other))
    rows = parse(f"from {start} to any").mask(on)
    assert np.array_equal(parse(f"from {start} to {one} or {other}").mask(on), first | second)
    assert np.array_equal(parse(f"from {start} to {one} or from {start} to {other}").mask(on), first | second)
    assert np.array_equal(parse(f"from {start} to {one} and {other}").mask(on), first & second)
    assert np.array_equal(parse(f"from {start} to not ({one})").mask(on), rows & ~first)
    assert np.array_equal(parse(f"from not {start} to {one}").mask(on), parse(f"from any to {one}").mask(on) & ~rows)
    assert np.array_equal(parse(f"from {start} to {one} of itself").mask(on), first)
    assert not (first & ~on.mask).any()


@given(st.sampled_from(SETS), st.sampled_from(TARGETS), st.integers(0, 9), st.integers(0, 9))
def test_some_rows_are_marked_as_all_are(start: str, target: str, one: int, other: int) -> None:
    pattern = parse(f"from {start} to {target}")
    rows = slice(min(one, other), max(one, other))
    assert np.array_equal(pattern.mask(pair(), rows), pattern.mask(pair())[rows])


def test_a_record_gives_the_tokens_of_its_kinds() -> None:
    record = bartviz.open(EMBEDDED / "records" / "start.safetensors")
    by_hand = gold_alignment.BY_HAND["I want to buy a car.", "Ich möchte ein Auto kaufen."]  # 2?4 is "to"
    links = gold_alignment.read(by_hand, 7, 6)
    cross = of_record(record, "cross", links)
    found = parse('from "kaufen" to link').mask(cross)
    rows, columns = np.nonzero(found)
    assert {record.rows("cross").labels[row].strip("⋯") for row in rows} <= {"kaufen", "kauf", "en"}
    assert {record.attention("cross").key.labels[column] for column in columns} == {"buy", "to"}
    previous = parse("from any to previous token").mask(of_record(record, "decoder"))
    assert np.array_equal(previous, np.eye(len(record.attention("decoder").query), k=-1, dtype=np.bool_))


def test_a_function_is_a_pattern_too() -> None:
    record = bartviz.open(EMBEDDED / "records" / "start.safetensors")
    diagonal = bartviz.pattern_mask(
        record, "decoder", lambda own, _kind: np.eye(len(own.attention("decoder").query), dtype=np.bool_)
    )
    assert np.array_equal(diagonal, bartviz.pattern_mask(record, "decoder", "from any to itself"))
    with pytest.raises(SettingError, match=r"shape \(2, 2\)"):
        bartviz.pattern_mask(record, "decoder", lambda _record, _kind: np.eye(2))
    with pytest.raises(SettingError, match="no meaning"):
        bartviz.pattern_mask(record, "decoder", "from any to link")
