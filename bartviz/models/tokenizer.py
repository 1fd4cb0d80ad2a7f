"""A checkpoint's tokenizer: built only from copies of its vocabulary files, without custom code or truncation."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer, PreTrainedTokenizerBase

from bartviz.errors import ModelError
from bartviz.language import later
from bartviz.models import checkpoint
from bartviz.models.checkpoint import Settings
from bartviz.models.folders import TOKENIZER_FILES, check_vocabulary
from bartviz.safety.foreign import guarded

MAX_FILE_BYTES = 256 << 20
# What a tokenizer_config.json may set; the rest (code, paths of files, templates) is left out.
_KEPT = frozenset(
    {"model_max_length", "tokenizer_class", "do_lower_case", "strip_accents", "tokenize_chinese_chars"}
    | {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token", "mask_token_sent"}
    | {"additional_special_tokens", "extra_special_tokens", "added_tokens_decoder", "extra_ids", "offset", "errors"}
    | {"src_lang", "tgt_lang", "source_lang", "target_lang", "separate_vocabs", "clean_up_tokenization_spaces"}
    | {"remove_space", "keep_accents", "trim_offsets", "add_bos_token", "add_eos_token", "legacy", "do_basic_tokenize"}
    | {"add_prefix_space", "never_split", "split_special_tokens", "spaces_between_special_tokens", "padding_side"}
)


def notices(tokenizer: PreTrainedTokenizerBase) -> tuple[str, ...]:
    """Notices on how texts are tokenized."""
    if hasattr(tokenizer, "punc_normalizer") and find_spec("sacremoses") is None:
        return (later("Quotes and dashes are not normalised as in training: the package sacremoses is not installed."),)
    return ()


def read(files: Mapping[str, Path], settings: Settings) -> tuple[PreTrainedTokenizerBase, str]:
    """The tokenizer of a model's folder, and the SHA-256 of its files. Raises ModelError.

    The files are read once, copied to a temporary folder and hashed there: the tokenizer is built from what was hashed.
    """
    check_vocabulary(files)
    with _copies(files, settings) as folder, guarded(_not_built()):
        digest = hashlib.sha256()
        for path in sorted(folder.iterdir()):
            content = path.read_bytes()
            digest.update(f"{path.name} {len(content)} ".encode())
            digest.update(content)
        tokenizer = _build(folder)
        _restore_paths(tokenizer, files)
        check(tokenizer, settings)
    return tokenizer, digest.hexdigest()


@contextmanager
def _copies(files: Mapping[str, Path], settings: Settings) -> Iterator[Path]:
    """A temporary folder with the files from which the tokenizer is built. Raises ModelError."""
    with ExitStack() as stack:
        try:
            temporary = tempfile.TemporaryDirectory(prefix="bartviz-", ignore_cleanup_errors=True)
            folder = Path(stack.enter_context(temporary))
            for name in files.keys() & set(TOKENIZER_FILES):
                (folder / name).write_bytes(checkpoint.read_bytes(files[name], MAX_FILE_BYTES))
            _restrict(folder / "tokenizer_config.json")
            _write(folder / "config.json", {"model_type": settings.sizes.model_type})
        except OSError:
            raise ModelError(
                later(
                    "The folder for temporary files, to which the tokenizer's files are copied, is full or cannot be "
                    "written. Free some room there, or set TMPDIR to another folder."
                )
            ) from None
        yield folder


def _write(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def _restrict(path: Path) -> None:
    """Keep only the settings that a tokenizer needs."""
    asked = checkpoint.read_json(path) if path.is_file() else {}
    _write(path, {key: asked[key] for key in sorted(asked.keys() & _KEPT)})


def _not_built() -> ModelError:
    return ModelError(
        later(
            "The model's tokenizer cannot be built: its files are damaged or do not belong together. Download or save "
            "the model again."
        )
    )


def _build(folder: Path) -> PreTrainedTokenizerBase:
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise ModelError(later("The model's tokenizer is of a kind that cannot be used here."))
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:  # a file may set truncation or padding for every text
        backend.no_truncation()
        backend.no_padding()
    return tokenizer


def _restore_paths(tokenizer: PreTrainedTokenizerBase, files: Mapping[str, Path]) -> None:
    """Refer to the original files instead of the copies: a SentencePiece tokenizer reopens them when it is copied."""
    kept: Any = getattr(tokenizer, "spm_files", None)
    if kept is not None:
        tokenizer.spm_files = [str(files[Path(name).name]) for name in kept]
    for name in ("name_or_path", "vocab_file"):
        if isinstance(value := getattr(tokenizer, name, None), str):
            setattr(tokenizer, name, str(files[Path(value).name]) if Path(value).name in files else "")


def check(tokenizer: PreTrainedTokenizerBase, settings: Settings) -> None:
    """Raise ModelError for a tokenizer with ids beyond the network's embedding rows."""
    rows = settings.sizes.vocabulary
    largest = max(tokenizer.get_vocab().values(), default=-1) + 1
    if largest > rows:
        raise ModelError(
            later(
                "The tokenizer knows {largest:,} tokens, but the network has only {rows:,}: they do not belong "
                "together. Use the tokenizer that the model was trained with.",
                largest=largest,
                rows=rows,
            )
        )
    if largest <= len(tokenizer.all_special_ids):
        raise ModelError(later("The model's tokenizer knows no words, only special tokens: its vocabulary is missing."))
