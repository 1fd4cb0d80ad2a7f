"""A HeadVis folder of a decoder-only model: six numbers of every head over many texts, and some texts of each.

The HeadVis frontend (Luger, Kamath et al. 2026, "Visualizing Attention Heads") and Neuronpedia's importers read it: the
README of hijohnnylin/neuronpedia, utils/neuronpedia-utils/neuronpedia_utils/headvis, describes the tree and its fields.
All texts are measured first; then those are chosen that a head's file shows, so that none is lost to a warm-up.
Letters in shapes: N texts, L layers, H heads, n tokens, I intervals.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bartviz.arrays import Floats
from bartviz.callbacks import silent
from bartviz.errors import SettingError, TextError
from bartviz.models.model import Model
from bartviz.record import store
from bartviz.record.record import Record, now
from bartviz.run.forward import capture
from bartviz.text.clean import Truncate
from bartviz.version import versions

METRICS = {
    "self_attention_score": "Mean attention of a token to itself.",
    "prev_token_score": "Mean attention to the token before.",
    "pattern_entropy": "Mean Shannon entropy of the rows, in nats.",
    "qk_distance": "Mean distance from query to key, weighted by attention.",
    "qk_distance_variance": "Variance of that distance.",
    "induction_score": "Mean attention to the token after an earlier occurrence of the same token.",
}
INDUCTION_LEAST = 0.01  # smaller weights count as none in the induction score
DISTANCES = (0, *(2**power for power in range(13)))  # the bins begin here
BINS = 50  # of a text's largest weight
TOKENS = 50  # of the lists of tokens
DECIMALS = 6
_DECODERS = (
    "HeadVis shows models with a decoder alone, such as GPT-2. For another one write an atlas, as bartviz.corpus does."
)
_UNKNOWN = "\ufffd"  # as tokenizers write a byte that is no character
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
Wide = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """Which texts a head's file shows, and how much of each."""

    intervals: int
    samples: int
    top_samples: int
    keys: int
    least: float
    seed: int

    def __post_init__(self) -> None:
        if min(self.intervals, self.samples, self.top_samples, self.keys) < 1 or not 0 <= self.least < 1:
            raise SettingError("Intervals, samples and keys are at least 1, and the least weight from 0 to below 1.")


@dataclass(frozen=True, slots=True)
class _Sums:
    """What is added up over texts, (L, H) each, and what it is divided by."""

    itself: Wide
    previous: Wide
    entropy: Wide
    distance: Wide
    square: Wide
    induction: Wide
    tokens: int
    pairs: int
    repeated: int

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(*(getattr(self, name) + getattr(other, name) for name in _Sums.__slots__))

    @property
    def metrics(self) -> dict[str, Wide]:
        """By name (L, H); NaN where nothing was counted."""
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = self.distance / self.tokens
            return {
                "self_attention_score": self.itself / self.tokens,
                "prev_token_score": self.previous / self.pairs,
                "pattern_entropy": self.entropy / self.tokens,
                "qk_distance": mean,
                "qk_distance_variance": self.square / self.tokens - mean**2,
                "induction_score": self.induction / np.float64(self.repeated),
            }


