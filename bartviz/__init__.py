"""See, step through and test attention in BERT, BART and their relatives.

    import bartviz

    model = bartviz.load("bart-tiny-en-de")
    record = bartviz.capture(model, "I want to buy a car.")
    record.cross.head(2, 5)                      # (target tokens, source tokens), rows sum to 1
    bartviz.figures.heads(record.cross, layer=2)

Names are loaded when they are first used: a saved record opens, and every figure draws, without torch.
"""

from __future__ import annotations

import ast
import builtins
from importlib import import_module
from pathlib import Path
from typing import Any


def _homes() -> dict[str, tuple[str, str]]:
    """The public names, as __init__.pyi lists them: name -> module, name there."""
    homes: dict[str, tuple[str, str]] = {}
    for line in ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8")).body:
        match line:
            case ast.ImportFrom(module=str(module), names=names):
                homes |= {alias.asname or alias.name: (module, alias.name) for alias in names}
            case ast.Assign(targets=[ast.Name(id=public)], value=ast.Name(id=own)):
                homes[public] = homes.pop(own)
    return homes


_HOMES = _homes()
__all__ = [name for name in sorted(_HOMES) if not hasattr(builtins, name)]  # import * leaves Python's own open alone


def __dir__() -> list[str]:
    return sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bartviz' has no attribute '{name}'")
    home, attribute = _HOMES[name]
    try:
        module = import_module(home if home != __name__ else f"{home}.{name}")
        if home != __name__ and not hasattr(module, attribute):
            import_module(f"{home}.{attribute}")  # a package within it, such as figures.paper
        value = module if home == __name__ else getattr(module, attribute)
    except ModuleNotFoundError as error:
        return _unavailable(name, import_module("bartviz.errors").needs(f"bartviz.{name}", error.name), error.name)
    except ValueError:  # the hub's library, with an HF_ENDPOINT that is no address
        import_module("bartviz.safety.addresses").check_hub()
        raise
    globals()[name] = value
    return value


def _unavailable(name: str, message: str, package: str | None) -> Any:
    """What stands for a function that needs a package that is not installed: it can be listed and described."""

    def function(*values: object, **options: object) -> Any:
        raise ModuleNotFoundError(message, name=package)

    function.__name__, function.__qualname__, function.__module__, function.__doc__ = name, name, __name__, message
    return function
