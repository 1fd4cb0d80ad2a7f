"""A HeadVis folder that is opened: the numbers of its heads, and the texts of each with the weights that were kept.

Anybody may have written it, so nothing in it is trusted: sizes are checked before contents are read, and what does not
fit is a SettingError that names the file. Letters in shapes: n tokens.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bartviz.arrays import Floats
from bartviz.errors import SettingError
from bartviz.record.attention import Head, HeadName
from bartviz.safety import files

if TYPE_CHECKING:
    import pandas as pd

LARGEST = 64 << 20  # bytes of a file
MOST_TOKENS = 8_192  # of a text: its weights are a matrix
ROUNDED = 0.01  # by how much the weights of a row may be above 1


@dataclass(frozen=True)
class HeadVisText:
    """A text of a head's file: its tokens, and the weights of the head that were kept.

    ``interval``: from 1, by ``largest``, the largest weight of the head in the text, first row and column aside.
    ``number``: of the text in the corpus, None where the file does not say.
    """

    tokens: tuple[str, ...]
    interval: int
    largest: float | None
    number: int | None
    _indices: tuple[int, ...] = field(repr=False)
    _values: tuple[float, ...] = field(repr=False)

    @property
    def weights(self) -> Floats:
        """(n, n) the weights; 0 where one was too small to be kept. Rows sum to 1 less what was left out."""
        found = np.zeros(len(self.tokens) ** 2, np.float32)
        found[list(self._indices)] = self._values
        return found.reshape(len(self.tokens), -1)

    @property
    def kept(self) -> Floats:
        """(n,) the share of each row's weight that was kept."""
        found: Floats = self.weights.sum(axis=1)
        return found


@dataclass(frozen=True)
class HeadVisHead:
    """The file of one head: texts, tokens with the most weight as queries and as keys, and counts.

    ``distances`` and ``largest``: where each bin begins and what is in it: the weight that was kept, by its distance,
    and how many texts have such a largest weight.
    """

    name: Head
    texts: tuple[HeadVisText, ...]
    query_tokens: Mapping[str, float]
    key_tokens: Mapping[str, float]
    distances: Mapping[float, float]
    largest: Mapping[float, float]


@dataclass(frozen=True)
class HeadVis:
    """What a HeadVis folder says of a model: ``heads``, and each head's own file.

    ``config`` is config.json as it stands. ``heads`` has a line for each head: kind, layer, head, and the numbers of
    the folder, NaN where it has none. They are means over all tokens, not over texts, and have no interval: not the
    measures of an atlas.

    >>> found = bartviz.open_headvis(bartviz.save_headvis("exports", ["We buy a car.", "It is late."], gpt2))
    >>> found.head("L0H1").texts[0].weights.shape[0] == len(found.head("L0H1").texts[0].tokens)
    True
    """

    path: Path
    config: Mapping[str, Any] = field(repr=False)
    heads: pd.DataFrame = field(repr=False, compare=False)

    def __repr__(self) -> str:
        return f"<HeadVis of {self.config['model_name']}: {len(self.heads):,} heads over {self.config['dataset_name']}>"

    def head(self, name: HeadName) -> HeadVisHead:
        """The file of one head, such as "L3H7". Raises SettingError for a head that is not there, or a damaged file."""
        head = Head.parse(name, kinds=("decoder",))
        mine = (self.heads["layer"] == head.layer) & (self.heads["head"] == head.head)
        if head.kind != "decoder" or not mine.any():
            raise SettingError(f"The folder has no head {head}: .heads lists those that it has.")
        file = f"heads/L{head.layer}H{head.head}.json"
        return _head(head, _read(self.path, file), file)


def open_headvis(path: str | PathLike[str]) -> HeadVis:
    """Open a HeadVis folder: the one with config.json, or one that has a single such folder below it.

    Raises SettingError for another folder or a damaged one.

    >>> path = bartviz.save_headvis("exports", ["We buy a car.", "It is late."], gpt2)
    >>> found = bartviz.open_headvis("exports")
    >>> found.heads.columns[:3].tolist(), len(found.head("L0H1").texts)
    (['kind', 'layer', 'head'], 2)
    """
    import pandas as pd

    root = _root(Path(path))
    config = _read(root, "config.json")
    names = ("model_name", "dataset_name")
    if not isinstance(config, dict) or not all(isinstance(config.get(name), str) for name in names):
        raise _damaged("config.json", "it has no model_name and dataset_name")
    rows = _read(root, "scatter_data.json")
    if not isinstance(rows, list) or not rows:
        raise _damaged("scatter_data.json", "it is no list of heads")
    seen, lines = set[tuple[Any, Any]](), list[dict[str, Any]]()
    for number, row in enumerate(rows):
        place = (row.get("layer"), row.get("head")) if isinstance(row, dict) else (None, None)
        if not all(_whole(one) for one in place) or place in seen:
            raise _damaged("scatter_data.json", f"row {number:,} names no head, or one for the second time")
        seen.add(place)
        numbers = {name: _number(value) for name, value in row.items() if name not in ("layer", "head")}
        if None in numbers.values():
            wrong = next(name for name, value in numbers.items() if value is None)
            raise _damaged("scatter_data.json", f"{wrong} of L{place[0]}H{place[1]} is no number")
        lines.append({"kind": "decoder", "layer": place[0], "head": place[1]} | numbers)
    return HeadVis(root, config, pd.DataFrame(lines))


