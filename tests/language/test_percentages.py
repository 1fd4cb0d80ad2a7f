"""Percentages: a small share is not none, and nearly all is not all, in every sentence."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from bartviz.language import _, later, percentages, speaking
from scripts.words import ROOT, sources


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0%"),
        (0.0004, "<0.1%"),
        (0.0312, "3.1%"),
        (0.0996, "10%"),
        (0.2769, "28%"),
        (0.996, "99.6%"),
        (0.9995, ">99.9%"),
        (1.0, "100%"),
    ],
)
def test_percent_never_rounds_to_none_or_all(share: float, text: str) -> None:
    assert percentages.percent(share) == text


def test_a_change_of_log_p_is_what_is_left_of_a_hundred_per_cent() -> None:
    said = [percentages.of_before(float(np.log(times))) for times in (0.001, 0.25, 1, 2, 40)]
    assert said == ["<1%", "25%", "100%", "200%", "×40"]


@pytest.mark.parametrize("share", [0.0, 0.0004, 0.000996, 0.0312, 0.41, 0.9996, 1.0])
def test_a_message_writes_a_share_as_the_pages_do(share: float) -> None:
    assert _("{share:%} goes there", share=np.float32(share)) == f"{percentages.percent(share)} goes there"
    if 0 < share < 0.001 or 0.999 < share < 1:  # whatever digits a message asks for
        assert _("{share:.1%} goes there", share=share) == f"{percentages.percent(share)} goes there"


@pytest.mark.parametrize(
    ("share", "written"),
    [(0.0, "0%"), (0.0004, "<0.1%"), (0.004, "0.4%"), (0.0312, "3%"), (0.5, "50%"), (0.997, "99.7%"), (1.0, "100%")],
)
def test_a_message_rounds_no_share_to_none_or_all(share: float, written: str) -> None:
    for value in (share, np.float64(share), np.float32(share)):
        assert _("{share:.0%} goes there", share=value) == f"{written} goes there"
        assert later("{share:.0%} goes there", share=value) == f"{written} goes there"
    with speaking("ko"):
        assert _("{share:.0%} 이(가) 갑니다", share=share).startswith(written)


def test_other_formats_are_those_of_python() -> None:
    assert _("{a:.1%} {b:>4} {c:,} {d[0]}", a=0.666, b="x", c=1200, d=(7,)) == "66.6%    x 1,200 7"
    assert _("{a:.1%} {a:.0%}", a=0.0) == "0.0% 0%"
    assert _("{a:,.0%}", a=12.0) == "1,200%"


def test_shares_outside_of_messages_are_written_by_percent() -> None:
    """An f-string would round them; in the textbook every number is written with the digits of its claim."""
    rounded = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in sources()
        if "textbook" not in file.parts and "%}" in (text := file.read_text("utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FormattedValue) and node.format_spec and ast.unparse(node.format_spec).endswith("%'")
    ]
    assert rounded == []


def test_shares_that_may_be_added_up_have_one_decimal_each() -> None:
    shares = (0.0, 0.0004, 0.083, 0.0996, 0.917, 0.9995, 1.0)
    assert [percentages.tenths(share) for share in shares] == [
        *("0%", "<0.1%", "8.3%", "10.0%", "91.7%", ">99.9%", "100%")
    ]
