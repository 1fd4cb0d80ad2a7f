"""Which of a model's files are read; no others are ever opened."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bartviz.errors import ModelError, choices
from bartviz.families import config
from bartviz.families.registry import FAMILIES
from bartviz.language import later
from bartviz.models.location import find
from bartviz.models.roots import REFUSED, Roots, under

CONFIG_FILES = ("config.json", "generation_config.json")
TOKENIZER_FILES = (
    "added_tokens.json",
    "merges.txt",
    "sentencepiece.bpe.model",
    "source.spm",
    "special_tokens_map.json",
    "spiece.model",
    "target.spm",
    "target_vocab.json",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "vocab.json",
    "vocab.txt",
)
# Each of these is a complete vocabulary; without one transformers builds a tokenizer of five special tokens.
VOCABULARIES: tuple[frozenset[str], ...] = tuple(
    frozenset(names)
    for names in (
        ("tokenizer.json",),
        ("vocab.txt",),
        ("vocab.json", "merges.txt"),
        ("spiece.model",),
        ("tokenizer.model",),
        ("sentencepiece.bpe.model",),
        ("source.spm", "target.spm", "vocab.json"),
    )
)
WITHOUT_VOCABULARY = "ByT5Tokenizer"
WEIGHTS = "model.safetensors"
WEIGHTS_INDEX = "model.safetensors.index.json"
_SHARD = re.compile(r"model-\d{5}-of-\d{5}\.safetensors")
_SHARD_COUNT = re.compile(r"model-\d{5}-of-(\d{5})\.safetensors")
_OTHER_WEIGHTS = re.compile(r".*\.(bin|pt|pth|ckpt|h5|msgpack|ot|onnx|gguf)")
MAX_JSON_BYTES = 16 << 20

Stamp = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True)
class Files:
    """The files of a model on this machine by name, and what they were like when they were listed (``stamp``).

    Of a model of the hub also its ``commit``, and ``notices`` on how they came here.
    """

    folder: Path
    paths: Mapping[str, Path]
    stamp: Stamp
    commit: str | None = None
    notices: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, folder: Path, roots: Roots | None = None, *, commit: str | None = None, notices: tuple[str, ...] = ()
    ) -> Files:
        """The files of a model's folder. Raises ModelError for a folder without config.json, with advice, and for links
        that point outside ``roots``."""
        stamp = _stamp(folder)
        try:
            entries = list(os.scandir(folder))
            paths = {entry.name: folder / entry.name for entry in entries if entry.is_file()}
            if "config.json" not in paths:
                raise ModelError(_no_model(paths, sorted(entry.name for entry in entries if entry.is_dir()), folder))
        except OSError:
            raise ModelError(later("The model's folder cannot be read: check its permissions.")) from None
        used = [path for name, path in paths.items() if is_read(name)]
        if roots is not None and not all(under(path, roots) for path in used):
            raise ModelError(REFUSED)
        return cls(folder, paths, stamp, commit, notices)

    def json(self, name: str) -> dict[str, Any] | None:
        """The JSON object in a file; None if there is no such file. Raises ModelError."""
        return read_json(self.paths[name]) if name in self.paths else None

    def weights(self) -> tuple[Path, ...]:
        """The safetensors files with the weights, in order. Raises ModelError if there are none, or not all."""
        names = weight_names(self.paths)
        if WEIGHTS not in names:
            check_shards(read_json(self.paths[WEIGHTS_INDEX]), self.paths)
        return tuple(self.paths[name] for name in names)

    def check_vocabulary(self) -> None:
        """Raise ModelError unless they contain a tokenizer's vocabulary, or name ByT5's tokenizer, which has none."""
        if "tokenizer_config.json" in self.paths:
            with suppress(OSError), self.paths["tokenizer_config.json"].open("rb") as file:
                if f'"{WITHOUT_VOCABULARY}"'.encode() in file.read(1 << 20):
                    return
        check_vocabulary(self.paths)

    def changed(self) -> bool:
        """Whether any of them was replaced since."""
        return _stamp(self.folder) != self.stamp


def _stamp(folder: Path) -> Stamp:
    """Name, size, time and inode of every file of a model, to detect replaced files."""
    try:
        entries = [(entry.name, entry.stat()) for entry in os.scandir(folder) if is_read(entry.name)]
    except OSError:
        return ()
    return tuple(sorted((name, stat.st_size, stat.st_mtime_ns, stat.st_ino) for name, stat in entries))


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file of a model; raises ModelError that names the file."""
    content = read_bytes(path, MAX_JSON_BYTES)
    try:
        value = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise ModelError(
            later(
                "The model's {name} is damaged: it is not valid JSON. Download or save the model again.", name=path.name
            )
        ) from None
    if not isinstance(value, dict):
        raise ModelError(later("The model's {name} must be one JSON object: {{ ... }}.", name=path.name))
    return value


def read_bytes(path: Path, most: int) -> bytes:
    """A small file of a model; raises ModelError that names it."""
    try:
        with path.open("rb") as file:
            content = file.read(min(most, os.fstat(file.fileno()).st_size) + 1)  # read() allocates this much at once
    except OSError:
        raise ModelError(
            later("The model's {name} cannot be read: check the folder and its permissions.", name=path.name)
        ) from None
    if len(content) > most:
        raise ModelError(
            later(
                "The model's {name} is larger than {most} MB, too large for such a file.",
                name=path.name,
                most=most >> 20,
            )
        )
    return content


