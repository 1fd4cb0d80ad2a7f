"""What ``app`` and ``open`` are given to show: a saved record, an atlas, or a training, each on its page."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from bartviz.record.record import open_record

BORN, CORPUS = "born", "corpus"  # the pages of a training and of an atlas; a record is shown on every page


def offer(path: Path) -> str:
    """Have the app show what is at a path, by its settings, and name its page, which is empty for a record.

    A training is a series' folder or its ``replay.zip``; an atlas is its folder, or the file that the page *Corpus*
    saves. What is wrong with a file is raised here, as RecordError or SettingError, and not shown in the browser.
    """
    from bartviz.corpus import one_file, replay

    path = path.resolve()  # the server runs in the folder of the app
    if path.is_dir():
        return _training(path / replay.FILE) if (path / replay.FILE).is_file() else _atlas(path)
    if path.suffix.lower() != one_file.ENDING:
        return _record(path)
    return _training(path) if path.is_file() and replay.is_one(path.read_bytes()) else _packed(path)


def _record(path: Path) -> str:
    from bartviz.serving.first_record import NAME

    open_record(path)
    os.environ[NAME] = str(path)
    return ""


def _training(path: Path) -> str:
    from bartviz.corpus import replay

    replay.open_replay(path)
    os.environ[replay.SETTING] = str(path)
    return BORN


def _atlas(folder: Path) -> str:
    from bartviz.corpus import folders
    from bartviz.corpus.atlas import open_atlas

    open_atlas(folder)
    others = os.environ.get(folders.SETTING)
    os.environ[folders.SETTING] = f"{folder}{os.pathsep}{others}" if others else str(folder)
    return CORPUS


def _packed(path: Path) -> str:
    """An atlas in one file, in a folder until this process ends: the app reads atlases from folders."""
    from bartviz.corpus import atlas, one_file
    from bartviz.errors import SettingError

    try:
        data = path.read_bytes()
    except OSError as error:
        raise SettingError(f"{path.name} cannot be read: {error.strerror}.") from error
    opened = one_file.unpack(data, path.name)
    place = tempfile.mkdtemp(prefix="bartviz-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    folder = Path(place) / path.stem
    folder.mkdir()
    atlas.write(folder, opened)
    return _atlas(folder)
