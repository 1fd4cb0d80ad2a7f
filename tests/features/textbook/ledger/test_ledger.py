"""The ledger as a whole: every line of the list, verdicts that follow from numbers, the table, the languages."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.errors import SettingError
from bartviz.features import textbook
from bartviz.features.textbook import CLAIMS
from bartviz.features.textbook.judging import CHAPTERS, SOURCES, Between, Claim, Number, Share, Verdict, above, text
from bartviz.language import PSEUDO, _, speaking

NEED_A_MODEL = [
    "5c", "9b", "9c", "12g", "15c", "16b", "16d", "16e", "17", "17b", "18", "22", "22b", "22d", "24b", "25", "25c",
    "25d", "27", "28", "28b", "30c", "31d", "31e", "35d",
]  # fmt: skip
TRAINED = ["15c", "16d", "16e", "20", "24b", "25b", "26", "27", "28b", "35", "35b", "35d"]


def test_all_35_lines_are_here_in_order() -> None:
    numbers = [int(re.sub(r"\D", "", line.number)) for line in CLAIMS]
    assert sorted(set(numbers)) == list(range(1, 36))
    assert numbers == sorted(numbers)
    assert len({line.number for line in CLAIMS}) == len(CLAIMS) == 97
    chapters = [list(CHAPTERS).index(line.chapter) for line in CLAIMS]
    assert chapters == sorted(chapters)


def test_what_large_networks_learn_is_what_a_small_one_cannot_decide() -> None:
    assert [line.number for line in CLAIMS if line.about == "trained"] == TRAINED
    numbers = (Number("n", 1, 1),)
    for line in CLAIMS:
        small, large = (line.judged(Verdict(numbers, "So.", "", large=size)).word for size in (None, True))
        assert (small, large) == ("undecided" if line.number in TRAINED else "holds", "holds")


def printed(one: Number) -> bool | None:
    """Whether a row's own texts agree, as a reader would say; None where rounding hides it."""
    claimed, found = one.stated.replace(",", ""), text(one.found).replace(",", "")
    if any(not re.search(r"\d", side) or " " in found for side in (claimed, found)):
        return claimed == found if " " in found or not claimed.startswith(("<", ">", "≤", "≥")) else None

    def value(text: str) -> float:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)

    try:
        number = value(found)
        if " – " in claimed:
            low, high = map(value, claimed.split(" – "))
            return low <= number <= high
        if claimed[0] in "<>≤≥":
            bound = value(claimed[2:])
            if number == bound:
                return None if claimed[0] in "<>" and isinstance(one.found, float) else claimed[0] in "≤≥"
            return (number < bound) == (claimed[0] in "<≤")
        exact, _plus, within = claimed.partition(" ± ")
        if not within:
            return number == value(exact)
        away = value(within) * (abs(value(exact)) if within.endswith("%") else 1)
        return abs(number - value(exact)) <= away * (1 + 1e-3)
    except ValueError:  # names, such as 6 6 6
        return claimed == found


@pytest.mark.slow
def test_no_tick_is_refuted_by_its_own_row() -> None:
    found = textbook.verdicts()
    for number, verdict in found.items():
        for one in verdict.numbers:
            assert printed(one) in (one.agrees, None), (number, one.label, one.stated, text(one.found))


def test_a_row_that_is_read_is_one_that_can_be_refuted() -> None:
    assert printed(Number("n", 5, 4)) is False
    assert printed(Number("n", 4, 3.5, within=Share(0.02))) is False
    assert printed(Number("n", above(Share(0.5)), Share(0.4998))) is False
    assert printed(Number("n", Between(1, 2), 2)) is True


@pytest.mark.slow
@pytest.mark.parametrize("line", CLAIMS, ids=lambda line: line.number)
def test_a_line_is_whole(line: Claim) -> None:
    assert line.title
    assert line.said.endswith((".", "in 1.1."))
    assert set(line.sources) <= set(SOURCES)
    assert line.sources
    verdict = textbook.verdict(line.number)
    if verdict is not None:
        assert verdict.numbers
        assert verdict.why.endswith(".")
        assert any(number.core for number in verdict.numbers)


def test_a_claim_of_no_article_has_no_other_source() -> None:
    """Neither a cache nor t squared is in any of them, and of masks the notes name whole, bigram and arbitrary ones."""
    assert [line.number for line in CLAIMS if "none" in line.sources] == ["34b", "35c", "35e"]
    assert all(line.sources == ("none",) for line in CLAIMS if "none" in line.sources)
    assert "prefix" not in textbook.claim("11").said


def one(agrees: bool, core: bool) -> Number:
    return Number("n", 1, 1 if agrees else 2, core)


@pytest.mark.slow
@given(
    st.lists(st.builds(one, st.booleans(), st.booleans()), min_size=1).filter(lambda found: any(x.core for x in found))
)
def test_a_verdict_follows_from_its_numbers(numbers: list[Number]) -> None:
    word = Verdict(tuple(numbers), "", "").word
    wrong = [number for number in numbers if not number.agrees]
    assert (word == "fails") == any(number.core for number in wrong)
    assert (word == "holds") == (not wrong)


def test_beside_the_claim_alone_is_no_verdict() -> None:
    with pytest.raises(ValueError, match="stands or falls"):
        Verdict((one(True, False),), "", "")


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
    assert (row["claimed"], row["found"], row["agrees"]) == ("12,600,000 ± 2%", "12,582,912", True)


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
    with pytest.raises(SettingError, match="no statement 36"):
        textbook.verdict("36")


@pytest.mark.parametrize(
    ("value", "said"),
    [(139_420_416, "139,420,416"), (0.4973, "0.4973"), (6.1e-22, "6.1e-22"), (1.0, "1"), ("<s>", "<s>")],
)
def test_numbers_as_they_are_read(value: float | str, said: str) -> None:
    assert text(value) == said
