"""Words that a class should not be offered, taken out of what a trained model can choose, without training it again.

`python -m training.withhold FOLDER [FOLDER ...]`; the small BERT and the denoiser are exported so, and a second time
changes nothing.

A piece of WordPiece leaves the vocabulary: no text gives it any more, its embedding is zeros, and its place is called
[unused0], [unused1], ..., as BERT calls such places. A text that has the word is read in smaller pieces. A piece of
byte-level BPE stays, since longer pieces are merged from it. Both get an output bias that no other piece is below.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors.torch import save_file
from tokenizers.decoders import ByteLevel

from bartviz.experiments.similar_tokens import words
from training.corpus import is_fit

NEVER = -10_000.0  # an output bias far below the logits of a small network, -1,000 at the least; float16 holds it
UNUSED = re.compile(r"\[unused\d+\]")
CONTINUES, SPACE = "##", "Ġ"  # how WordPiece marks a piece within a word, and byte-level BPE one that begins a word
BIASES = ("cls.predictions.bias", "final_logits_bias")
EMBEDDING = "bert.embeddings.word_embeddings.weight"


def withhold(folder: Path) -> tuple[str, ...]:
    """Withhold the unfit words of the model in a folder that `networks.export` wrote, and name them."""
    file, names = folder / "tokenizer.json", _vocabulary(folder)
    whole = json.loads(file.read_text(encoding="utf-8"))
    wordpiece = whole["model"]["type"] == "WordPiece"
    found = _wordpieces(names) if wordpiece else _first_pieces(names, words())
    unused = [name for name in names if UNUSED.fullmatch(name)]
    ids = [names[name] for name in (*found, *unused)]
    if wordpiece:
        changed = {name: f"[unused{place}]" for place, name in enumerate(found, len(unused))}
        whole["model"]["vocab"] = {changed.get(name, name): number for name, number in names.items()}
        file.write_text(json.dumps(whole, ensure_ascii=False, indent=2), encoding="utf-8")
    _silence(folder / "model.safetensors", ids, forget=wordpiece)
    return tuple(found)


def _vocabulary(folder: Path) -> dict[str, int]:
    found: dict[str, int] = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    return found


def _wordpieces(names: Iterable[str]) -> list[str]:
    return [name for name in names if not is_fit(name.removeprefix(CONTINUES))]


def _first_pieces(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Pieces that are an unfit word and begin no other word: " gun", but not " ass", with which "assume" begins."""
    fit = [word for word in known if is_fit(word) and is_fit(word, "de")]
    spelled = {name: ByteLevel().decode([name]).strip() for name in names if name.startswith(SPACE)}
    unfit = {name: word for name, word in spelled.items() if not is_fit(word, "de")}
    return [name for name, word in unfit.items() if not any(other.startswith(word) for other in fit)]


def _silence(path: Path, ids: list[int], *, forget: bool) -> None:
    """Give these pieces an output bias that cannot win and, where `forget`, an embedding of zeros."""
    with safe_open(path, "pt") as file:
        about: dict[str, str] = file.metadata() or {}
        tensors: dict[str, Any] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no dictionary)
    for name in BIASES:
        if name in tensors:
            tensors[name][..., ids] = NEVER
    if forget:
        tensors[EMBEDDING][ids] = 0
    save_file(tensors, path, about)


def main() -> None:
    """Read the command line, and say what was withheld."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    for folder in parser.parse_args().folders:
        print(f"{folder.name}: {', '.join(withhold(folder)) or 'nothing to withhold'}")


if __name__ == "__main__":
    main()
