"""Tokens from strings alone: the marks of three kinds of vocabularies, and none."""

from __future__ import annotations

import pytest

from bartviz.text.strings import from_strings


@pytest.mark.parametrize(
    ("strings", "text", "labels", "words"),
    [
        (["<s>", "I", "Ġwant", "ed", "</s>"], "I wanted", ("<s>", "I", "want", "⋯ed", "</s>"), (None, 0, 1, 1, None)),
        (["[CLS]", "un", "##do", "."], "undo.", ("[CLS]", "un", "⋯do", "."), (None, 0, 0, 1)),
        (["▁Ich", "▁kau", "fe", "<unk>"], "Ich kaufe<unk>", ("Ich", "kau", "⋯fe", "<unk>"), (0, 1, 1, 2)),
        (["the", "cat"], "the cat", ("the", "cat"), (0, 1)),
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
