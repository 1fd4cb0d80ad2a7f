"""Texts in capitals as they are usually written."""

from __future__ import annotations

import pytest

from bartviz.text.capitals import fewer, sentence_case


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("I WANT TO BUY A CAR.", "I want to buy a car."),
        ("STOP! CAN I GO HOME? WE'RE LATE.", "Stop! Can I go home? We're late."),
        ('"WHO AM I?" HE ASKED.', '"Who am I?" he asked.'),
        ("ÜBER DIE STRASSE. 3 KATZEN", "Über die strasse. 3 katzen"),
        ("나는 차를 산다", "나는 차를 산다"),
        ("", ""),
    ],
)
def test_a_text_in_capitals_is_read_as_it_is_usually_written(typed: str, read: str) -> None:
    assert sentence_case(typed) == read
    assert sentence_case(read) == read


@pytest.mark.parametrize(
    ("text", "count", "small"),
    [
        ("GO HOME", 9, 6),
        ("GO HOME", 8, None),
        ("HOME", 9, None),
        ("GO home", 9, None),
        ("12 34", 9, None),
        ("", 0, None),
    ],
)
def test_capitals_matter_where_they_fall_into_half_as_many_tokens_again(
    text: str, count: int, small: int | None
) -> None:
    assert fewer(text, count, lambda read: 6 if read == sentence_case(text) else count) == small
