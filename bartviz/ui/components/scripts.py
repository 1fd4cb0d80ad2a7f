"""The scripts of a component, joined into the one module that the browser gets: there is no bundler."""

from __future__ import annotations

from pathlib import Path

SHARED = ("../shared/words.js", "../shared/colors.js", "../shared/drawing.js", "../shared/steps.js")


def joined(folder: Path, names: tuple[str, ...]) -> str:
    """The files ``names`` of a component's ``folder``, in this order."""
    return "\n".join((folder / name).read_text("utf-8") for name in names)
