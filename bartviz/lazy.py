"""Public names that are loaded when they are first used, listed once, in the ``.pyi`` file of a package."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

FEATURES = Path(__file__).parent / "features"
Homes = dict[str, tuple[str, str]]


def homes(file: str) -> Homes:
    """The public names of the package with this ``__init__.py``: name -> module, name there."""
    found: Homes = {}
    for line in ast.parse(Path(file).with_suffix(".pyi").read_text("utf-8")).body:
        match line:
            case ast.ImportFrom(module=str(module), names=names) if _is_there(module):
                found |= {alias.asname or alias.name: (module, alias.name) for alias in names}
            case ast.Assign(targets=[ast.Name(id=public)], value=ast.Name(id=own)):
                found[public] = found.pop(own)
    return found


def _is_there(module: str) -> bool:
    """False for a module of a feature whose folder has been deleted: its figures are gone with it."""
    feature = module.removeprefix("bartviz.features.").split(".", maxsplit=1)[0]
    return not module.startswith("bartviz.features.") or (FEATURES / feature).is_dir()


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package. ``import *`` leaves Python's own ``open`` alone."""
    listed = homes(file)
    for name, home in listed.items():
        if home != (package, name) and Path(file).with_name(name).is_dir():
            _give_way(package, name)

    def get(name: str) -> Any:
        if name not in listed:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        home, attribute = listed[name]
        value = _loaded(package, name, home, attribute)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(listed), [name for name in sorted(listed) if not hasattr(builtins, name)]


def _give_way(package: str, name: str) -> None:
    """Where a public name is also that of a folder of modules, as ``bartviz.corpus``, leave the attribute to the public
    name. Python sets a folder as an attribute of its package when it is first imported, and never again: so it is
    imported now, and the attribute removed. ``from bartviz.corpus.read import Line`` does not look at it."""
    import_module(f"{package}.{name}")
    delattr(sys.modules[package], name)


def _loaded(package: str, name: str, home: str, attribute: str) -> Any:
    try:
        module = import_module(home if home != package else f"{home}.{name}")
        if home != package and not hasattr(module, attribute):
            return import_module(f"{home}.{attribute}")  # a package within it, such as drawing.paper
        return module if home == package else getattr(module, attribute)
    except ModuleNotFoundError as error:
        return _unavailable(package, name, error)
    except ValueError:  # the hub's library, with an HF_ENDPOINT that is not an address
        import_module("bartviz.safety.addresses").check_hub()
        raise


def _unavailable(package: str, name: str, error: ModuleNotFoundError) -> Any:
    """A stand-in for a function that needs a missing package: it can be listed and described, and raises
    PackageError."""
    errors = import_module("bartviz.errors")
    message = errors.needs(f"{package}.{name}", error.name)

    def function(*values: object, **options: object) -> Any:
        raise errors.PackageError(message, name=error.name)

    function.__name__, function.__qualname__, function.__module__, function.__doc__ = name, name, package, message
    return function
