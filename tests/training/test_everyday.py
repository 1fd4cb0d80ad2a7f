"""The everyday sentences, and which German is accepted."""

from __future__ import annotations

from collections import Counter

from training import everyday


def test_a_pattern_is_written_out() -> None:
    assert everyday.written_out("Ich (bin/war) müde.") == ["Ich bin müde.", "Ich war müde."]
    assert everyday.written_out("Er geht (noch/) zur Schule.") == ["Er geht noch zur Schule.", "Er geht zur Schule."]
    assert len(everyday.written_out("(a/b) (c/d/e)")) == 6


def test_the_final_mark_does_not_count_but_a_question_does() -> None:
    case = everyday.Case("x", "Stop.", frozenset({everyday.plain("Halt!")}))
    assert everyday.right(case, "Halt.")
    assert everyday.right(case, "Halt")
    assert not everyday.right(case, "Halt?")
    assert not everyday.right(case, "halt!")


def test_there_are_24_of_each_of_five_kinds_and_no_sentence_twice() -> None:
    cases = everyday.cases()
    counts = Counter(case.kind for case in cases)
    assert counts.pop(everyday.TWO) == 16
    assert list(counts.values()) == [24] * 5
    assert len({case.en for case in cases}) == len(cases)
    assert all(case.accepted and not any(c in "()/|" for text in case.accepted for c in text) for case in cases)


def test_counting_by_kind() -> None:
    cases = [everyday.Case("a", str(i), frozenset({str(i)})) for i in range(3)]
    assert everyday.by_kind(cases, lambda texts: [texts[0], "no", texts[2]]) == {"a": (2, 3)}
