"""A repair as HTML: three aligned lines of chips, and the guesses for each mask. All texts are escaped here."""

from __future__ import annotations

import html
import itertools
from collections.abc import Sequence

from bartviz.analysis.repair_columns import Place, Said
from bartviz.analysis.repairs import Repair
from bartviz.analysis.word_colors import NONE
from bartviz.drawing.colors import underline
from bartviz.language import _, mark, plural
from bartviz.language.percentages import percent
from bartviz.text.labels import visible
from bartviz.text.tokens import direction

NAMES = (mark("original"), mark("damaged"), mark("repaired"), "")
MARKS = {"kept": "", "right": "✓", "wrong": "✗", "added": "+"}
VERDICTS = {
    "kept": mark("copied"),
    "right": mark("put back"),
    "wrong": mark("a different word from the original"),
    "added": mark("added"),
}

# What a chip's class means to a reader; only those that a repair has are explained.
LEGEND = {
    "bv-lost": mark("A crossed-out word was lost."),
    "bv-mask": mark("<mask> is a gap for the model to fill."),
    "bv-right": mark("✓\u00a0marks a word put back; the number is how sure the model was."),
    "bv-wrong": mark("✗\u00a0marks another word."),
    "bv-added": mark("+\u00a0marks an added word."),
    "bv-none": mark("∅\u00a0means nothing."),
}

EDGES = 2  # letters that are as wide as the edges of a chip and the room between two


def repair_lines(repair: Repair, *, touchable: bool = False) -> str:
    """Original, damaged and repaired words, column by column. ``touchable``: words and gaps say which of the original's
    words they are, and those of the first line are buttons."""
    names = "".join(f"<span>{_(name)}</span>" for name in NAMES)
    numbers = _numbered(repair)
    columns = [_together(_columns(repair, place, numbers, touchable)) for place in repair.places]
    label = html.escape(_("Original, damaged and repaired words, column by column"), quote=True)
    stop = "" if touchable else " tabindex='0'"  # a stop of Tab, as long lines scroll: else a word is one
    return (
        f"<div class='bv-text bv-repair' role='group' aria-label='{label}'{stop} "
        f"dir='{direction(word.text for word in repair.noised.clean)}' style='--letters: {_letters(repair)}'>"
        f"<div class='bv-column bv-names'>{names}</div><div class='bv-columns'>{''.join(columns)}</div></div>"
    )


def _letters(repair: Repair) -> int:
    """About the width of the lines in letters, the edges of chips included: the style makes them as large as fits."""
    clean, seen = repair.noised.clean, repair.noised.words
    width = 0
    for place in repair.places:
        pairs = place.columns or ((None, None),)
        longest = [
            max(len(clean[above].text) if above is not None else 1, len(below.text) if below is not None else 1)
            for above, below in pairs
        ]
        masks = sum(len(seen[at].text) for at in place.seen if seen[at].is_mask)
        width += max(sum(longest) + EDGES * len(longest), masks)
    return width


def _numbered(repair: Repair) -> list[int]:
    """The number of each clean word's colour, counted as in ``analysis.word_colors``; a sign has none."""
    count = itertools.count()
    return [next(count) if any(map(str.isalnum, word.text)) else NONE for word in repair.noised.clean]


def _together(columns: list[str]) -> str:
    """The columns of a place in one box, which goes to the next line as a whole: a mask over them is not torn."""
    return columns[0] if len(columns) == 1 else f"<div class='bv-place'>{''.join(columns)}</div>"


def _columns(repair: Repair, place: Place, numbers: Sequence[int], touchable: bool) -> list[str]:
    """A place as columns of one word each, so that a long one can wrap between words. ``numbers``: of the colours of
    the clean words, which a word keeps wherever it comes back."""
    noised, lost = repair.noised, set(repair.noised.lost)
    numbered = bool(noised.moved)
    pairs = place.columns or ((None, None),)  # a mask for which nothing was lost and nothing written
    columns = []
    for number, (clean, written) in enumerate(pairs):
        above = (
            "<span></span>"
            if clean is None
            else _chip(
                noised.clean[clean].text,
                ["bv-lost"] if clean in lost else [],
                _("lost") if clean in lost else "",
                clean + 1 if numbered else None,
                numbers[clean],
                _button(clean, clean in lost) if touchable else "",
            )
        )
        seen = _corrupted_chip(repair, place, (clean, number, len(pairs)), numbers, touchable)
        back = clean is not None and written is not None and written.mark in ("kept", "right")
        columns.append(f"{above}{seen}{_written_chip(written, numbers[clean] if back and clean is not None else NONE)}")
    return [f"<div class='bv-column'>{column}</div>" for column in columns]


