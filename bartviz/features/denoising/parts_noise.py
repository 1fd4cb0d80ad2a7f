"""Which text is repaired on the denoising page, by which model, and what noise damages it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from bartviz.analysis.denoising import HIDES, MASK, NOISE, sentences
from bartviz.app.controls import pick, show
from bartviz.app.frame import levels
from bartviz.app.state import url_state
from bartviz.families.catalogue import entry
from bartviz.language import _, mark, named

if TYPE_CHECKING:
    from bartviz.record.record import ModelInfo, Record

DENOISER = "bart-tiny-denoise"
DENOISERS = (DENOISER, "facebook/bart-base", "facebook/bart-large")
NOISES = {
    "infilling": "text infilling",
    "masking": "token masking",
    "deletion": "token deletion",
    "permutation": "sentence permutation",
    "rotation": "document rotation",
}
NOISE_NAMES = {
    "infilling": mark("infilling"),
    "masking": mark("masking"),
    "deletion": mark("deletion"),
    "permutation": mark("permutation"),
    "rotation": mark("rotation"),
}
NOISE_PLAIN = {
    "infilling": mark("infilling: one <mask> for several words in a row"),
    "masking": mark("masking: single words, a <mask> for each"),
    "deletion": mark("deletion: words taken out without a trace"),
    "permutation": mark("permutation: the sentences shuffled"),
    "rotation": mark("rotation: the text begins in its middle"),
}
"""The same for a beginner, who reads in the list what they do."""
SENTENCE = "The children are playing in the garden because the weather is good today."
STORY = "The king had three sons. One day he sent them out into the world. Only the youngest came home again."
TEXTS = {"own": mark("current text"), "sentence": mark("one sentence"), "story": mark("three sentences")}
HIDDEN, NOTHING = "hidden", "none"  # in the address: "3-5", the words from 0
_DRAWN, _TRIES = "_denoising_drawn", 30  # the damaged texts that were shown; how many seeds are looked at for another
_BY_HAND = "_denoising_by_hand"  # the words that were hidden, and the draw that they belong to
SEED, FIRST_SEED, MOST_SEED = "noise_seed", 2, 9999  # the first: with it the denoiser repairs the first examples


@dataclass(frozen=True, slots=True)
class Chosen:
    """The text to repair, the model, and the corruption."""

    model: str
    text: str
    noise: str
    rate: float | None
    seed: int
    hidden: tuple[int, ...] | None = None  # the words that are lost by hand, instead of any at random

    @property
    def key(self) -> dict[str, object]:
        """Everything that a repair depends on besides the model's weights."""
        return {"model": self.model, "hidden": None if self.hidden is None else list(self.hidden), **self.draw}

    @property
    def draw(self) -> dict[str, object]:
        """What words are drawn at random from; those that are hidden by hand belong to it."""
        return {"text": self.text, "noise": self.noise, "rate": self.rate, "seed": self.seed}


def denoiser(info: ModelInfo) -> str:
    """The model that repairs: the chosen one if it is a BART that may have learned it, else the embedded one."""
    fits = info.source != "weights" and info.known.denoises and (info.name in DENOISERS or entry(info.name) is None)
    return info.name if fits else DENOISER


def choose(record: Record) -> Chosen:
    """The pickers: noise, share, seed, text."""
    told = levels.at_least("intermediate")
    if told:
        first, second = st.columns([3, 1.7], vertical_alignment="center")
        third, fourth, fifth = st.columns([2, 1, 2.6], gap="medium", vertical_alignment="center")
    else:  # the noise's own share; another seed comes with the button above
        first, second = st.columns(2, vertical_alignment="bottom")
        third = fourth = st.container(key="denoising_held")
        fifth = st.container()
    with first:
        label = _("Noise") if told else _("Damage")
        short = _one_of(label, named(NOISE_NAMES if told else NOISE_PLAIN), key="noise")
    noise = NOISES[short]
    with second:
        which = _one_of(_("Text"), named(TEXTS), key="text_of", default=_first_text(record))
    with third:
        rate = _rate(noise, short)
    with fourth:
        seed = _seed()
    text = {"own": record.source_text, "sentence": SENTENCE, "story": STORY}[which]
    sentences = [*([_(NOISE[noise].summary)] if told else []), *_notes(record, which, noise, text)]
    chosen = Chosen(denoiser(record.model), SENTENCE if MASK in text or "[MASK]" in text else text, noise, rate, seed)
    chosen = replace(chosen, hidden=_hidden(chosen))
    if sentences:
        with fifth:
            show.note(" ".join(sentences))
    return chosen


def draw_again(chosen: Chosen, *, hides: bool) -> None:
    """A button for another draw: above the picture, whose height depends on what was drawn. ``hides``: whether words
    are lost, or moved."""
    st.button(
        _("Damage other words") if hides else _("Another order"),
        key="noise_again",
        on_click=_again,
        args=(chosen,),
        width="stretch",
        help=_("Draw again at random."),
    )


