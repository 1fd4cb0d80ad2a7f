"""The hub's description of a model: the files of a revision, and the revision of its conversion to safetensors.

Everything in an answer is validated, so that no name or address points elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from bartviz.errors import ModelError
from bartviz.language import later
from bartviz.models import download
from bartviz.models.deadline import Job
from bartviz.models.download import File, Unreachable
from bartviz.models.files import CONFIG_FILES, TOKENIZER_FILES, WEIGHTS_INDEX, check_vocabulary, is_read, weight_names

COMMIT = re.compile(r"[0-9a-f]{40}")
_DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_CONVERSION = ("SFconvertbot", "Adding `safetensors` variant of this model")


@dataclass(frozen=True)
class Listing:
    """A commit of a model and its files by name."""

    commit: str
    files: Mapping[str, File]

    def needed(self) -> Needed:
        """Those that are downloaded. Raises NoWeights, and ModelError without a vocabulary."""
        large = weight_names(self.files)
        if "tokenizer_config.json" not in self.files:  # else it is read first: it may name ByT5's
            check_vocabulary(self.files)
        small = (name for name in (*CONFIG_FILES, WEIGHTS_INDEX, *TOKENIZER_FILES) if name in self.files)
        return Needed(self.commit, tuple(self.files[name] for name in small), tuple(self.files[name] for name in large))


@dataclass(frozen=True)
class Needed:
    """The files of a commit that are downloaded: settings and tokenizer, and then the weights."""

    commit: str
    small: tuple[File, ...]
    weights: tuple[File, ...]


def of(name: str, revision: str, job: Job) -> Listing:
    """The files of a revision according to the hub, validated. Raises Unreachable, ModelError."""
    answer = download.json_object(
        f"{download.endpoint()}/api/models/{name}/revision/{quote(revision, safe='')}?blobs=true", job
    )
    commit, siblings = answer.get("sha"), answer.get("siblings")
    if not isinstance(commit, str) or not COMMIT.fullmatch(commit) or not isinstance(siblings, list):
        raise Unreachable(later("The hub's answer cannot be understood."))
    address = f"{download.endpoint()}/{name}/resolve/{commit}"
    files = [_file(sibling, address) for sibling in siblings if isinstance(sibling, dict)]
    return Listing(commit, {file.name: file for file in files if file is not None})


def _file(sibling: Mapping[str, Any], address: str) -> File | None:
    """One file of a listing, or None for one in a subfolder. Raises Unreachable for an invalid description."""
    name, large = sibling.get("rfilename"), sibling.get("lfs")
    size, digest = sibling.get("size"), large.get("sha256") if isinstance(large, dict) else sibling.get("blobId")
    if not isinstance(name, str) or not re.fullmatch(r"[\w.-]+", name, re.ASCII):
        return None
    if type(size) is not int or size < 0 or not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        if is_read(name):
            raise Unreachable(later("The hub does not give the size and hash of {name}.", name=name))
        return None
    return File(name, size, digest, f"{address}/{quote(name)}")


def conversion(name: str, job: Job) -> str | None:
    """The revision in which the hub's converter has added safetensors weights to a model that has only pickles."""
    try:
        answer = download.json_object(f"{download.endpoint()}/api/models/{name}/discussions", job)
    except ModelError:
        return None
    discussions = answer.get("discussions")
    for entry in discussions if isinstance(discussions, list) else []:
        author = entry.get("author") if isinstance(entry, dict) else None
        if not isinstance(author, dict) or (author.get("name"), entry.get("title")) != _CONVERSION:
            continue
        if entry.get("isPullRequest") is True and type(entry.get("num")) is int:
            return f"refs/pr/{entry['num']}"
    return None
