"""Characters, words and labels of plain text, by hand."""

from __future__ import annotations

import unicodedata

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from bartviz.text.labels import Layout, clusters, normalized, number_words, visible

FAMILY = "👨‍👩‍👧"
ENGLAND = "🏴󠁧󠁢󠁥󠁮󠁧󠁿"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \t\n", []),
        ("The cat's car, don't!", ["The", "cat's", "car", ",", "don't", "!"]),
        ("o’clock 'so' it'", ["o’clock", "'", "so", "'", "it", "'"]),
        ("1999 12 3", ["1999", "12", "3"]),
        ("2024-01-01 3.14", ["2024", "-", "01", "-", "01", "3", ".", "14"]),
        ("</s><b>", ["<", "/", "s", ">", "<", "b", ">"]),
        ("한국어 번역", ["한국어", "번역"]),
        ("สวัสดี ครับ", ["สวัสดี", "ครับ"]),
        ("مَرْحَبًا", ["مَرْحَبًا"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("नमस्ते", ["नमस्ते"]),
        (f"{FAMILY}x👍🏽🇩🇪{ENGLAND} 1️⃣", [FAMILY, "x", "👍🏽", "🇩🇪", ENGLAND, "1️⃣"]),
        ("e\u0301a" + "\u0301" * 200 + " b", ["e\u0301a" + "\u0301" * 200, "b"]),
        ("a\u200bb", ["a", "\u200b", "b"]),
        ("\u200d👩", ["\u200d", "👩"]),
        ("snake_case", ["snake_case"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert [text[start:end] for start, end in Layout.of(text).words] == words


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("🇩🇪🇫🇷", ["🇩🇪", "🇫🇷"]),
        ("🇩🇪🇫", ["🇩🇪", "🇫"]),
        ("🇩\u0301🇪🇫", ["🇩\u0301", "🇪🇫"]),  # a mark ends the pair
        ("x🇩🇪\ufe0f🇫y", ["x", "🇩🇪\ufe0f", "🇫", "y"]),
        ("\u0600🇩🇪🇫🇷", ["\u0600🇩🇪", "🇫🇷"]),
        ("🇩 🇪🇫", ["🇩", " ", "🇪🇫"]),
    ],
)
def test_flags_are_pairs_of_letters(text: str, parts: list[str]) -> None:
    assert clusters(text) == parts


@settings(deadline=None)
@given(st.text("🇩🇪\u0301\u200d\ufe0f👩\u1100\u1161\u11a8 \r\n\u0600a\u0903", max_size=12))
def test_characters_are_those_of_unicode(text: str) -> None:
    assert clusters(text) == regex.findall(r"\X", text)


def test_long_runs_of_marks_are_normalized_in_parts() -> None:
    assert normalized("NFC", "e\u0301 " + "\u0316\u0301" * 15) == unicodedata.normalize(
        "NFC", "e\u0301 " + "\u0316\u0301" * 15
    )
    parted = normalized("NFD", "é" + "\u0301" * 100)
    assert parted.replace("\u034f", "") == "e" + "\u0301" * 101
    assert max(map(len, parted.split("\u034f"))) <= 32


@pytest.mark.slow
@settings(deadline=None)
@given(st.text(max_size=40))
def test_words_are_in_order_and_leave_nothing_out_but_space(text: str) -> None:
    words = Layout.of(text).words
    inside = {i for start, end in words for i in range(start, end)}
    assert sum(end - start for start, end in words) == len(inside)
    assert all(i in inside for i, sign in enumerate(text) if not sign.isspace())
    assert list(words) == sorted(words)


@settings(deadline=None)
@given(st.text("aZ9_'’ \n\t.½éß한你…\u00ad\u00a0\u0085©²", max_size=40))
def test_simple_texts_are_read_as_others_are(text: str) -> None:
    layout, other = Layout.of(text), Layout.of(text + "\u3042")  # a letter of Hiragana: the long way
    assert other.clusters == (*layout.clusters, len(text) + 1)
    assert other.words[:-1] == layout.words[: len(other.words) - 1]


def test_spans_widen_to_whole_characters() -> None:
    layout = Layout.of(f"ae\u0301{FAMILY}")
    assert layout.clusters == (0, 1, 3, 8)
    assert layout.whole((0, 1)) == (0, 1)
    assert layout.whole((2, 3)) == (1, 3)
    assert layout.whole((2, 4)) == (1, 8)
    assert layout.whole((5, 5)) == (3, 8)


def test_word_numbers() -> None:
    #                   0123456789
    layout = Layout.of("car, don't")
    assert number_words(layout, [(0, 1), (1, 3), (3, 4), (5, 8), (8, 10)]) == [0, 0, 1, 2, 2]
    assert number_words(layout, [None, (0, 3), None], first=7) == [None, 7, None]
    assert number_words(layout, [(0, 4), (4, 5), (5, 10)]) == [0, None, 1]  # one token over "car" and ","
    assert number_words(layout, [(0, 1), None, (1, 3)]) == [0, None, 1]  # a special token ends a word
    unspaced = Layout.of("你好ab")
    assert number_words(unspaced, [(0, 1), (1, 2), (2, 3), (3, 4)]) == [0, 1, 2, 2]
    assert number_words(unspaced, [(0, 1), (0, 1), (1, 4)]) == [0, 0, 1]  # two bytes of one character


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("", ""),
        ("car", "car"),
        ("  ", "␣␣"),
        ("a b", "a b"),
        ("\n\t\r\u00a0", "↵⇥␍⍽"),
        ("a\u200bb", "a‹ZWSP›b"),
        ("\u202eabc\u202c", "‹RLO›abc‹PDF›"),
        ("\u2028", "‹U+2028›"),
        ("\x00\x1b", "‹U+0000›‹U+001B›"),
        ("\u3000\u3164\u2800", "‹U+3000›‹U+3164›‹U+2800›"),
        ("\ue000", "‹U+E000›"),
        ("\u3164", "‹U+3164›"),
        ("\u00ad", "‹SHY›"),
        ("\u0301", "◌\u0301"),
        ("a\u0301", "a\u0301"),
        ("a" + "\u0301" * 5, "a" + "\u0301" * 4 + "‹+1›"),
        ("a" + "\u0301" * 6 + "\u200d", "a" + "\u0301" * 4 + "‹+2›‹ZWJ›"),
        ("👩" + "\u0301" * 6, "👩" + "\u0301" * 4 + "‹+2›"),
        (FAMILY, FAMILY),
        (ENGLAND, ENGLAND),
        ("👍🏽", "👍🏽"),
        ("👨\u200d", "👨‹ZWJ›"),
        ("a\u200db", "a‹ZWJ›b"),
        ("می\u200cخ", "می\u200cخ"),
        ("\U0001fc00", "‹U+1FC00›"),
        ("한국어", "한국어"),
        ("</s>", "</s>"),
    ],
)
def test_nothing_is_invisible(text: str, label: str) -> None:
    assert visible(text) == label