def _hidden(chosen: Chosen) -> tuple[int, ...] | None:
    """The words that are hidden by hand (URL ``hidden``), until others are drawn; None where there are none."""
    if chosen.noise not in HIDES:
        return None
    if url_state.opened(HIDDEN) and (linked := url_state.asked(HIDDEN)):
        st.session_state[_BY_HAND] = chosen.draw, _numbers(linked[-1])
    draw, hidden = st.session_state.get(_BY_HAND, (None, None))
    found: tuple[int, ...] | None = hidden if draw == chosen.draw else None
    url_state.publish(HIDDEN, () if found is None else ("-".join(map(str, found)) or NOTHING,), ())
    return found


def _numbers(word: str) -> tuple[int, ...]:
    """Places of words as they are in an address or a browser's message: others are left out."""
    return tuple(sorted({int(one) for one in word.split("-") if one.isdecimal() and one.isascii() and len(one) < 6}))


def switch(chosen: Chosen, lost: Collection[int], word: str, count: int) -> None:
    """Hide the words of a chip that was touched, of ``count`` words, or show them again where they are ``lost``; one
    word is always left. The first word that is hidden by hand takes the place of those that were drawn at random."""
    touched = {one for one in _numbers(word) if one < count}
    by_hand = set(lost) if chosen.hidden is not None else set()
    after = set(lost) - touched if touched <= set(lost) else by_hand | touched
    if touched and len(after) < count:
        st.session_state[_BY_HAND] = chosen.draw, tuple(sorted(after))


def _one_of(label: str, options: Mapping[str, str], *, key: str, default: str | None = None) -> str:
    """A choice; in a list for a beginner, who has fewer things to look at."""
    if levels.at_least("intermediate"):
        return pick.one_of(label, options, key=key, default=default)
    return pick.select(label, options, key=key, default=default)


def _first_text(record: Record) -> str:
    text = record.source_text
    return "sentence" if MASK in text or "[MASK]" in text else "own"


def _notes(record: Record, which: str, noise: str, text: str) -> list[str]:
    """Notes on this choice."""
    notes, name, other = [], record.model.name, denoiser(record.model)
    if other != name:
        notes.append(_("{name} was not trained to repair text, so {other} does it here.", name=name, other=other))
    elif name not in DENOISERS:
        notes.append(_("Whether {name} was trained to repair text is not known.", name=name))
    if which == "own" and (MASK in text or "[MASK]" in text):
        notes.append(
            _("Your text already contains masks; this page needs an undamaged one, so an example is used instead.")
        )
    elif noise == "sentence permutation" and len(sentences(text)) < 2:
        notes.append(_("This text is one sentence: use three sentences."))
    return notes


def _rate(noise: str, short: str) -> float | None:
    own = NOISE[noise].rate
    if own is None:
        show.note(_("This noise has no share: it moves words without removing any."))
        return None
    hint = _("Of the words; BART's own choice here is {share:.0%}.", share=own)
    return pick.index(_("Share lost, %"), 101, key=f"share_{short}", default=round(100 * own), hint=hint) / 100


def _seed() -> int:
    url_state.carry(SEED, FIRST_SEED)
    wrong = url_state.within(SEED, 0, MOST_SEED)
    hint = _("The same seed removes the same words.")
    seed = int(st.number_input(_("Seed"), 0, MOST_SEED, FIRST_SEED, key=SEED, bind="query-params", help=hint))
    url_state.keep(SEED, seed, FIRST_SEED)
    url_state.number(SEED, wrong, seed)
    return seed


def _again(chosen: Chosen) -> None:
    """Draw again: a callback. What was shown before comes again only once all has been shown."""
    of = (chosen.text, chosen.noise, chosen.rate)
    before, shown = st.session_state.get(_DRAWN, (of, frozenset[str]()))
    seed, shown = another(chosen, shown if before == of else frozenset())
    st.session_state[SEED], st.session_state[_DRAWN] = seed, (of, shown)


def another(chosen: Chosen, shown: frozenset[str]) -> tuple[int, frozenset[str]]:
    """The next seed whose damaged text was not ``shown`` yet, or, where there is none near, is not the present one; and
    all that is shown with it."""
    now = _damaged(chosen, chosen.seed)
    seeds = [(chosen.seed + step) % (MOST_SEED + 1) for step in range(1, _TRIES + 1)]
    for known in (shown | {now}, frozenset({now})):
        for seed in seeds:
            text = _damaged(chosen, seed)
            if text not in known:
                return seed, known | {text}
    return seeds[0], frozenset({now})


def _damaged(chosen: Chosen, seed: int) -> str:
    return NOISE[chosen.noise](chosen.text, np.random.default_rng(seed), chosen.rate).text
