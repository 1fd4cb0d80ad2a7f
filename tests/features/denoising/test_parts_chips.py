"""Three lines of chips as HTML: one word a column, masks over their words, marks that need no colour, text escaped."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from bartviz.analysis.denoising import Noised, NoisedWord, words
from bartviz.analysis.repair_columns import Written, places
from bartviz.features.denoising.parts_chips import guess_lines, repair_lines

TEXT = "I want to buy a car"


def found(kept: list[tuple[str, tuple[int, ...]]], said: str, text: str = TEXT) -> Any:
    made = tuple(NoisedWord(word, origin, word == "<mask>") for word, origin in kept)
    shown = {word.origin[0] for word in made if not word.is_mask}
    lost = tuple(i for i in range(len(words(text))) if i not in shown)
    noised = Noised("by hand", text, " ".join(word.text for word in made), words(text), made, lost)
    written = [Written(word.text, 0.25) for word in words(said)]
    return SimpleNamespace(noised=noised, places=places(noised, written))


SPAN = [("I", (0,)), ("<mask>", (1, 2, 3)), ("a", (4,)), ("car", (5,))]


def columns(html: str) -> list[str]:
    return html.split("<div class='bv-column'>")[1:]


def test_a_mask_of_three_words_lies_over_three_columns() -> None:
    html = repair_lines(found(SPAN, "I drive a car"))
    assert len(columns(html)) == 6
    assert html.count("bv-lost") == 3
    assert html.count("bv-first") == 1
    assert html.count("bv-on") == 2
    assert html.count("bv-last") == 1
    assert html.count("∅") == 2  # one word for three


@pytest.mark.parametrize(
    "said", ["I want to drive a red car", "I I want to buy a a car", "so I want buy a new nice car"]
)
def test_an_added_word_takes_a_column_of_its_own_and_shifts_no_other(said: str) -> None:
    shown = found(SPAN, said)
    cells = [re.findall(r"<span[^>]*>([^<]*)", column) for column in columns(repair_lines(shown))]
    pairs = [pair for place in shown.places for pair in place.columns or ((None, None),)]
    above = ["" if clean is None else words(TEXT)[clean].text for clean, _ in pairs]
    below = ["∅" if written is None else written.text for _, written in pairs]
    assert [(line[0], line[2]) for line in cells] == list(zip(above, below, strict=True))
    assert [word for word in above if word] == [word.text for word in words(TEXT)]
    for word, written in zip(above, [written for _, written in pairs], strict=True):
        assert written is None or written.mark not in ("kept", "right") or written.text == word


def test_words_and_gaps_say_which_words_they_are_only_where_they_can_be_touched() -> None:
    html = repair_lines(found(SPAN, "I drive a car"), touchable=True)
    assert re.findall(r"data-words='([\d-]+)'", html) == [*"00", "1", "1-2-3", "2", "1-2-3", "3", "1-2-3", *"4455"]
    assert re.findall(r"aria-pressed='(\w+)'", html) == ["false", *["true"] * 3, *["false"] * 2]
    deleted: list[tuple[str, tuple[int, ...]]] = [(word, (at,)) for at, word in enumerate(TEXT.split()) if at != 1]
    assert repair_lines(found(deleted, TEXT), touchable=True).count("data-words='1'") == 2  # the word, and its hole
    assert "data-words" not in repair_lines(found(SPAN, "I drive a car"))


def test_a_word_keeps_its_colour_in_all_three_lines() -> None:
    """Counted as on the other pages, without signs; a word that the model puts in place of another one has none."""
    text = "c, a b"
    html = repair_lines(found([("<mask>", (0,)), (",", (1,)), ("b", (3,)), ("a", (2,))], "x, a b", text))
    drawn = re.findall(r"class='bv-chip[^>]*?(?:style='--word:var\(--bv-word(\d)\);' )?title='[^']*'>([^<]+)", html)
    colors: dict[str, set[str]] = {}
    for color, label in drawn:
        colors.setdefault(label, set()).add(color)
    assert colors["c"] == {"0"}
    assert colors["a"] == {"1"}
    assert colors["b"] == {"2"}
    assert {label for label, found_in in colors.items() if found_in == {""}} >= {",", "x"}


def test_a_mask_goes_to_the_next_line_as_a_whole() -> None:
    html = repair_lines(found(SPAN, "I drive a car"))
    assert html.count("bv-place") == 1
    whole = html.split("<div class='bv-place'>")[1].split("</div></div>")[0]
    assert whole.count("bv-first") == whole.count("bv-last") == 1


def test_marks_do_not_depend_on_colour() -> None:
    html = repair_lines(found(SPAN, "I want to drive a red car"))
    assert html.count("✓ 25%") == 2
    assert html.count("✗ 25%") == 1
    assert html.count("+ 25%") == 1
    assert "drive: a different word from the original, probability 0.250" in html


def test_a_deleted_word_has_nothing_in_the_second_line() -> None:
    html = columns(repair_lines(found([(w.text, (i,)) for i, w in enumerate(words(TEXT)) if i != 1], "I buy")))[1]
    assert html.count("∅") == 2
    assert "nothing here: deleted" in html


def test_more_words_than_were_lost_get_columns_of_their_own() -> None:
    html = columns(repair_lines(found([("<mask>", (0,)), ("b", (1,))], "x y z b", "a b")))
    assert len(html) == 4
    assert sum("&lt;mask&gt;" in column for column in html) == 1


def test_moved_words_carry_their_place() -> None:
    html = repair_lines(found([("c", (2,)), ("a", (0,)), ("b", (1,))], "a b c", "a b c"))
    assert re.findall(r"<sup>(\d)</sup>", html) == ["1", "3", "2", "1", "3", "2"]


def test_nothing_of_the_visitor_is_html() -> None:
    text = "<b> & 'x' \"y\""
    html = repair_lines(found([("<", (0,))], text, text)) + guess_lines(
        found([("<mask>", (0,))], "<", "<"), [[("<i>", 0.5)]]
    )
    assert "<b>" not in re.sub(r"<b>[^<]*</b> \d+% ✓", "", html).replace("<b>&lt;</b>", "")
    assert "<i>" not in html


def test_guesses_are_shown_next_to_the_original() -> None:
    html = guess_lines(found([("I", (0,)), ("<mask>", (1,))], "I want", "I want"), [[("Want", 0.5), ("am", 0.1)]])
    assert "<b>Want</b> 50% ✓" in html
    assert "am 10%" in html
    assert "<b>want</b> 25% ✓" in html
