"""The folders under which models are read, and the models below them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TypeAlias

from bartviz.errors import SettingError
from bartviz.language import later

ROOTS_SETTING = "BARTVIZ_MODEL_ROOTS"
_DEPTH = 3  # levels below a root that are searched
REFUSED = later(
    "Models cannot be loaded from there. Choose one from the list, or put the model's folder into one of the "
    "folders that {setting} names.",
    setting=ROOTS_SETTING,
)
Roots: TypeAlias = Collection[str | os.PathLike[str]]


def default_roots() -> tuple[Path, ...]:
    """The folders under which the app reads models: the setting BARTVIZ_MODEL_ROOTS. Raises SettingError."""
    roots = of_setting(ROOTS_SETTING)
    for number, root in enumerate(roots, start=1):
        if root == Path(root.anchor):
            raise SettingError(
                later(
                    "{setting}: entry {number} is the whole disk. Name the folder of your models.",
                    setting=ROOTS_SETTING,
                    number=number,
                )
            )
    return roots


def of_setting(setting: str) -> tuple[Path, ...]:
    """The folders that a setting of the environment names, separated as in PATH, as absolute paths.

    Relative ones count from the folder that the program runs in. Raises SettingError for an entry that is not the path
    of a readable folder.
    """
    roots = []
    for number, entry in enumerate(filter(None, os.environ.get(setting, "").split(os.pathsep)), start=1):
        try:
            root = Path(entry).expanduser().resolve()
        except (OSError, RuntimeError):  # a loop of links, or no such home
            root = Path()
        if not root.is_absolute() or not root.is_dir() or not os.access(root, os.R_OK | os.X_OK):
            raise SettingError(
                later(
                    "{setting}: entry {number} is not the path of a readable folder. Separate several folders with "
                    '"{sign}".',
                    setting=setting,
                    number=number,
                    sign=os.pathsep,
                )
            )
        roots.append(root)
    return tuple(roots)


def fix_roots() -> None:
    """Write the folders of the setting into the environment as absolute paths: a process that this one starts may run
    in another folder. Raises SettingError."""
    if roots := default_roots():
        os.environ[ROOTS_SETTING] = os.pathsep.join(map(str, roots))


def listed(roots: Roots) -> tuple[str, ...]:
    """The names of the models under these folders, as ``load`` accepts them with the same ``roots``."""
    return tuple(sorted({name for root in roots for name in _below(Path(root), _DEPTH)}))


def _below(root: Path, depth: int, prefix: str = "") -> Iterator[str]:
    try:
        folders = sorted(entry.name for entry in os.scandir(root) if entry.is_dir() and entry.name[0] != ".")
    except OSError:
        return
    for name in folders:
        if (root / name / "config.json").is_file():
            yield prefix + name
        elif depth > 1:
            yield from _below(root / name, depth - 1, f"{prefix}{name}/")


def under(path: Path, roots: Roots) -> bool:
    """Whether a path, links resolved, is one of the roots or under one."""
    real = os.path.realpath(path)
    return any(os.path.commonpath([real, os.path.realpath(root)]) == os.path.realpath(root) for root in roots)
