"""What no run of a visitor changes is judged once; it is what judging with a run gives."""

from __future__ import annotations

import pytest

from bartviz.features import textbook
from bartviz.features.textbook.judging import AsksForRun, Evidence, NoRun
from bartviz.serving import saved_records as records


@pytest.mark.parametrize("name", ["start", "words"])
def test_the_verdicts_are_those_of_judging_every_line_by_the_run(name: str) -> None:
    record = records.read(name)
    evidence = Evidence(record)
    every = {line.number: line.judged(line.check(evidence)) for line in textbook.CLAIMS if line.check is not None}
    found = textbook.verdicts(record)
    assert list(found) == list(every)
    assert {number: repr(one) for number, one in found.items()} == {number: repr(one) for number, one in every.items()}


def test_no_run_is_given_to_who_asks_for_one() -> None:
    for ask in (NoRun().read, NoRun().written):
        with pytest.raises(AsksForRun):
            ask()
    assert NoRun().shipped("start")[0].model.name == "bart-tiny-en-de"
