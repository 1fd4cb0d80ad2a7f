"""The atlases that ship: embedded models over sentences that they were not trained on."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from bartviz.corpus.atlas import Atlas, open_atlas
from bartviz.language import mark

FOLDER = Path(__file__).parents[1] / "embedded" / "atlases"
SOURCE = mark(
    "Contains sentences from Tatoeba (tatoeba.org) via manythings.org/anki, CC BY 2.0 FR, cleaned and filtered."
)
PAIRS = mark("English–German sentence pairs that were not used in training")
SENTENCES = mark("English sentences that were not used in training")
NAMES = ("bart-tiny-en-de", "bart-tiny-denoise", "bert-tiny-en")


@cache
def atlas(name: str) -> Atlas:
    """The atlas of an embedded model, one of ``NAMES``. Raises SettingError for another one.

    It is read once, and its tables are not to be changed.
    """
    return open_atlas(FOLDER / name)
