"""One folder for each thing that a reader meets: its numbers, figures, page, explanation, messages and style."""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


@cache
def with_part(name: str) -> tuple[Any, ...]:
    """The modules of this name, of those features that have one."""
    found = sorted(Path(__file__).parent.glob(f"*/{name}.py"))
    return tuple(import_module(f"{__name__}.{file.parent.name}.{name}") for file in found)
