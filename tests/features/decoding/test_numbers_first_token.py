"""Two decodings with different first tokens: the words said of them are those of the records."""

from __future__ import annotations

import bartviz
from bartviz.features.decoding import numbers_first_token as numbers
from bartviz.run.branches import restarted
from tests.support import loaded, stand_in


def test_the_same_text_is_called_the_same() -> None:
    record = stand_in.record()
    assert "writes the same text" in numbers.sentence(record, record)
    assert numbers.differing(record, record) == 0


def test_the_first_free_step_of_both_is_compared() -> None:
    model = loaded.model("bart")
    record = bartviz.decode(model, "The cat is sleeping.", max_new_tokens=6)
    other = restarted(model, record, 7)
    frame = numbers.table(record, other)
    one, two = numbers.first_free(record), numbers.first_free(other)
    assert one.rule is None
    assert set(frame["token"]) == {candidate.label for step in (one, two) for candidate in step.candidates}
    assert frame["own"].max() == one.candidates[0].probability
    assert frame["other"].max() == two.candidates[0].probability
    assert frame[["own", "other"]].max(axis=1).is_monotonic_decreasing
    assert f"“{other.attention('decoder').query.labels[0]}” first" in numbers.sentence(record, other)
