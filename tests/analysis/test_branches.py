"""Two outputs side by side, in numbers that a person can check."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.analysis import branches
from bartviz.errors import RecordError
from bartviz.record.record import Record
from bartviz.record.steps import Candidate, Step
from tests.support import stand_in

IDS = {"Ich": 1, " kaufe": 2, " ein": 3, " Auto": 4, ".": 5, " möchte": 6, " kaufen": 7, "</s>": 0}


def output(*labels: str, p: float = 0.5) -> Record:
    """The stand-in's source with this output; each token has probability ``p`` and the id of its label."""
    base = stand_in.record(output=labels)
    chosen = [Candidate(IDS.setdefault(label, 100 + len(IDS)), label.strip(), p, 0.0) for label in labels]
    steps = tuple(Step(i, i, one, (one,), 1.0, math.log(p)) for i, one in enumerate(chosen))
    return replace(base, steps=steps)


MAIN = output("Ich", " kaufe", " ein", " Auto", ".", "</s>")


def test_where_they_part_and_meet() -> None:
    other = output("Ich", " möchte", " ein", " Auto", ".", "</s>")
    assert branches.course(MAIN, other) == branches.Course(1, (2, 2))


def test_they_may_meet_at_another_step() -> None:
    longer = output("Ich", " möchte", " kaufen", " ein", " Auto", ".", "</s>")
    assert branches.course(MAIN, longer) == branches.Course(1, (2, 3))


def test_a_common_end_token_is_not_a_convergence() -> None:
    assert branches.course(MAIN, output("Ich", " möchte", "</s>")) == branches.Course(1, None)


def test_the_same_text_does_not_part() -> None:
    assert branches.course(MAIN, MAIN) == branches.Course(None, None)
    assert branches.sentence(MAIN, MAIN) == "Both texts are identical."


def test_one_may_be_the_beginning_of_the_other() -> None:
    short = output("Ich", " kaufe")
    assert branches.course(MAIN, short) == branches.Course(2, None)
    assert "against the end" in branches.sentence(MAIN, short)


def test_the_sentence_weighs_whole_texts() -> None:
    other = output("Ich", " möchte", " ein", " Auto", ".", "</s>", p=0.25)
    said = branches.sentence(MAIN, other)
    assert "The two texts diverge at step 2: “kaufe” (50%) against “möchte” (25%)." in said
    assert "From step 3 on they are identical." in said
    assert "log p −4.16 against −8.32; the first is 64.0 times as probable." in said  # 0.5 ** 6 against 0.25 ** 6
    assert "the second is 64.0 times" in branches.sentence(other, MAIN)


def test_the_table_has_both_beside_each_other() -> None:
    found = branches.table(MAIN, output("Ich", " möchte", "</s>"))
    assert list(found["same"]) == [True, False, False, False, False, False]
    assert list(found["branch_token"][:3]) == ["Ich", "möchte", "</s>"]
    assert found["branch_token"].isna().sum() == 3
    assert found["main_running_log_probability"].iloc[-1] == pytest.approx(6 * math.log(0.5))


def test_two_sources_are_no_branches() -> None:
    with pytest.raises(RecordError, match="different sources"):
        branches.course(MAIN, stand_in.record(source=("<s>", "Hi", "</s>")))


words = st.lists(st.sampled_from(["Ich", " kaufe", " ein", "."]), min_size=1, max_size=6)


@pytest.mark.slow
@given(one=words, other=words)
def test_before_parting_and_after_meeting_they_are_the_same(one: list[str], other: list[str]) -> None:
    run = branches.course(output(*one), output(*other))
    if run.parts is None:
        assert one == other
        return
    assert one[: run.parts] == other[: run.parts]
    assert one[run.parts : run.parts + 1] != other[run.parts : run.parts + 1]
    if run.meets is not None:
        assert one[run.meets[0] :] == other[run.meets[1] :]
        assert min(run.meets) > run.parts
