"""A checkpoint's tokenizer: built only from copies of its vocabulary files, without custom code or truncation."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from tokenizers import Tokenizer as Backend
from transformers import AutoTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast
from transformers.models.auto.tokenization_auto import tokenizer_class_from_name
from transformers.tokenization_utils_base import get_fast_tokenizer_file

from bartviz.errors import ModelError, choices
from bartviz.language import later
from bartviz.models import tokenizer_parts
from bartviz.models.checkpoint import Settings
from bartviz.models.files import TOKENIZER_FILES, Files, read_bytes, read_json
from bartviz.safety.other_libraries import guarded
from bartviz.text import tokenize

MAX_FILE_BYTES = 128 << 20
# What a tokenizer_config.json may set; the rest (code, paths of files, templates) is left out.
KEPT = frozenset(
    {"model_max_length", "tokenizer_class", "do_lower_case", "strip_accents", "tokenize_chinese_chars"}
    | {"additional_special_tokens", "extra_special_tokens", "added_tokens_decoder", "extra_ids", "offset", "errors"}
    | {"src_lang", "tgt_lang", "source_lang", "target_lang", "separate_vocabs", "clean_up_tokenization_spaces"}
    | {"remove_space", "keep_accents", "trim_offsets", "add_bos_token", "add_eos_token", "legacy", "do_basic_tokenize"}
    | {"add_prefix_space", "never_split", "split_special_tokens", "spaces_between_special_tokens", "padding_side"}
    | {"mask_token_sent", "legacy_behaviour", "language_codes", "num_madeup_words", "fix_mistral_regex", "clean_text"}
    | {"wordpieces_prefix", "split_by_punct", "unk_id", "do_lowercase", "do_lowercase_and_remove_accent"}
    | {"normalization"}
)
# What config.json says of the tokenizer; transformers reads these keys of it.
_OF_CONFIG = ("model_type", "tokenizer_class", "model_name", "transformers_version")
# Texts on which the rules of tokenizer.json and those of the tokenizer that was built are compared.
_PROBES = (
    "Hello World, I'LL pay 12345.60 for it (now)!",
    "  two  spaces\n\n\tand a tab ",
    "naïve Ünïcödé İstanbul ﬁ ＡＢＣ ½ ß",
    "한국어 텍스트, 日本語のテキスト。 中文文本",
    "a\u00adb \u200b\x07 \ue000 👩\u200d👧 …",
)


class Read(NamedTuple):
    """A tokenizer, the SHA-256 of its files, and notices on what they ask for and do not get, and on how it reads."""

    tokenizer: PreTrainedTokenizerBase
    digest: str
    notices: tuple[str, ...]


def notices(tokenizer: PreTrainedTokenizerBase, settings: Settings) -> tuple[str, ...]:
    """Notices on how texts are tokenized."""
    said = []
    if hasattr(tokenizer, "punc_normalizer") and find_spec("sacremoses") is None:
        said.append(
            later("Quotes and dashes are not normalised as in training: the package sacremoses is not installed.")
        )
    unused = sorted(_unused(tokenizer, settings.sizes.vocabulary).values())
    if unused:
        said.append(
            later(
                "The network has no embedding for {tokens}, which the tokenizer adds: a text that holds such a token "
                "is refused.",
                tokens=choices(unused if len(unused) <= 3 else [*unused[:3], f"{len(unused) - 3} more"]),
            )
        )
    return tuple(said)


def read(files: Files, settings: Settings) -> Read:
    """The tokenizer of a model's folder. Raises ModelError.

    The files are read once, copied to a temporary folder and hashed there: the tokenizer is built from what was hashed.
    """
    with _copies(files, settings) as (folder, asked):
        digest = hashlib.sha256()
        for path in sorted(folder.iterdir()):
            content = path.read_bytes()
            digest.update(f"{path.name} {len(content)} ".encode())
            digest.update(content)
        with guarded(_not_built(_class_name(folder))):
            tokenizer, of_build = _build(folder)
            _restore_paths(tokenizer, files)
            check(tokenizer, settings)
            said = (*_left_out(asked), *of_build, *_other_rules(folder, tokenizer), *notices(tokenizer, settings))
    return Read(tokenizer, digest.hexdigest(), said)


@contextmanager
def _copies(files: Files, settings: Settings) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """A temporary folder with the files from which the tokenizer is built, and what tokenizer_config.json asks for.

    Raises ModelError.
    """
    files.check_vocabulary()
    asked = files.json("tokenizer_config.json") or {}
    with ExitStack() as stack:
        try:
            temporary = tempfile.TemporaryDirectory(prefix="bartviz-", ignore_cleanup_errors=True)
            folder = Path(stack.enter_context(temporary))
            for name in files.paths.keys() & set(TOKENIZER_FILES):
                content = read_bytes(files.paths[name], MAX_FILE_BYTES)
                tokenizer_parts.CHECKS.get(name, len)(content)
                (folder / name).write_bytes(tokenizer_parts.linear(content) if name == "tokenizer.json" else content)
            _write(folder / "tokenizer_config.json", _restricted(asked))
            if (folder / "special_tokens_map.json").is_file():
                tokenizer_parts.check_settings(read_json(folder / "special_tokens_map.json"))
            _write(folder / "config.json", _of_config(files.json("config.json") or {}, asked, settings))
        except OSError:
            raise ModelError(
                later(
                    "The folder for temporary files, to which the tokenizer's files are copied, is full or "
                    "cannot be written. Free some space there, or set TMPDIR to another folder."
                )
            ) from None
        yield folder, asked


def _write(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def _of_config(raw: Mapping[str, Any], asked: Mapping[str, Any], settings: Settings) -> dict[str, str]:
    """The tokenizer settings in config.json: the class that old folders name there alone, and what transformers reads
    to choose one."""
    said = {key: raw[key] for key in _OF_CONFIG if isinstance(raw.get(key), str)}
    if "fix_mistral_regex" not in asked:
        said.pop("transformers_version", None)
    return {key: value for key, value in said.items() if key != "tokenizer_class" or value.isidentifier()} | {
        "model_type": settings.sizes.model_type
    }


def _restricted(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Only the settings that a tokenizer needs, among them every token by its role (``*_token``). Raises ModelError."""
    if asked.get("init_inputs"):
        raise ModelError(later("The model's tokenizer_config.json has init_inputs, which are not read. Save it again."))
    if get_fast_tokenizer_file(list(map(str, asked.get("fast_tokenizer_files") or ()))) != "tokenizer.json":
        raise ModelError(
            later(
                "The model's tokenizer_config.json names another file than tokenizer.json (fast_tokenizer_files), "
                "which is not read. Save the tokenizer again with today's transformers."
            )
        )
    kept = {key: asked[key] for key in sorted(asked) if key in KEPT or key.endswith("_token")}
    tokenizer_parts.check_settings(kept)
    return kept