def save_headvis(
    folder: str | PathLike[str],
    texts: Iterable[str] | Sequence[Record],
    model: Model | None = None,
    *,
    dataset: str = "texts",
    model_id: str | None = None,
    truncate: Truncate | None = None,
    intervals: int = 5,
    samples: int = 3,
    top_samples: int = 10,
    keys: int = 8,
    least: float = 0.005,
    seed: int = 0,
    report: Callable[[int, int], None] = silent,
) -> Path:
    """Write what the HeadVis frontend shows of a decoder-only model; returns ``folder/MODEL/headvis/DATASET``.

    texts: records, or texts for ``model``, which are run twice: all to be measured, then those that are shown.
    dataset, model_id: the names of the folders, letters, digits, "." and "-"; model_id is Neuronpedia's name of the
    model, by default the model's own.
    truncate: which part to keep of a text that is too long (else TextError).
    intervals: the texts of a head are divided by their largest weight, first row and column aside, into so many parts
    of equal size. Of the last one the ``top_samples`` largest are kept, of the others ``samples`` by lot (``seed``).
    keys, least: of each row so many weights are kept, and none below ``least``.
    report: called with the texts that are done, of how many.
    Raises SettingError for a model that has more than a decoder, TextError with the number of a text.

    >>> path = bartviz.save_headvis("exports", ["We buy a car.", "It is late."], gpt2)
    >>> path.parts[-2:], len(bartviz.open_headvis(path).heads)
    (('headvis', 'texts'), 12)
    """
    kept = _Kept(intervals=intervals, samples=samples, top_samples=top_samples, keys=keys, least=least, seed=seed)
    given: list[str | Record] = list(texts)
    record = _records(given, model, truncate)
    numbers, sums, highest = list[int](), None, list[Floats]()
    longest, info = 0, None
    for number in range(len(given)):
        one = record(number)
        report(number + 1, len(given))
        info = one.model if info is None else info
        if one.model.fingerprint != info.fingerprint:
            raise SettingError("The records are of several models: a HeadVis folder is of one.")
        if len(one.source) < 2:
            continue  # there is no pair of tokens
        measured, top = _measured(one)
        sums = measured if sums is None else sums + measured
        numbers.append(number)
        highest.append(top)
        longest = max(longest, len(one.source))
    if sums is None or info is None:
        raise TextError("There is no text of at least two tokens to measure.")
    tops = np.stack(highest)  # (N, L, H)
    shown = _chosen(tops, kept)
    name = model_id or info.name
    root = Path(folder) / _safe(name) / "headvis" / _safe(dataset)
    (root / "heads").mkdir(parents=True, exist_ok=True)
    (root / "attributions").mkdir(exist_ok=True)
    _write(root, shown, numbers, tops, kept, record)
    rows = [
        {"layer": layer, "head": head} | {metric: _plain(found[layer, head]) for metric, found in sums.metrics.items()}
        for layer, head in np.ndindex(*tops.shape[1:])
    ]
    _put(root / "scatter_data.json", rows)
    _put(root / "server_config.json", {})
    _put(root / "attributions" / "manifest.json", {})
    about = {
        "model_name": info.name,
        "np_model_id": name,
        "dataset_name": dataset,
        "n_sequences": len(numbers),
        "seq_len": longest,
    }
    _put(root / "config.json", _config(about, tops.shape[1], tops.shape[2], kept))
    return root


def _records(given: Sequence[str | Record], model: Model | None, truncate: Truncate | None) -> Callable[[int], Record]:
    """A function that gives the record of each text. Raises SettingError for what is no decoder's."""

    def made(number: int) -> Record:
        one = given[number]
        if isinstance(one, Record):
            if not one.reads_own_text:
                raise SettingError(_DECODERS)
            return one
        if not isinstance(one, str):
            raise TextError(f"Text {number + 1:,} is neither a str nor a record.")
        if model is None:
            raise SettingError("Texts need a model: give records, or a model from bartviz.load.")
        if model.info.kind != "decoder":
            raise SettingError(_DECODERS)
        try:
            return capture(model, one, truncate=truncate, top_k=1)
        except TextError as error:
            raise TextError(f"Text {number + 1:,} of {len(given):,}: {error}") from error

    return made


def _measured(record: Record) -> tuple[_Sums, Floats]:
    """The sums of a text, and each head's largest weight (L, H), the first row and column aside."""
    attention = record.attention("decoder")
    layers, heads, n, _ = attention.shape
    places = np.arange(n)
    far = np.abs(places[:, None] - places).astype(np.float64)  # (n, n)
    queries, keys, repeated = _after_earlier(record.source.ids.tolist())
    sums = np.zeros((6, layers, heads))
    top = np.zeros((layers, heads), np.float32)
    for layer in range(layers):
        weights = attention.layer(layer).astype(np.float64)  # (H, n, n)
        logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
        again = weights[:, queries, keys]
        sums[:, layer] = (
            np.trace(weights, axis1=1, axis2=2),
            np.trace(weights, offset=-1, axis1=1, axis2=2),
            -(weights * logs).sum(axis=(1, 2)),
            (weights * far).sum(axis=(1, 2)),
            (weights * far**2).sum(axis=(1, 2)),
            np.where(again >= INDUCTION_LEAST, again, 0).sum(axis=1),
        )
        top[layer] = weights[:, 1:, 1:].max(axis=(1, 2))
    itself, previous, entropy, distance, square, induction = sums
    return _Sums(itself, previous, entropy, distance, square, induction, n, n - 1, repeated), top