def _button(word: int, lost: bool) -> str:
    return f" role='button' tabindex='-1' aria-pressed='{str(lost).lower()}' data-words='{word}'"


def _corrupted_chip(
    repair: Repair, place: Place, column: tuple[int | None, int, int], numbers: Sequence[int], touchable: bool
) -> str:
    """The corrupted word of a column: its clean word, its number, and how many there are, which a mask reaches over."""
    clean, number, count = column
    numbered = bool(repair.noised.moved)
    if not place.seen:
        words = f" data-words='{clean}'" if touchable else ""
        return "<span></span>" if clean is None else _nothing(_("nothing here: deleted"), words)
    word = repair.noised.words[place.seen[0]]
    words = f" data-words='{'-'.join(map(str, word.origin))}'" if touchable and word.origin else ""
    if not word.is_mask:
        (origin,) = word.origin
        chip = _chip(word.text, [], "", origin + 1 if numbered else None, numbers[origin], words)
        return chip if number == 0 else "<span></span>"
    if number:
        last = " bv-last" if number == count - 1 else ""
        title = html.escape(_("the same mask"), quote=True)
        return f"<span class='bv-chip bv-mask bv-on{last}'{words} title='{title}'>&#160;</span>"
    lost = len(word.origin)
    tooltip = (
        plural("one mask for {count} word", "one mask for {count} words", lost)
        if lost
        else _("a mask where nothing was missing")
    )
    return _chip(word.text, ["bv-mask", "bv-first"] if count > 1 else ["bv-mask"], tooltip, attributes=words)


def _written_chip(written: Said | None, color: int) -> str:
    if written is None:
        return f"{_nothing(_('the model wrote nothing here'))}<span></span>"
    tooltip = _(
        "{judged}, probability {probability:.3f}", judged=_(VERDICTS[written.mark]), probability=written.probability
    )
    below = "" if written.mark == "kept" else f"{MARKS[written.mark]} {html.escape(percent(written.probability))}"
    return f"{_chip(written.text, [f'bv-{written.mark}'], tooltip, color=color)}<span class='bv-mark'>{below}</span>"


def _nothing(tooltip: str, attributes: str = "") -> str:
    return f"<span class='bv-chip bv-none'{attributes} title='{html.escape(tooltip, quote=True)}'>∅</span>"


def _chip(
    text: str, names: list[str], tooltip: str, number: int | None = None, color: int = NONE, attributes: str = ""
) -> str:
    title, label = f"{text}: {tooltip}" if tooltip else text, html.escape(visible(text))
    if "bv-first" in names:
        label = f"<i>{label}</i>&#160;"  # the style centres it over all columns; the space keeps the chip's height
    small = "" if number is None else f"<sup>{number}</sup>"
    style = f" style='{underline(color)}'" if color != NONE else ""
    return (
        f"<span class='{' '.join(['bv-chip', *names])}'{style}{attributes} title='{html.escape(title, quote=True)}'>"
        f"{label}{small}</span>"
    )


def guess_lines(repair: Repair, guesses: Sequence[Sequence[tuple[str, float]]]) -> str:
    """For each mask: the original, BART's words, and BERT's guesses, best first."""
    noised = repair.noised
    places = [place for place in repair.places if any(noised.words[i].is_mask for i in place.seen)]
    rows = []
    for number, (place, candidates) in enumerate(zip(places, guesses, strict=False), start=1):
        was = [noised.clean[i].text for i in place.clean]
        bart = [_guess(word.text, word.probability, word.mark == "right") for word in place.said] or [
            html.escape(_("nothing"))
        ]
        alone = was[0].casefold() if len(was) == 1 else None
        bert = [_guess(label, chance, label.casefold() == alone) for label, chance in candidates]
        cells = (str(number), html.escape(" ".join(was) or _("nothing")), "".join(bart), "".join(bert))
        rows.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    names = (_("mask"), _("original"), _("BART writes"), _("BERT's five best"))
    head = "".join(f"<th scope='col'>{html.escape(name)}</th>" for name in names)
    table = f"<table class='bv-guesses'><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f"<div class='bv-wide' tabindex='0'>{table}</div>"


def _guess(text: str, probability: float, right: bool) -> str:
    mark = " ✓" if right else ""
    name = f"<b>{html.escape(visible(text))}</b>" if right else html.escape(visible(text))
    return f"<span class='bv-guess'>{name} {html.escape(percent(probability))}{mark}</span>"
