"""The question which noise function corrupted a text; other options could not have produced the same text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
from numpy.random import Generator

from bartviz.analysis import denoising
from bartviz.analysis.denoising import MASK, NOISE, Noised
from bartviz.features.quiz.question import Maker, Material, Option, Question, Subject, drawn, shuffled
from bartviz.language import later

FEWEST, LONGEST = 4, 48
"""The least and the largest number of words of a text."""
WORDS = {
    "token masking": "masking",
    "token deletion": "deletion",
    "text infilling": "infilling",
    "sentence permutation": "permutation",
    "document rotation": "rotation",
}
"""The words of the denoising page's address."""
SENTENCES = 6
"""The most sentences whose orders are all tried."""
_TRIES = 8


def _names(material: Material) -> list[Subject]:
    return [(name,) for name in NOISE] if _text(material.record.source_text) is not None else []


def _ask(material: Material, random: Generator, subject: Subject) -> Question | None:
    """Which noise function made the second text from the first?"""
    text, [name] = _text(material.record.source_text), subject
    assert text is not None
    assert isinstance(name, str)
    for _try in range(_TRIES):
        seed = int(random.integers(10_000))
        made = NOISE[name](text, np.random.default_rng(seed))
        if made.text == text or not could(name, made):
            continue
        others = [other for other in NOISE if other != name and not could(other, made)]
        if len(others) < 2:
            continue
        options, answer = shuffled(
            random, _named(name), [_named(others[place]) for place in drawn(random, range(len(others)), 3)]
        )
        prompt = later(
            "A noise function of BART's training made “{noised}” of “{text}”. Which one?", noised=made.text, text=text
        )
        query = {"noise": WORDS[name], "text_of": "own", "noise_seed": str(seed)}
        about = {"noise": name, "text": text, "noised": made.text, "seed": seed}
        return Question("noise", prompt, options, answer, SAYS[name](), "denoising", query, about=about)
    return None


def _text(source: str) -> str | None:
    """The text, or as many of its first sentences as are short enough; None if too little is left."""
    if MASK in source or "[MASK]" in source:
        return None
    words = denoising.words(source)
    ends = [end for _, end in denoising.sentences(source) if FEWEST <= end <= LONGEST]
    return source[: words[ends[-1] - 1].end] if ends else None


SAYS = {
    "token masking": lambda: later("Token masking: every lost word is replaced by its own mask."),
    "token deletion": lambda: later("Token deletion: words are missing, and nothing marks their positions."),
    "text infilling": lambda: later("Text infilling: one mask stands for a span of words, or for none at all."),
    "sentence permutation": lambda: later("Sentence permutation: whole sentences, in another order."),
    "document rotation": lambda: later(
        "Document rotation: the text begins elsewhere, and its beginning is at the end."
    ),
}


def _named(name: str) -> Option:
    names = {
        "token masking": later("token masking"),
        "token deletion": later("token deletion"),
        "text infilling": later("text infilling"),
        "sentence permutation": later("sentence permutation"),
        "document rotation": later("document rotation"),
    }
    return Option(names[name], SAYS[name](), name)


def could(name: str, made: Noised) -> bool:
    """Whether that noise function could have produced this text from the clean one."""
    clean, left = [word.text for word in made.clean], [word.text for word in made.words]
    masks = left.count(MASK)
    if name == "token masking":
        same = len(left) == len(clean) and all(b in (a, MASK) for a, b in zip(clean, left, strict=True))
        return same and masks > 0
    if name == "text infilling":
        return masks > 0 and _inside([word for word in left if word != MASK], clean)
    if masks:
        return False
    if name == "token deletion":
        return len(left) < len(clean) and _inside(left, clean)
    if name == "document rotation":
        return any(left == clean[first:] + clean[:first] for first in range(1, len(clean)))
    spans = [clean[first:end] for first, end in denoising.sentences(made.source)]
    if len(spans) > SENTENCES:
        return sorted(left) == sorted(clean)
    return any(left == [word for span in order for word in span] for order in list(permutations(spans))[1:])


def _inside(words: Sequence[str], clean: Sequence[str]) -> bool:
    """Whether the words are a subsequence of the clean text."""
    rest = iter(clean)
    return all(word in rest for word in words)


noise = Maker(_names, _ask)