def _after_earlier(ids: Sequence[int]) -> tuple[list[int], list[int], int]:
    """For each token that occurred before the places after its earlier occurrences: queries, keys, how many tokens."""
    seen: dict[int, list[int]] = {}
    queries, keys = list[int](), list[int]()
    for place, token in enumerate(ids):
        for earlier in seen.get(token, ()):
            queries.append(place)
            keys.append(earlier + 1)
        seen.setdefault(token, []).append(place)
    return queries, keys, len(set(queries))


def _chosen(tops: Floats, kept: _Kept) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """For each layer and head the interval, from 1, and the place among the N texts of those that are shown."""
    edges = np.quantile(tops, np.arange(1, kept.intervals) / kept.intervals, axis=0)  # (I - 1, L, H)
    found = dict[tuple[int, int], list[tuple[int, int]]]()
    for layer, head in np.ndindex(*tops.shape[1:]):
        values = tops[:, layer, head]
        part = np.searchsorted(edges[:, layer, head], values, side="right")  # (N,)
        lot = np.random.default_rng((kept.seed, layer, head))
        shown = list[tuple[int, int]]()
        for interval in range(kept.intervals):
            inside = np.flatnonzero(part == interval)
            if interval == kept.intervals - 1:
                inside = inside[np.argsort(-values[inside], kind="stable")][: kept.top_samples]
            elif len(inside) > kept.samples:
                inside = np.sort(lot.choice(inside, kept.samples, replace=False))
            shown += [(interval + 1, place) for place in inside.tolist()]
        found[layer, head] = shown
    return found


def _write(
    root: Path,
    shown: dict[tuple[int, int], list[tuple[int, int]]],
    numbers: Sequence[int],
    tops: Floats,
    kept: _Kept,
    record: Callable[[int], Record],
) -> None:
    """The files of all heads; each text that one of them shows is run once more."""
    wanted: dict[int, list[tuple[int, int, int]]] = {}
    for (layer, head), places in shown.items():
        for interval, place in places:
            wanted.setdefault(place, []).append((layer, head, interval))
    sequences: dict[tuple[int, int], list[dict[str, Any]]] = {of: [] for of in shown}
    for place in sorted(wanted):
        one = record(numbers[place])
        tokens = _tokens(one)
        attention = one.attention("decoder")
        for layer, head, interval in wanted[place]:
            indices, values = _sparse(attention.head(layer, head), kept)
            sequences[layer, head].append(
                {
                    "sequence_id": numbers[place],
                    "interval": interval,
                    "tokens": tokens,
                    "attention_indices": indices,
                    "attention_values": values,
                    "seq_len": len(tokens),
                    "max_activation": _plain(tops[place, layer, head]),
                }
            )
    edges = np.linspace(0, 1, BINS + 1)
    for (layer, head), found in sequences.items():
        found.sort(key=lambda one: (one["interval"], -one["max_activation"], one["sequence_id"]))
        largest = tops[:, layer, head]
        counts = np.histogram(np.clip(largest, 0, 1), edges)[0]
        _put(
            root / "heads" / f"L{layer}H{head}.json",
            {
                "sequences": found,
                "qk_distance_histogram": _distances(found),
                "top_query_tokens": _top(found, 0),
                "top_key_tokens": _top(found, 1),
                "histogram": {"bin_edges": edges.round(4).tolist(), "bin_values": counts.tolist()},
                "statistics": {"n_samples": len(found), "mean_max_activation": _plain(largest.mean())},
            },
        )


