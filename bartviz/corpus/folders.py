"""The atlases that the app shows: those that ship, and those under the folders of a setting."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from bartviz.corpus import shipped
from bartviz.corpus.atlas import DESCRIPTION, Atlas, open_atlas
from bartviz.errors import SettingError, choices
from bartviz.language import later
from bartviz.models.roots import of_setting

SETTING = "BARTVIZ_ATLASES"
_KEPT = 8  # atlases in memory, a few megabytes each


def own() -> dict[str, Path]:
    """The atlases of the setting by name: each entry is an atlas, or a folder of atlases; separated as in PATH.

    A second one of the same name is named with the folder that it is in. Raises SettingError for an entry that is not
    the path of a readable folder.
    """
    found: dict[str, Path] = {}
    for root in of_setting(SETTING):
        for path in _below(root):
            tried = (path.name, f"{path.parent.name}/{path.name}", str(path))
            found[next((name for name in tried if name not in {*found, *shipped.NAMES}), str(path))] = path
    return found


def names() -> tuple[str, ...]:
    """Every atlas that can be shown, those that ship last. Raises SettingError."""
    return (*own(), *shipped.NAMES)


def atlas(name: str) -> Atlas:
    """The atlas of this name, as it is on disk now; its tables are not to be changed.

    Raises SettingError for another name, or a folder whose atlas cannot be read.
    """
    if name in shipped.NAMES:
        return shipped.atlas(name)
    found = own()
    if name not in found:
        raise SettingError(later("There is no atlas {name}: choose {names}.", name=name, names=choices(names())))
    return _opened(found[name], _changed(found[name]))


def version(name: str) -> int:
    """A number that changes when the atlas of this name is rebuilt."""
    return 0 if name in shipped.NAMES else _changed(own()[name])


def _below(root: Path) -> Iterator[Path]:
    if (root / DESCRIPTION).is_file():
        yield root
        return
    yield from sorted(entry for entry in root.iterdir() if (entry / DESCRIPTION).is_file())


def _changed(path: Path) -> int:
    return (path / DESCRIPTION).stat().st_mtime_ns


@lru_cache(maxsize=_KEPT)
def _opened(path: Path, changed: int) -> Atlas:
    return open_atlas(path)
