"""What methods of attribution say of one word, and what a test makes of them: saved, as the lessons run no model.

``python -m training.judged`` makes the file. Letters in shapes: M methods, W words of the source.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bartviz.analysis.readonly import freeze
from bartviz.analysis.verdicts import BETTER
from bartviz.arrays import Bools, Floats
from bartviz.record import store
from bartviz.serving import first_record
from bartviz.serving.read_once import read_once

FILE: Path = first_record.FILE.with_name("judged.json")  # of the record "start"


@dataclass(frozen=True, eq=False)
class JudgedWord:
    """One token of a record, at ``row``, explained by ``methods`` (M,).

    ``words`` (W,): those of the source, and which are ``special``; ``values`` (M, W): what each method gives them.
    ``verdicts`` (M,): on all that was written from the text. ``chance``: the token's probability; ``without`` the words
    ``removed``, which leave-one-out names first; and ``at_random``, without as many others, ``drawn`` at random.
    """

    row: int
    methods: tuple[str, ...]
    words: tuple[str, ...]
    special: Bools
    values: Floats
    verdicts: tuple[str, ...]
    chance: float
    removed: tuple[str, ...]
    without: float
    drawn: tuple[str, ...]
    at_random: float

    def __post_init__(self) -> None:
        freeze(self)

    def of(self, method: str) -> Floats:
        """(W,) what a method gives each word."""
        row: Floats = self.values[self.methods.index(method)]
        return row

    def verdict(self, method: str) -> str:
        """What a method is worth on the text."""
        return self.verdicts[self.methods.index(method)]

    @property
    def failed(self) -> tuple[str, ...]:
        """The methods that are not better than chance."""
        return tuple(name for name, said in zip(self.methods, self.verdicts, strict=True) if said != BETTER)


@read_once
def judged() -> JudgedWord:
    """The saved numbers, read once per process."""
    return store.read_json(FILE, JudgedWord)
