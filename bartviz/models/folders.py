"""Where models are on disk, and which of a model's files are read; no others are ever opened."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

from bartviz.errors import ModelError, SettingError, choices
from bartviz.families import config
from bartviz.families.catalogue import EMBEDDED
from bartviz.families.registry import FAMILIES
from bartviz.language import later

ROOTS_SETTING = "BARTVIZ_MODEL_ROOTS"
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
_OTHER_WEIGHTS = re.compile(r".*\.(bin|pt|pth|ckpt|h5|msgpack|ot|onnx|gguf)")
_DEPTH = 3  # levels below a root that are searched
# Names of folders that many models have: what is above them says which one it is.
_COMMON = re.compile(r"(model|checkpoint|transformer|\d+_transformer|output|final|best|[0-9a-f]{12,64})", re.IGNORECASE)
_STEP = re.compile(r"checkpoint-\d+")
_OF_THE_HUB = re.compile(r"models--(?:(.+?)--)?(.+)")  # a model's folder in the hub's cache

REFUSED = later(
    "No model is read from there. Choose one of the list, or put the model's folder into one of the folders "
    "that {setting} names.",
    setting=ROOTS_SETTING,
)
NO_FOLDER = later(
    "There is no such folder. A model's folder holds config.json, model.safetensors and the files of its tokenizer."
)
A_FILE = later(
    "That is a file. Give the folder that it is in: with config.json and the files of the model's tokenizer."
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


def unfit(name: str, roots: Roots) -> ModelError | None:
    """Why the folder that a name refers to cannot be opened, as far as its configuration and its files' names show;
    None if nothing speaks against it, or if there is no such folder. Reads no weights."""
    try:
        folder = find(name, roots)
        if folder is None:
            return None
        files = contents(folder, roots)
        _check_sizes(config.read(folder))
        weight_names(files)
        check_vocabulary(files)
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
            inside = roots is None or _under(folder, roots)
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


def name_of(folder: Path) -> str:
    """What to call the model of a folder: its repository if the hub's cache holds it, else the folder's name; the one
    above it where many models have that name, such as ``model``. Empty if none says anything."""
    where = Path.cwd() / folder  # links stay: of a link its own name says more
    if where.name in ("", ".."):
        where = where.resolve()
    if where.parent.name == "snapshots" and (of_hub := _OF_THE_HUB.fullmatch(where.parent.parent.name)):
        return "/".join(filter(None, of_hub.groups()))
    if _STEP.fullmatch(where.name):
        return "/".join(filter(None, (name_of(where.parent), where.name)))
    return name_of(where.parent) if _COMMON.fullmatch(where.name) and where.parent != where else where.name


def _under(path: Path, roots: Roots) -> bool:
    """Whether a path, links resolved, is one of the roots or under one."""
    real = os.path.realpath(path)
    return any(os.path.commonpath([real, os.path.realpath(root)]) == os.path.realpath(root) for root in roots)


def contents(folder: Path, roots: Roots | None = None) -> dict[str, Path]:
    """The files of a model's folder by name. Raises ModelError for a folder without config.json, with advice, and for
    links that lead out of ``roots``."""
    try:
        entries = list(os.scandir(folder))
        files = {entry.name: folder / entry.name for entry in entries if entry.is_file()}
        if "config.json" not in files:
            raise ModelError(_no_model(files, sorted(entry.name for entry in entries if entry.is_dir()), folder))
    except OSError:
        raise ModelError(later("The model's folder cannot be read: check its permissions.")) from None
    used = [path for name, path in files.items() if is_read(name)]
    if roots is not None and not all(_under(path, roots) for path in used):
        raise ModelError(REFUSED)
    return files


def _no_model(files: Collection[str], inside: Collection[str], folder: Path) -> str:
    """Why a folder without config.json is no model, and where one may be."""
    if "adapter_config.json" in files:
        return later(
            "The folder holds an adapter of PEFT, not a model. Load its base with transformers, add the adapter by "
            "PeftModel.from_pretrained(network, folder), and pass that with the tokenizer to bartviz.wrap."
        )
    models = [name for name in inside if (folder / name / "config.json").is_file() and name.isprintable()]
    if models:
        return later(
            "The folder has no config.json, but folders in it have: choose {names}.", names=choices(_shown(models))
        )
    return later(
        "The folder has no config.json. Choose the folder of a model: config.json, model.safetensors and the files of "
        "its tokenizer."
    )


def is_read(name: str) -> bool:
    """Whether a file of this name is part of a model."""
    return name in CONFIG_FILES or name in TOKENIZER_FILES or name.endswith((".safetensors", WEIGHTS_INDEX))


def weight_names(names: Collection[str]) -> tuple[str, ...]:
    """Which of these file names are a model's safetensors weights, in order: one file or all shards.

    Raises ModelError if there are none: weights in other formats are never read, because pickles run code.
    """
    if WEIGHTS in names:
        return (WEIGHTS,)
    shards = tuple(sorted(name for name in names if _SHARD.fullmatch(name)))
    if WEIGHTS_INDEX in names and shards:
        return shards
    others = sorted(name for name in names if _OTHER_WEIGHTS.fullmatch(name))
    if others:
        raise ModelError(
            later(
                "The model has no safetensors weights, only {others}. Such files can run code while they are "
                "read, so they are not opened. Choose a model or a revision that has model.safetensors.",
                others=choices(_shown(others)),
            )
        )
    if named := sorted(name for name in names if name.endswith(".safetensors") and name.isprintable()):
        raise ModelError(
            later(
                "The model has no weights: {file} is missing. If {named} holds them, give it that name.",
                file=WEIGHTS,
                named=choices(_shown(named)),
            )
        )
    raise ModelError(later("The model has no weights: {file} is missing.", file=WEIGHTS))


def check_shards(index: Mapping[str, object], present: Collection[str]) -> None:
    """Raise ModelError unless every file in the index of a sharded model is present."""
    table = index.get("weight_map")
    if not isinstance(table, Mapping) or not all(isinstance(name, str) for name in table.values()):
        raise ModelError(later("{file} has no weight_map. Download the model again.", file=WEIGHTS_INDEX))
    wanted = {str(name) for name in table.values()}
    if not all(_SHARD.fullmatch(name) for name in wanted):
        raise ModelError(later("{file} names files that are no shards of this model.", file=WEIGHTS_INDEX))
    missing = sorted(wanted - set(present))
    if missing:
        raise ModelError(
            later("The model is incomplete: {missing} is missing. Download it again.", missing=choices(_shown(missing)))
        )


def check_vocabulary(names: Collection[str]) -> None:
    """Raise ModelError unless these files contain a tokenizer's vocabulary. ByT5 has none: where the files are given
    with their paths, its name in tokenizer_config.json is enough."""
    if isinstance(names, Mapping) and isinstance(path := names.get("tokenizer_config.json"), Path):
        with suppress(OSError), path.open("rb") as file:
            if f'"{WITHOUT_VOCABULARY}"'.encode() in file.read(1 << 20):
                return
    if not any(wanted <= set(names) for wanted in VOCABULARIES):
        raise ModelError(
            later(
                "The model has no tokenizer: without its vocabulary every word would be unknown. Add "
                "tokenizer.json (or vocab.txt, vocab.json with merges.txt, spiece.model) to the folder."
            )
        )


def embedded() -> tuple[str, ...]:
    """The names of the models that ship with the package."""
    return listed((EMBEDDED,))


def _shown(names: list[str], most: int = 3) -> list[str]:
    """The first few file names, and how many more there are."""
    return names if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