def is_complete(folder: Path) -> bool:
    """Whether all files of a model are in a folder, judging by their names."""
    try:
        files = Files.of(folder)
        files.check_vocabulary()
        shards = [found for name in weight_names(files.paths) if (found := _SHARD_COUNT.fullmatch(name))]
    except ModelError:
        return False
    return all(int(found[1]) == len(shards) for found in shards)


def _no_model(files: Collection[str], inside: Collection[str], folder: Path) -> str:
    """Why a folder without config.json is not a model, and where one may be."""
    if "adapter_config.json" in files:
        return later(
            "The folder holds an adapter of PEFT, not a model. Load its base with transformers, add the adapter by "
            "PeftModel.from_pretrained(network, folder), and pass that with the tokenizer to bartviz.wrap."
        )
    models = [name for name in inside if (folder / name / "config.json").is_file() and name.isprintable()]
    if models:
        return later(
            "The folder has no config.json, but its subfolders do: choose {names}.", names=choices(_shown(models))
        )
    return later(
        "The folder has no config.json. Choose the folder of a model: config.json, model.safetensors and the files of "
        "its tokenizer."
    )


def is_read(name: str) -> bool:
    """Whether a file of this name is part of a model."""
    return name in CONFIG_FILES or name in TOKENIZER_FILES or name.endswith((".safetensors", WEIGHTS_INDEX))


class NoWeights(ModelError):
    """A model has no weights that are read."""


def weight_names(names: Collection[str]) -> tuple[str, ...]:
    """Which of these file names are a model's safetensors weights, in order: one file or all shards.

    Raises NoWeights if there are none: weights in other formats are never read, because pickles run code.
    """
    if WEIGHTS in names:
        return (WEIGHTS,)
    shards = tuple(sorted(name for name in names if _SHARD.fullmatch(name)))
    if WEIGHTS_INDEX in names and shards:
        return shards
    others = sorted(name for name in names if _OTHER_WEIGHTS.fullmatch(name))
    if others:
        raise NoWeights(
            later(
                "The model has no safetensors weights, only {others}. Such files can run code while they are "
                "read, so they are not opened. Choose a model or a revision that has model.safetensors.",
                others=choices(_shown(others)),
            )
        )
    if named := sorted(name for name in names if name.endswith(".safetensors") and name.isprintable()):
        raise NoWeights(
            later(
                "The model has no weights: {file} is missing. If {named} contains them, rename it.",
                file=WEIGHTS,
                named=choices(_shown(named)),
            )
        )
    raise NoWeights(later("The model has no weights: {file} is missing.", file=WEIGHTS))


def check_shards(index: Mapping[str, object], present: Collection[str]) -> None:
    """Raise ModelError unless every file in the index of a sharded model is present."""
    table = index.get("weight_map")
    if not isinstance(table, Mapping) or not all(isinstance(name, str) for name in table.values()):
        raise ModelError(later("{file} has no weight_map. Download the model again.", file=WEIGHTS_INDEX))
    wanted = {str(name) for name in table.values()}
    if not all(_SHARD.fullmatch(name) for name in wanted):
        raise ModelError(later("{file} names files that are not shards of this model.", file=WEIGHTS_INDEX))
    missing = sorted(wanted - set(present))
    if missing:
        raise ModelError(
            later("The model is incomplete: {missing} is missing. Download it again.", missing=choices(_shown(missing)))
        )


def check_vocabulary(names: Collection[str]) -> None:
    """Raise ModelError unless files of these names contain a tokenizer's vocabulary."""
    if not any(wanted <= set(names) for wanted in VOCABULARIES):
        raise ModelError(
            later(
                "The model has no tokenizer: without its vocabulary every word would be unknown. Add "
                "tokenizer.json (or vocab.txt, vocab.json with merges.txt, spiece.model) to the folder."
            )
        )


def unfit(name: str, roots: Roots) -> ModelError | None:
    """Why the folder that a name refers to cannot be opened, as far as its configuration and its files' names show;
    None if there is no obstacle, or if there is no such folder. Reads no weights."""
    try:
        folder = find(name, roots)
        if folder is None:
            return None
        files = Files.of(folder, roots)
        _check_sizes(config.read(folder))
        weight_names(files.paths)
        files.check_vocabulary()
    except ModelError as error:
        return error
    return None


def _check_sizes(raw: Mapping[str, object]) -> None:
    """Raise ModelError for impossible sizes. A type of transformers that is not listed may have the matrices of one
    that is: loading finds out."""
    model_type = raw.get("model_type")
    if model_type in FAMILIES or not _is_of_transformers(model_type):
        config.sizes(raw)


def _is_of_transformers(model_type: object) -> bool:
    """Whether the library, which is not imported for this, has a folder for the type."""
    library = find_spec("transformers")
    if library is None or library.origin is None or not isinstance(model_type, str):
        return False
    name = model_type.replace("-", "_")
    return name.isidentifier() and (Path(library.origin).parent / "models" / name).is_dir()


def _shown(names: list[str], most: int = 3) -> list[str]:
    """The first few file names, and how many more there are."""
    return names if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
