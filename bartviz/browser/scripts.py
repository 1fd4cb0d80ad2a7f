"""The scripts of the components: modules that import each other, joined into one file for the browser.

Each script is an ES module, so an editor follows its imports and ``node --test`` loads it unchanged. The browser gets
one file for each component. Serving the modules themselves would take a chain of requests for each component (up to
six, one after the other, before the first picture), and for each an address that changes with its content, or the
browser's cache would mix old and new modules. A bundler from npm would make node a requirement of the app.

So ``bundle`` is small: it follows the imports, writes every module after those that it imports, and drops the import
lines and the word ``export``. All modules then share one scope, and it rejects what that cannot express: a renamed or
default import, two modules that declare the same top-level name, modules that import each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.{1,2}/[^"]+)";\n', re.MULTILINE)
_OTHER_IMPORT = re.compile(r"^import\b.*|^export (?:\{|\*).*", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?!default\b)", re.MULTILINE)
_DEFAULT = re.compile(r"^export default\b", re.MULTILINE)
_DECLARED = re.compile(
    r"^(export )?(?:(?:async )?function\*? ?|class |(?:const|let|var) )(\w+|\[[^\]]*\]|\{[^}]*\})", re.MULTILINE
)
_NAME = re.compile(r"^\w+$")


class ScriptError(ValueError):
    """Modules that cannot be joined into one file."""


@dataclass(frozen=True)
class _Module:
    path: Path
    text: str
    imports: dict[Path, list[str]]  # the imported names, by module
    declared: list[str]  # at its top level
    exported: frozenset[str]

    @classmethod
    def read(cls, path: Path) -> _Module:
        """Raises ScriptError if the module imports or exports in a way that ``bundle`` cannot join."""
        text = path.read_text("utf-8")
        imports: dict[Path, list[str]] = {}
        for names, target in _IMPORT.findall(text):
            imports.setdefault((path.parent / target).resolve(), []).extend(_names(names, path))
        text = _IMPORT.sub("", text)
        if other := _OTHER_IMPORT.search(text):
            raise ScriptError(f'{path.name}: write import {{ name }} from "./module.js" instead of {other[0]}')
        declared: list[str] = []
        exported: set[str] = set()
        for export, names in _DECLARED.findall(text):
            declared += re.findall(r"\w+", names)
            exported |= set(re.findall(r"\w+", names)) if export else set()
        return cls(path, text, imports, declared, frozenset(exported))


def _names(names: str, path: Path) -> Iterator[str]:
    for name in (part.strip() for part in names.split(",")):
        if name and not _NAME.match(name):
            raise ScriptError(f"{path.name}: an import must keep the exported name: {name}")
        if name:
            yield name


def bundle(entry: Path) -> str:
    """One module: ``entry`` and everything it imports. Only its default export remains.

    Raises ScriptError if the modules cannot be joined, and OSError if one of them cannot be read.
    """
    modules: dict[Path, _Module] = {}
    ahead = [entry.resolve()]
    while ahead:
        path = ahead.pop()
        if path not in modules:
            modules[path] = _Module.read(path)
            ahead.extend(modules[path].imports)
    _check(modules, entry.resolve())
    return "\n".join(_EXPORTED.sub("", modules[path].text).strip() + "\n" for path in _ordered(modules))


def _ordered(modules: dict[Path, _Module]) -> list[Path]:
    """The modules in order: each comes after its imports."""
    try:
        return list(TopologicalSorter({path: module.imports.keys() for path, module in modules.items()}).static_order())
    except CycleError as error:
        raise ScriptError(f"modules import each other: {' > '.join(path.name for path in error.args[1])}") from error


def _check(modules: dict[Path, _Module], entry: Path) -> None:
    owners: dict[str, Path] = {}
    for path, module in modules.items():
        for name in module.declared:
            if name in owners:
                raise ScriptError(f"{path.name} and {owners[name].name} both declare {name}")
            owners[name] = path
        for target, names in module.imports.items():
            for name in sorted(set(names) - modules[target].exported):
                raise ScriptError(f"{path.name} imports {name}, which {target.name} does not export")
        if path != entry and _DEFAULT.search(module.text):
            raise ScriptError(f"{path.name} has a default export: only the module that Streamlit calls has one")


class _Placeholder(int):
    """A number that stays a placeholder in the message, for a script to fill in."""

    def __format__(self, spec: str) -> str:
        return "{count}"


def both(message: Callable[[int], str]) -> list[str]:
    """The singular and plural of a message whose number only the script knows."""
    return [message(_Placeholder(1)), message(_Placeholder(2))]
