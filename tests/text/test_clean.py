"""Texts that visitors may type, and how they are cleaned."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.errors import TextError, TooLong
from bartviz.text import clean as texts
from bartviz.text.clean import Cleaned, clean, safe_name
from bartviz.text.tokenize import check_length

# --- typed text --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["", " ", "\n\t  \r\n", "\u3000\u00a0", "\0\0", "\ufeff", "\u200b\u202e \x07", "\u2028"]
)
def test_nothing_to_see_is_an_error(text: str) -> None:
    with pytest.raises(TextError, match="The text is empty"):
        clean(text)


@pytest.mark.parametrize(
    "text",
    [
        "</script><script>alert(1)</script>",
        "<!--<script>",
        "'\"><img onerror=alert(1)>",
        "![a](http://a.b/c.png)",
        "**b** # h ##ing $x$ :red[r]",
        "<s> </s> <pad> <mask>",
        "[CLS] [SEP]",
        "%{z}",
        "the the the",
        "1999 12 3",
        "2024-01-01",
        "\u202eabc\u200b",
        "e\u0301",
        "👨‍👩‍👧",
        "한국어 สวัสดี مرحبا",
        "a" + "\u0301" * 200,
        "\u1112\u1161\u11ab",
        " leading and trailing ",
        "a\tb\nc",
        "=1+1",
        "\x1b[31m",
        "a\ufeffb",
        "\ufffe",
    ],
)
def test_text_stays_as_it_was_typed(text: str) -> None:
    assert clean(text) == Cleaned(text)


@pytest.mark.parametrize(
    ("text", "cleaned", "notice"),
    [
        ("a\0b\0", "ab", "NUL"),
        ("a\ud800b", "a\ufffdb", "surrogates"),
        ("\udc00", "\ufffd", "surrogates"),
        ("a\ud83d", "a\ufffd", "surrogates"),
        ("\ufeffab", "ab", "byte order mark"),
        ("a\r\nb\rc", "a\nb\nc", "Line endings"),
        ("a\u2028b\u2029c\u0085d", "a\nb\nc\nd", "line separators"),
    ],
)
def test_what_breaks_tokenizers_is_cleaned_with_a_notice(text: str, cleaned: str, notice: str) -> None:
    found = clean(text)
    assert found.text == cleaned
    assert len(found.notices) == 1
    assert notice in found.notices[0]


def test_halves_of_a_character_are_joined() -> None:
    assert clean("\ud83d\ude00").text == "😀"


def test_several_notices() -> None:
    assert len(clean("\ufeffa\0\r\nb\u2028\ud800").notices) == 5


@given(st.text(st.characters(), max_size=60))
def test_cleaned_text_is_clean(text: str) -> None:
    try:
        found = clean(text)
    except TextError:
        return
    found.text.encode()
    assert not set(found.text) & {"\0", "\r", "\u2028"}
    assert clean(found.text) == Cleaned(found.text)


def test_a_million_characters_are_refused_before_any_work() -> None:
    text = "한" * 1_000_000
    tracemalloc.start()
    with pytest.raises(TooLong, match=r"1,000,000 characters; at most 100,000") as caught:
        clean(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (caught.value.count, caught.value.limit) == (1_000_000, texts.MAX_CHARACTERS)
    assert peak < 100_000  # not even a copy was made
    assert clean("한" * texts.MAX_CHARACTERS).notices == ()


def test_one_token_too_many() -> None:
    check_length(512, 512)
    with pytest.raises(TooLong, match=r"513 tokens.*at most 512.*Shorten it by 1, or.*first or last 512") as caught:
        check_length(513, 512)
    assert (caught.value.count, caught.value.limit, caught.value.can_cut) == (513, 512, True)
    assert isinstance(caught.value, TextError)
    with pytest.raises(TooLong, match=r"1,340 tokens.*Shorten it by 828\.$") as caught:
        check_length(1340, 512, can_cut=False)
    assert not caught.value.can_cut


# --- names of files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("a.txt", "a.txt"),
        ("../../etc/passwd.txt", "passwd.txt"),
        ("C:\\Users\\me\\my text.txt", "my text.txt"),
        ("<img src=x onerror=alert(1)>.txt", "_img src_x onerror_alert(1)_.txt"),
        ("한국어 번역.csv", "한국어 번역.csv"),
        ("u\u0308ber.txt", "über.txt"),
        ("a\u202etxt.exe", "a_txt.exe"),
        ("a\0\n.txt", "a_.txt"),
        ("", "upload"),
        ("..", "upload"),
        ("/", "upload"),
        (".txt", "txt"),
    ],
)
def test_names(name: str, safe: str) -> None:
    assert safe_name(name) == safe


def test_a_name_of_4_kb_keeps_its_suffix() -> None:
    name = "x" * 4096 + ".txt.gz"
    assert safe_name(name) == "x" * 73 + ".txt.gz"


@given(st.text(st.characters(), max_size=200))
def test_names_are_always_safe(name: str) -> None:
    safe = safe_name(name)
    assert 0 < len(safe) <= texts.MAX_NAME
    assert not set(safe) & set("/\\<>&\"'`:\0\n")
    assert not safe.startswith(".")