def _left_out(asked: Mapping[str, Any]) -> Iterator[str]:
    """Notices on what a tokenizer_config.json asks for and does not get."""
    if asked.get("auto_map"):
        yield later("The tokenizer asks for code of its own (auto_map): a class of transformers is used instead.")


def _class_name(folder: Path) -> str | None:
    """The class that the files name: tokenizer_config.json before config.json, as in transformers. Raises ModelError
    for an object that is not a tokenizer."""
    for file in ("tokenizer_config.json", "config.json"):
        name = read_json(folder / file).get("tokenizer_class")
        if name:
            known = tokenizer_class_from_name(name) if isinstance(name, str) and name.isidentifier() else object
            if known is None or issubclass(known, PreTrainedTokenizerBase):
                return str(name)
            raise ModelError(later("The tokenizer_class in the model's {file} is not a tokenizer.", file=file))
    return None


def _not_built(name: str | None) -> ModelError:
    if name is not None:
        return ModelError(
            later(
                "The model's tokenizer, of the class {name}, cannot be built: its files are damaged, do not belong "
                "together, or the class needs others. Download or save the model again.",
                name=name,
            )
        )
    return ModelError(
        later(
            "The model's tokenizer cannot be built: its files are damaged or do not belong together. Download or save "
            "the model again."
        )
    )


