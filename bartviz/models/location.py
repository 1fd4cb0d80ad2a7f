"""Where a model is: in a folder of this machine, or at the hub."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from bartviz.errors import ModelError, choices
from bartviz.families.catalogue import EMBEDDED
from bartviz.language import later
from bartviz.models.roots import REFUSED, Roots, listed, under

# Names of folders that many models have: what is above them says which one it is.
_COMMON = re.compile(r"(model|checkpoint|transformer|\d+_transformer|output|final|best|[0-9a-f]{12,64})", re.IGNORECASE)
_STEP = re.compile(r"checkpoint-\d+")
_OF_THE_HUB = re.compile(r"models--(?:(.+?)--)?(.+)")  # a model's folder in the hub's cache
_PART = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?")
_REVISION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,98}[A-Za-z0-9_-])?")
NO_FOLDER = later(
    "There is no such folder. A model's folder holds config.json, model.safetensors and the files of its tokenizer."
)
A_FILE = later("That is a file. Give its folder, with config.json and the files of the model's tokenizer.")

Source: TypeAlias = Literal["embedded", "folder", "hub"]


@dataclass(frozen=True)
class Location:
    """Where a model is: in a folder, whose links stay below ``roots``, or at the hub, by its id there.

    ``name``: what its records call it, unless the caller says otherwise.
    """

    source: Source
    name: str
    folder: Path | None = None  # None: at the hub
    roots: Roots | None = None
    revision: str | None = None  # of the hub


def locate(name: str | os.PathLike[str], revision: str | None = None, roots: Roots | None = None) -> Location:
    """Where the model of a name is; the hub is not asked. Raises ModelError for a name that cannot be one."""
    check_revision(revision)
    shipped = isinstance(name, str) and name in embedded()
    folder = EMBEDDED / name if shipped else find(name, roots)
    if folder is None:
        check_id(str(name))
        return Location("hub", str(name), revision=revision)
    if revision is not None:
        raise ModelError(later("Only models of the hub have revisions: leave the revision out."))
    return Location("embedded", str(name), folder) if shipped else Location("folder", name_of(folder), folder, roots)


def find(name: str | os.PathLike[str], roots: Roots | None) -> Path | None:
    """The folder that a name refers to, or None if it refers to a model of the hub: what exists is never one.

    Without ``roots`` any folder is allowed. With them only folders under one of them, links resolved; every other path
    gets the same message, so that nobody can probe the disk. Raises ModelError.
    """
    text = os.fspath(name)
    is_path = not isinstance(name, str) or text.startswith((os.sep, ".", "~"))
    if not text.strip() or not text.isprintable() or len(text) > 1024:
        raise ModelError(REFUSED if roots is not None else NO_FOLDER)
    candidates = [Path(text)] if roots is None else [Path(root) / text for root in roots]
    for candidate in candidates:
        try:
            folder = (candidate.expanduser() if roots is None else candidate).resolve()
            inside = roots is None or under(folder, roots)
            if inside and folder.is_dir():
                return folder
            if inside and folder.exists():
                raise ModelError(A_FILE)
        except (OSError, RuntimeError):  # a name too long, a loop of links, no permission, no such home
            continue
    if is_path:
        raise ModelError(REFUSED if roots is not None else NO_FOLDER)
    return None


def canonical(name: str, roots: Roots) -> str:
    """One name for all spellings of a folder under the roots (``good``, ``./good``, ``good/``); any other unchanged."""
    if name in embedded():
        return name
    try:
        folder = find(name, roots)
    except ModelError:
        return name
    return name if folder is None else os.fspath(folder)


def embedded() -> tuple[str, ...]:
    """The names of the models that ship with the package."""
    return listed((EMBEDDED,))


def name_of(folder: Path) -> str:
    """The name for the model of a folder: its repository if the hub's cache holds it, else the folder's name; the one
    above it where many models have that name, such as ``model``. Empty if none says anything."""
    where = Path.cwd() / folder  # links stay: of a link its own name says more
    if where.name in ("", ".."):
        where = where.resolve()
    if where.parent.name == "snapshots" and (of_hub := _OF_THE_HUB.fullmatch(where.parent.parent.name)):
        return "/".join(filter(None, of_hub.groups()))
    if _STEP.fullmatch(where.name):
        return "/".join(filter(None, (name_of(where.parent), where.name)))
    return name_of(where.parent) if _COMMON.fullmatch(where.name) and where.parent != where else where.name


def check_id(name: str) -> None:
    """Raise ModelError unless this can be the id of a model on the hub: ``name`` or ``owner/name``."""
    parts = name.split("/")
    plain = len(parts) <= 2 and all(_PART.fullmatch(part) for part in parts)
    if not plain or "--" in name or ".." in name or name.endswith(".git"):
        raise ModelError(
            later(
                "That is not the name of a model. Give an embedded model ({names}), the path of a folder, or a hub "
                "id such as facebook/bart-base: letters, digits, dots, dashes and underscores, at most 96 each "
                "side of one slash.",
                names=choices(embedded()),
            )
        )


def check_revision(revision: str | None) -> None:
    """Raise ModelError unless this can be a branch, tag or commit; ``..`` would escape the cache."""
    if revision is None or (
        _REVISION.fullmatch(revision) and not any(bad in revision for bad in ("..", "//", "./", "/."))
    ):
        return
    raise ModelError(later("That is not a revision: give a branch, a tag or a commit of the model, or leave it out."))
