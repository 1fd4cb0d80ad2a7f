"""The ledger as a whole: every line of the list, verdicts that follow from numbers, the table, the languages."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.errors import SettingError
from bartviz.language import PSEUDO, _, speaking
from bartviz.teaching import textbook
from bartviz.teaching.textbook import CLAIMS
from bartviz.teaching.textbook.judging import CHAPTERS, SOURCES, Number, Verdict

NEED_A_MODEL = [
    "9b", "9c", "12g", "16b", "16d", "16e", "17", "18", "22", "22d", "24b", "25", "25c", "25d", "27", "28", "28b",
]  # fmt: skip
FAIL = ["3b", "4", "6", "8d", "12e", "13b", "14", "19b", "19c", "19d", "22b", "24", "25b", "29b"]


def test_all_35_lines_are_here_in_order() -> None:
    numbers = [int(re.sub(r"\D", "", line.number)) for line in CLAIMS]
    assert sorted(set(numbers)) == list(range(1, 36))
    assert numbers == sorted(numbers)
    assert len({line.number for line in CLAIMS}) == len(CLAIMS) == 85
    chapters = [list(CHAPTERS).index(line.chapter) for line in CLAIMS]
    assert chapters == sorted(chapters)


@pytest.mark.slow
def test_those_that_fail_and_those_that_wait_for_a_model() -> None:
    found = textbook.verdicts()
    assert [line.number for line in CLAIMS if line.number not in found] == NEED_A_MODEL
    assert [number for number, verdict in found.items() if verdict.word == "fails"] == FAIL
    assert [number for number, verdict in found.items() if verdict.word == "undecided"] == ["35", "35b"]
    assert textbook.tally(found) == {"holds": 26, "caveat": 26, "fails": 14, "undecided": 2}


@pytest.mark.slow
@pytest.mark.parametrize("line", CLAIMS, ids=lambda line: line.number)
def test_a_line_is_whole(line: textbook.Claim) -> None:
    assert line.title
    assert line.said.endswith((".", "in 1.1."))
    assert set(line.sources) <= set(SOURCES)
    assert line.sources
    verdict = textbook.verdict(line.number)
    if verdict is not None:
        assert verdict.numbers
        assert verdict.why.endswith(".")
        assert any(number.core for number in verdict.numbers) or line.number == "7"


def test_a_claim_of_no_article_has_no_other_source() -> None:
    """Neither a cache nor t squared is in any of them, and of masks the notes name whole, bigram and arbitrary ones."""
    assert [line.number for line in CLAIMS if "none" in line.sources] == ["34b"]
    assert all(line.sources == ("none",) for line in CLAIMS if "none" in line.sources)
    assert "prefix" not in textbook.claim("11").said


def one(agrees: bool, core: bool) -> Number:
    return Number("n", 1, 2, agrees, core)


@pytest.mark.slow
@given(st.lists(st.builds(one, st.booleans(), st.booleans()), min_size=1))
def test_a_verdict_follows_from_its_numbers(numbers: list[Number]) -> None:
    word = Verdict(tuple(numbers), "", "").word
    wrong = [number for number in numbers if not number.agrees]
    assert (word == "fails") == any(number.core for number in wrong)
    assert (word == "holds") == (not wrong)


def test_numbers_that_cannot_decide_a_claim_leave_it_open() -> None:
    assert Verdict((one(False, True),), "", "", decides=False).word == "undecided"
    assert Verdict((one(True, True),), "", "", decides=False).word == "undecided"


@pytest.mark.slow
def test_the_table() -> None:
    table = textbook.ledger()
    assert list(table["number"]) == [line.number for line in CLAIMS]
    assert table.set_index("number").loc["3b", "verdict"] == "fails"
    assert table["verdict"].isna().sum() == len(NEED_A_MODEL)
    wide = textbook.ledger(numbers=True)
    assert set(wide["number"]) == set(table["number"]) - set(NEED_A_MODEL)
    row = wide[(wide["number"] == "32") & wide["core"]].iloc[0]
    assert (row["claimed"], row["found"], row["agrees"]) == ("12,600,000", "12,582,912", True)


@pytest.mark.slow
def test_verdicts_of_a_model_are_included() -> None:
    more = {"17": Verdict((one(True, True),), "why", "basis")}
    assert textbook.ledger(more=more).set_index("number").loc["17", "verdict"] == "holds"


@pytest.mark.slow
def test_everything_that_is_read_is_looked_up_when_it_is_read() -> None:
    found = textbook.verdicts()
    with speaking(PSEUDO):
        for number, verdict in found.items():
            line = textbook.claim(number)
            for said in (line.title, line.said, line.source, _(verdict.why), _(verdict.basis)):
                assert said.startswith("⟦"), (number, said)
            assert all(_(one.label).startswith("⟦") for one in verdict.numbers), number
        assert textbook.ledger()["chapter"].str.startswith("⟦").all()


def test_a_line_that_is_not_there() -> None:
    with pytest.raises(SettingError, match="no line 36"):
        textbook.verdict("36")


@pytest.mark.parametrize(
    ("value", "said"),
    [(139_420_416, "139,420,416"), (0.4973, "0.4973"), (6.1e-22, "6.1e-22"), (1.0, "1"), ("<s>", "<s>")],
)
def test_numbers_as_they_are_read(value: float | str, said: str) -> None:
    assert textbook.text(value) == said