def _tokens(record: Record) -> list[str]:
    """The tokens as they stand in the text, the space before a word with them; special ones by their names."""
    tokens, text = record.source, record.source_text
    if max((span[1] for span in tokens.spans if span is not None), default=0) > len(text):
        return list(tokens.labels)
    written, at = list[str](), 0
    for label, span in zip(tokens.labels, tokens.spans, strict=True):
        if span is None:
            written.append(label)
            continue
        written.append(text[at : span[1]] or _UNKNOWN)  # a further byte of the same character
        at = max(at, span[1])
    return written


def _sparse(weights: Floats, kept: _Kept) -> tuple[list[int], list[float]]:
    """The largest weights of each row (n, n) as places in the flattened matrix and values, in order."""
    n = len(weights)
    keys = np.argsort(-weights, axis=1, kind="stable")[:, : kept.keys]  # (n, keys)
    flat = np.sort((np.arange(n)[:, None] * n + keys).ravel())
    flat = flat[weights.ravel()[flat] >= max(kept.least, 10.0**-DECIMALS)]
    return flat.tolist(), [round(float(value), DECIMALS) for value in weights.ravel()[flat]]


def _distances(sequences: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """The weight that is kept, by the distance from query to key."""
    sums = np.zeros(len(DISTANCES) - 1)
    for one in sequences:
        places, values = np.array(one["attention_indices"], np.int64), np.array(one["attention_values"])
        far = np.abs(places // one["seq_len"] - places % one["seq_len"])
        sums += np.histogram(far, DISTANCES, weights=values)[0]
    return {"bin_edges": list(DISTANCES), "bin_values": sums.round(DECIMALS).tolist()}


def _top(sequences: Sequence[dict[str, Any]], axis: int) -> list[dict[str, Any]]:
    """The tokens with the most of the weight that is kept, as queries (axis 0) or as keys (1)."""
    sums = Counter[str]()
    for one in sequences:
        for place, value in zip(one["attention_indices"], one["attention_values"], strict=True):
            sums[one["tokens"][divmod(place, one["seq_len"])[axis]]] += value
    return [{"token": token, "weight": round(weight, DECIMALS)} for token, weight in sums.most_common(TOKENS)]


def _config(about: dict[str, Any], layers: int, heads: int, kept: _Kept) -> dict[str, Any]:
    pipeline = about | {
        "dtype": "float32",
        "attn_implementation": "bartviz",
        "induction_attention_threshold": INDUCTION_LEAST,
        "n_intervals": kept.intervals,
        "samples_per_interval": kept.samples,
        "samples_per_top_interval": kept.top_samples,
        "sparse_topk_per_row": kept.keys,
        "sparse_threshold": kept.least,
        "sample_seed": kept.seed,
        "warmup_size": 0,
        "versions": versions(),
        "created_at": now(),
    }
    return {
        **{name: about[name] for name in ("model_name", "np_model_id", "dataset_name")},
        "heads": [[layer, head] for layer in range(layers) for head in range(heads)],
        "n_layers": layers,
        "n_heads": heads,
        "n_intervals": kept.intervals,
        "metrics": list(METRICS),
        "metric_descriptions": METRICS,
        "head_data_pattern": "L{layer}H{head}.json",
        "has_umap": False,
        "umap_heads": [],
        "custom_plots": [
            {"key": "qk_distance_histogram", "label": "Distance from query to key"},
            {"key": "histogram", "label": "Largest weight of a text"},
        ],
        "custom_tables": [
            {"key": "top_query_tokens", "label": "Top query tokens"},
            {"key": "top_key_tokens", "label": "Top key tokens"},
        ],
        "statistics_display": {
            "n_samples": {"label": "Texts shown", "format": "default"},
            "mean_max_activation": {"label": "Mean of the largest weight", "format": "default"},
        },
        "pipeline_config": pipeline,
    }


def _safe(name: str) -> str:
    """A name of a folder. Raises SettingError for one without a letter or digit."""
    found = _UNSAFE.sub("-", name).strip("-.")
    if not found:
        raise SettingError("The name of the model and of the data set need letters or digits: they name folders.")
    return found


def _plain(value: Any) -> float | None:
    """A number for JSON, which has none that is not finite."""
    return round(float(value), DECIMALS) if np.isfinite(value) else None


def _put(path: Path, value: object) -> None:
    store.replace(path, (json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n").encode())