def _root(path: Path) -> Path:
    """The folder with config.json. Raises SettingError where there is none, or more than one."""
    if (path / "config.json").is_file():
        return path
    below = sorted(file.parent for file in path.glob("*/headvis/*/config.json"))
    if len(below) == 1:
        return below[0]
    if below:
        shown = ", ".join(str(one.relative_to(path)) for one in below[:5])
        raise SettingError(f"There are {len(below):,} HeadVis folders in {path.name}: choose one, such as {shown}.")
    raise SettingError(
        f"There is no HeadVis folder in {path.name}: it has config.json, scatter_data.json and the folder heads; "
        "bartviz headvis writes one."
    )


def _head(name: Head, found: Any, file: str) -> HeadVisHead:
    if not isinstance(found, dict) or not isinstance(found.get("sequences"), list):
        raise _damaged(file, "it has no sequences")
    return HeadVisHead(
        name,
        tuple(_text(one, file, number) for number, one in enumerate(found["sequences"])),
        _ranked(found.get("top_query_tokens"), file, "top_query_tokens"),
        _ranked(found.get("top_key_tokens"), file, "top_key_tokens"),
        _bins(found.get("qk_distance_histogram"), file, "qk_distance_histogram"),
        _bins(found.get("histogram"), file, "histogram"),
    )


def _text(one: Any, file: str, number: int) -> HeadVisText:
    where = f"sequence {number:,}"
    tokens, indices, values = (
        one.get(name) if isinstance(one, dict) else None for name in ("tokens", "attention_indices", "attention_values")
    )
    if not isinstance(tokens, list) or not isinstance(indices, list) or not isinstance(values, list):
        raise _damaged(file, f"{where} lacks its tokens, attention_indices or attention_values")
    count = len(tokens)
    if not 0 < count <= MOST_TOKENS or not all(isinstance(token, str) for token in tokens):
        raise _damaged(file, f"{where} needs from 1 to {MOST_TOKENS:,} tokens, all texts")
    if one.get("seq_len", count) != count:
        raise _damaged(file, f"{where} has {count:,} tokens, and a seq_len that says otherwise")
    if len(indices) != len(values) or len(set(map(repr, indices))) != len(indices):
        raise _damaged(file, f"{where} needs one value for each place, and each place once")
    if not all(_whole(place) and place < count**2 and place % count <= place // count for place in indices):
        raise _damaged(file, f"{where} has a place outside its matrix, or a token that looks at a later one")
    numbers = [_number(value) for value in values]
    if not all(value is not None and 0 <= value <= 1 + ROUNDED for value in numbers):
        raise _damaged(file, f"{where} has a weight that is not from 0 to 1")
    sums = np.bincount(np.array(indices, np.int64) // count, weights=np.array(values, np.float64), minlength=count)
    if sums.max(initial=0) > 1 + ROUNDED:
        raise _damaged(file, f"{where} has a row whose weights sum to {sums.max():.3f}, which is more than 1")
    largest, interval, own = one.get("max_activation"), one.get("interval", 0), one.get("sequence_id")
    if not _whole(interval) or not (largest is None or _number(largest) is not None):
        raise _damaged(file, f"{where} has an interval or a max_activation that is no number")
    return HeadVisText(
        tuple(tokens), interval, largest, own if _whole(own) else None, tuple(indices), tuple(map(float, values))
    )


def _ranked(found: Any, file: str, name: str) -> dict[str, float]:
    """The weight of each token, the largest first; none where the file has none."""
    if found is None:
        return {}
    whole = isinstance(found, list) and all(
        isinstance(one, dict) and isinstance(one.get("token"), str) and _finite(one.get("weight")) for one in found
    )
    if not whole:
        raise _damaged(file, f"{name} is no list of tokens with their weights")
    return {one["token"]: float(one["weight"]) for one in found}


def _bins(found: Any, file: str, name: str) -> dict[float, float]:
    """What is in each bin, by where it begins; none where the file has none."""
    if found is None:
        return {}
    edges, values = (found.get(part) if isinstance(found, dict) else None for part in ("bin_edges", "bin_values"))
    if (
        not isinstance(edges, list)
        or not isinstance(values, list)
        or len(edges) != len(values) + 1
        or not all(map(_finite, (*edges, *values)))
    ):
        raise _damaged(file, f"{name} needs bin_edges, and one number less in bin_values")
    return dict(zip(map(float, edges), map(float, values), strict=False))


def _read(root: Path, name: str) -> Any:
    """The JSON of a file. Raises SettingError."""
    try:
        return json.loads(files.read(root / name, LARGEST))
    except files.TooLarge as error:
        raise _damaged(name, f"it has {error.size:,} bytes, and at most {error.most:,} are read") from None
    except OSError:
        raise _damaged(name, "it is missing or cannot be read") from None
    except (ValueError, RecursionError):
        raise _damaged(name, "it is not JSON") from None


def _whole(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 31


def _finite(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _number(value: Any) -> float | None:
    """A number, NaN for null; None for anything else."""
    if value is None:
        return math.nan
    return float(value) if _finite(value) else None


def _damaged(file: str, reason: str) -> SettingError:
    return SettingError(f"The HeadVis folder cannot be read: {file}: {reason}. Write it again.")
