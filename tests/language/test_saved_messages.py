"""What was said in English and saved is told in the reader's language, with the same values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.language import _, known, later, speaking
from bartviz.language.saved_messages import retold

NOTICES = (
    later("The first {count:,} of {all:,} tokens are shown.", count=512, all=1340),
    later("{share:.0%} of the tokens are unknown to this model: it cannot tell them apart.", share=0.4),
    later("The configuration asks for {words}: ignored.", words="num_labels, id2label"),
    later(
        "{reason} The copy of an earlier download is used (commit {commit}).",
        commit="ab1",
        reason=later("The hub asks us to pause for {seconds:g} seconds: too many requests.", seconds=30),
    ),
    "NUL characters were removed.",
)


@pytest.mark.parametrize("notice", NOTICES)
def test_a_notice_is_told_as_if_it_had_never_been_saved(notice: str) -> None:
    saved = str(notice)
    with speaking("ko"):
        told = _(retold(saved))
        assert told == _(notice)
        assert any("가" <= letter <= "힣" for letter in told)
    assert _(retold(saved)) == retold(saved) == saved


@pytest.mark.parametrize("said", ["", "Ich will.", "A sentence that nobody here has ever said.", "of . is ."])
def test_what_nobody_said_stays_as_it_is(said: str) -> None:
    with speaking("ko"):
        assert retold(said) is said
        assert _(retold(said)) == said


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.text(st.characters(codec="ascii"), min_size=1, max_size=9))
def test_values_come_through_as_they_were_written(count: int, every: int, word: str) -> None:
    shown = later("The last {count:,} of {all:,} tokens are shown.", count=count, all=every)
    asked = later("The configuration asks for {words}: ignored.", words=word)
    with speaking("ko"):
        assert _(retold(str(shown))) == _(shown)
        assert _(retold(str(asked))) == _(asked)


def test_only_what_has_a_translation_is_known() -> None:
    assert "NUL characters were removed." in known("ko")
    assert known("en") == ()