def _build(folder: Path) -> tuple[PreTrainedTokenizerBase, tuple[str, ...]]:
    """The tokenizer of the folder, and notices on what it does not do here."""
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise ModelError(later("The model's tokenizer is of a kind that cannot be used here."))
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return tokenizer, ()
    backend.no_truncation()  # a file may set truncation or padding for every text
    backend.no_padding()
    if not getattr(backend.model, "dropout", None):
        return tokenizer, ()
    backend.model.dropout = None
    return tokenizer, (
        later("The tokenizer splits words at random (dropout): here it always splits them in the same way."),
    )


def _other_rules(folder: Path, tokenizer: PreTrainedTokenizerBase) -> Iterator[str]:
    """A notice if texts are not cut as tokenizer.json says: many classes of transformers read only its vocabulary."""
    path = folder / "tokenizer.json"
    if not path.is_file() or type(tokenizer) is PreTrainedTokenizerFast:  # the latter is the file
        return
    own = Backend.from_file(str(path))
    own.no_truncation()
    own.no_padding()
    if getattr(own.model, "dropout", None):
        own.model.dropout = None
    if any(own.encode(text).ids != tokenizer(text)["input_ids"] for text in _PROBES):
        yield later(
            "Texts are split by transformers' {name}, as AutoTokenizer does; the rules in tokenizer.json "
            "would split some differently.",
            name=type(tokenizer).__name__,
        )


def _restore_paths(tokenizer: PreTrainedTokenizerBase, files: Files) -> None:
    """Refer to the original files instead of the copies: a SentencePiece tokenizer reopens them when it is copied."""
    kept: Any = getattr(tokenizer, "spm_files", None)
    if kept is not None:
        tokenizer.spm_files = [str(files.paths[Path(name).name]) for name in kept]
    for name in ("name_or_path", "vocab_file", "spm_file"):
        if isinstance(value := getattr(tokenizer, name, None), str):
            setattr(tokenizer, name, str(files.paths.get(Path(value).name, "")))


def check(tokenizer: PreTrainedTokenizerBase, settings: Settings) -> None:
    """Raise ModelError for a tokenizer that cannot say which text its tokens cover, or with ids beyond the network's
    embedding rows.

    Only tokens that were added may be beyond them, as ``[PAD]`` often is, if no text has them by itself: they lose
    their role, and a text that holds one is refused.
    """
    rows = settings.sizes.vocabulary
    vocabulary = tokenizer.get_vocab()
    largest = max(vocabulary.values(), default=-1) + 1
    unused = _unused(tokenizer, rows)
    if any(number >= rows and number not in unused for number in vocabulary.values()):
        raise _too_many(largest, rows)
    if min(largest, rows) <= len(set(tokenizer.all_special_ids) - unused.keys()):
        raise ModelError(later("The model's tokenizer knows no words, only special tokens: its vocabulary is missing."))
    if any(token.id >= rows for token in tokenize.encoder_of(tokenizer).unlimited("a b")):
        raise _too_many(largest, rows)
    if unused:
        if not tokenizer.is_fast:
            raise _too_many(largest, rows)
        for role in tokenizer.SPECIAL_TOKENS_ATTRIBUTES:
            if getattr(tokenizer, f"{role}_id", None) in unused:
                setattr(tokenizer, role, None)
        tokenize.limit(tokenizer, rows)


def _unused(tokenizer: PreTrainedTokenizerBase, rows: int) -> dict[int, str]:
    """Added tokens that the network has no embedding for."""
    return {number: str(token) for number, token in tokenizer.added_tokens_decoder.items() if number >= rows}


def _too_many(largest: int, rows: int) -> ModelError:
    return ModelError(
        later(
            "The tokenizer knows {largest:,} tokens, but the network has only {rows:,}: they do not belong "
            "together. Use the tokenizer that the model was trained with.",
            largest=largest,
            rows=rows,
        )
    )
