"""Tokens from strings alone: the marks of three kinds of vocabularies, and none."""

from __future__ import annotations

import itertools

import pytest

from bartviz.record.strings import from_strings, schemes


@pytest.mark.parametrize(
    ("strings", "text", "labels", "words"),
    [
        (["<s>", "I", "Ġwant", "ed", "</s>"], "I wanted", ("<s>", "I", "want", "⋯ed", "</s>"), (None, 0, 1, 1, None)),
        (["[CLS]", "un", "##do", "."], "undo.", ("[CLS]", "un", "⋯do", "."), (None, 0, 0, 1)),
        (["▁Ich", "▁kau", "fe", "<unk>"], "Ich kaufe<unk>", ("Ich", "kau", "⋯fe", "<unk>"), (0, 1, 1, 2)),
        (["the", "cat"], "the cat", ("the", "cat"), (0, 1)),
        (["i</w>", "wan", "t</w>"], "i want", ("i", "wan", "⋯t"), (0, 1, 1)),
        (["na", "ïve", "café"], "na ïve café", ("na", "ïve", "café"), (0, 1, 2)),  # no UTF-8 in the byte alphabet
    ],
)
def test_strings_are_read_as_their_vocabulary_writes_them(
    strings: list[str], text: str, labels: tuple[str, ...], words: tuple[int | None, ...]
) -> None:
    written, tokens = from_strings(strings, {})
    assert written == text
    assert tokens.labels == labels
    assert tokens.words == words
    assert tokens.pieces == tuple(strings)


def test_special_tokens_are_no_part_of_the_text() -> None:
    _text, tokens = from_strings(["[CLS]", "a", "<|end|>", "[UNK]", "<0x41>"], {})
    assert tokens.special.tolist() == [True, False, True, False, False]
    assert [span is None for span in tokens.spans] == [True, False, True, False, False]


def test_equal_strings_have_equal_ids_in_two_texts() -> None:
    numbers: dict[str, int] = {}
    one, two = (from_strings(strings, numbers)[1] for strings in (["a", "b", "a"], ["b", "c"]))
    assert one.ids.tolist() == [0, 1, 0]
    assert two.ids.tolist() == [1, 2]


def bytewise(text: str, cuts: list[int]) -> list[str]:
    """Pieces of a byte-level vocabulary that spell a text, cut at these bytes."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(256, 512))
    signs = {byte: chr(byte) if byte in printable else chr(next(others)) for byte in range(256)}
    whole = "".join(signs[byte] for byte in text.encode())
    edges = [0, *cuts, len(whole)]
    return [whole[start:end] for start, end in itertools.pairwise(edges)]


@pytest.mark.parametrize(
    ("text", "cuts"),
    [("你好吗", [3, 6]), ("สวัสดี", [9]), ("안녕하세요", [4, 7]), ("🙂👍🏽", [2, 4]), ("naïve", [2]), ("мир", [1, 2])],
)
def test_bytes_are_decoded_whatever_they_begin_with(text: str, cuts: list[int]) -> None:
    written, tokens = from_strings(["<s>", *bytewise(text, cuts), "</s>"], {})
    assert written == text
    assert "ä½" not in "".join(tokens.labels)


def test_a_list_that_begins_or_ends_within_a_character_is_bytes_still() -> None:
    pieces = bytewise("你好吗", [1, 3, 6, 7])
    written, _tokens = from_strings(pieces[1:-1], {})
    assert "好" in written


def test_lists_of_one_vocabulary_are_read_alike() -> None:
    source, target = bytewise("你好", [3]), ["Hello", "Ġthere"]
    assert [scheme.kind for scheme in schemes([source, target])] == ["bytes", "bytes"]
    assert [scheme.kind for scheme in schemes([["Hello", "you"], source])] == ["bytes", "bytes"]
    other = ["un", "##do"]  # an encoder with another vocabulary
    assert [scheme.kind for scheme in schemes([other, target])] == ["prefix", "bytes"]
    assert [scheme.kind for scheme in schemes([["你", "好"], target])] == ["prefix", "bytes"]  # no bytes: words


@pytest.mark.parametrize("language", ["eng_Latn", ">>deu<<", "__en__", "en_XX"])
def test_a_language_is_no_part_of_the_text(language: str) -> None:
    written, tokens = from_strings([language, "▁Hello", "</s>"], {})
    assert written == "Hello"
    assert tokens.special.tolist() == [True, False, True]
