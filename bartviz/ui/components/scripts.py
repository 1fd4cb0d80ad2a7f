"""The scripts of a component, joined into the one module that the browser gets: there is no bundler."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

SHARED = ("../shared/words.js", "../shared/colors.js", "../shared/drawing.js", "../shared/steps.js")


def joined(folder: Path, names: tuple[str, ...]) -> str:
    """The files ``names`` of a component's ``folder``, in this order."""
    return "\n".join((folder / name).read_text("utf-8") for name in names)


class _Place(int):
    """A number that a message keeps a place for: a script fills it in."""

    def __format__(self, spec: str) -> str:
        return "{count}"


def both(said: Callable[[int], str]) -> list[str]:
    """A message that depends on a number which only the script knows: for one, and for several."""
    return [said(_Place(1)), said(_Place(2))]
