"""Particles fit the pronunciation of what they follow; if that is unknown, both forms stay."""

from __future__ import annotations

import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.language import _, later, plural, speaking
from bartviz.language.korean_particles import PAIR, filled, sound
from bartviz.language.percentages import isolated

PAIRS = ("을(를)", "은(는)", "이(가)", "과(와)", "와(과)", "(으)로", "(이)라고")
AFTER = {
    "consonant": ("을", "은", "이", "과", "과", "으로", "이라고"),
    "ㄹ": ("을", "은", "이", "과", "과", "로", "이라고"),
    "vowel": ("를", "는", "가", "와", "와", "로", "라고"),
}
FILLED = {found: "".join(chosen) for found, chosen in AFTER.items()}
WORDS = st.text(string.ascii_letters, min_size=1, max_size=12)
SYLLABLES = st.integers(ord("가"), ord("힣")).map(chr)


@pytest.mark.parametrize("found", AFTER)
def test_each_pair_is_decided_by_what_it_follows(found: str) -> None:
    word = {"consonant": "집", "ㄹ": "물", "vowel": "차"}[found]
    assert tuple(filled("{x}" + pair, {"x": word})[1:] for pair in PAIRS) == AFTER[found]


@pytest.mark.parametrize(
    ("found", "texts"),
    [
        # 영, 삼, 육, 십, 백, 천, 만, 억; 0.50 is said 영 점 오 영
        ("consonant", "0 3 6 10 30 100 1,200 1000 10,000 3,000,000 100000000 0.53 -0.50 L0H3"),
        ("ㄹ", "1 7 8 21 1,208 0.87 -1.21 L1 H18"),  # 일 칠 팔
        ("vowel", "2 4 5 9 12 0.05 1,234 1000000000000 12% 99.5% GPT-2 L2H5"),  # 이 사 오 구, 조, 퍼센트
        ("consonant", "cat book step input output music back token time machine name column thumb king kaufen ein"),
        ("ㄹ", "model table people will whole small"),
        ("vowel", "car the query mask weight make great text check head Auto Haus eine alle ohne mit für Straße café"),
        ("consonant", "M n MN NaN"),  # 엠 엔
        ("ㄹ", "L r URL XML BPR"),  # 엘 알
        ("vowel", "A s q CLS BERT [CLS] [SEP] <mask> </s> &lt;/s&gt; GELU kB ⋯er n't"),
        ("consonant", "한국 “집” **집** `집` 집) [집] <b>집</b> 집. “집!” 집(차) 집(0.52) ㄱ : “;” “␣”"),
        ("vowel", "차 “차” **차** ‘차’ 차, 차(집) . , ? ! … ⋯ “⋯” “.” “,” '!' \\. ㅏ"),  # 마침표 쉼표
        ("ㄹ", "물 “서울” **물** 물(차) ㄹ"),
        (None, "😀 人 м _ ▁ ( “ - {row} %{y} <b>%{customdata[0]}</b> 10000000000000000"),
    ],
)
def test_how_a_text_is_read_aloud(found: str | None, texts: str) -> None:
    for text in texts.split():
        assert (text, sound(text)) == (text, found)


def test_an_aside_does_not_count_unless_it_is_all_there_is() -> None:
    assert filled("{x} (0.53)을(를)", {"x": "“Auto”"}) == "“Auto” (0.53)를"
    assert filled("{x}({at})이(가)", {"x": "“ein”", "at": 2}) == "“ein”(2)이"
    assert filled("{x}이(가)", {"x": "“(3)”"}) == "“(3)”이"


def test_what_cannot_be_read_keeps_both_and_does_not_look_further_back() -> None:
    assert filled("헤드 {x}을(를) {x}(으)로", {"x": "😀"}) == "헤드 😀을(를) 😀(으)로"
    assert filled("토큰 {x}을(를)", {"x": "_"}) == "토큰 _을(를)"


def test_a_value_stays_as_it_is() -> None:
    assert filled("{x}은(는) {n:.2f}(으)로 {{y}}", {"x": "집을(를)", "n": 0.3}) == "집을(를)은 0.30으로 {y}"


@pytest.mark.parametrize("value", ["Auto", "집", 3, "😀"])
def test_only_korean_is_asked(value: object) -> None:
    assert _("{row}은(는)", row=value) == f"{value}은(는)"
    with speaking("ko"):
        said = _("{row}은(는)", row=value)
        assert said == filled("{row}은(는)", {"row": value})
        assert plural("{count}은(는)", "{count}은(는)", 3) == "3은"


def test_korean_particles_of_later_messages_depend_on_their_values() -> None:
    said = later("{what}을(를)", what=later("Row"))
    with speaking("ko"):
        assert _(said) == "행을"
    assert said == "Row을(를)"


@given(SYLLABLES)
def test_a_syllable_is_read_as_unicode_decomposes_it(syllable: str) -> None:
    letters = unicodedata.normalize("NFD", syllable)
    expected = "vowel" if len(letters) == 2 else "ㄹ" if letters[2] == "\u11af" else "consonant"
    assert sound(syllable) == sound(letters) == expected


@given(st.integers(0, 10**12 - 1), st.booleans())
def test_a_number_is_read_as_its_name(number: int, commas: bool) -> None:
    assert sound(f"{number:,}" if commas else str(number)) == sound(name(number))


def name(number: int) -> str:
    """A number below 10^12 as it is said: 만 and 억 group it by four digits."""
    if number == 0:
        return "영"
    said = ""
    for group, unit in ((number // 10**8, "억"), (number // 10**4 % 10**4, "만"), (number % 10**4, "")):
        digits = zip(f"{group:04}", ("천", "백", "십", ""), strict=True)
        said += "".join("영일이삼사오육칠팔구"[int(digit)] + place for digit, place in digits if digit != "0")
        said += unit if group else ""
    return said


@pytest.mark.slow
@given(st.text(max_size=20), st.sampled_from(PAIRS))
def test_one_of_a_pair_or_both_and_nothing_else(value: str, pair: str) -> None:
    said, written = filled("{x}" + pair, {"x": value}), isolated(value)
    assert said.startswith(written)
    assert said[len(written) :] in {pair, *(chosen[PAIRS.index(pair)] for chosen in AFTER.values())}


@pytest.mark.slow
@given(WORDS | SYLLABLES, st.sampled_from(["“{}”", "**{}**", "`{}`", "‘{}’", "<b>{}</b>", "{} (0.5)", "{}."]))
def test_quotes_markup_and_asides_change_nothing(word: str, around: str) -> None:
    assert sound(around.format(word)) == sound(word) is not None


@pytest.mark.slow
@given(WORDS, WORDS)
def test_the_last_word_counts(first: str, last: str) -> None:
    assert sound(f"{first} {last}") == sound(last)
    assert not PAIR.search(filled("{x}은(는)", {"x": f"{first} {last}"}))
