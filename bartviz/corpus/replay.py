"""A training to be looked at, moment by moment, in one file: the curves of a series, and a few texts at each moment.

A .zip that NumPy's ``np.load`` opens, too, without pickle: ``about.json`` and arrays of bytes. Shares are in steps of
1/255. What changes little from moment to moment, the curves and the maps, is stored as the difference from the moment
before (modulo 256), which packs well.

``about.json``: format, model, corpus, texts (how many), source (licence), steps (T), ``whole`` (steps of the whole
training, if it had not come to its end), kinds (name -> layers, heads, its
``measures``), ``points`` (change points: kind, layer, head, measure, step, low, high), ``curves`` (name -> steps and
values: the loss, for instance), and ``examples``: text, target, written (T texts of the model's own, or none), and for
each kind the labels of its rows and columns. Arrays: ``curves/KIND`` (T, L, H, M, 3) mean, low and high, with a low of
255 and a high of 0 where the mean is not defined; ``maps/EXAMPLE/KIND`` (T, L, H, Q, K) weights.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis.head_names import NAMES
from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.record.attention import KINDS
from bartviz.safety import files
from bartviz.safety.other_libraries import guarded

if TYPE_CHECKING:
    from bartviz.corpus.series import Series

FILE = "replay.zip"  # in the folder of a series
SHIPPED = Path(__file__).parents[1] / "embedded" / FILE  # of the translator; there once its training is over
SETTING = "BARTVIZ_REPLAY"  # the path of another one, for the page
ABOUT = "about.json"
FORMAT = 1
LARGEST = 64 << 20  # bytes of a file, and of what is in it
LONGEST = 400  # characters of a text of the model's own: one that has learned nothing may go on for long
_MOST = 4 << 20  # bytes of about.json
_WHEN = (1980, 1, 1, 0, 0, 0)
UNDEFINED = 255, 0  # low and high where a mean is not defined: no interval is so

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Example:
    """A text at each of T moments: ``written`` by the model itself (or empty), labels of rows and columns and weights
    (T, L, H, Q, K) by kind, in steps of 1/255."""

    text: str
    target: str | None
    written: tuple[str, ...]
    labels: Mapping[str, tuple[Sequence[str], Sequence[str]]]
    maps: Mapping[str, Bytes]


@dataclass(frozen=True, eq=False)
class Replay:
    """A training, moment by moment. ``curves``: (T, L, H, M, 3) by kind."""

    about: Mapping[str, Any]
    curves: Mapping[str, Bytes]
    examples: Sequence[Example] = field(default_factory=tuple)

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(self.about["steps"])

    def pack(self) -> bytes:
        """The file. The same replay gives the same bytes."""
        about = {**self.about, "examples": [_described(example) for example in self.examples]}
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            archive.writestr(zipfile.ZipInfo(ABOUT, _WHEN), _json(about), zipfile.ZIP_DEFLATED, 9)
            for name, array in _arrays(self).items():
                data = io.BytesIO()
                np.save(data, _differences(array), allow_pickle=False)
                archive.writestr(zipfile.ZipInfo(f"{name}.npy", _WHEN), data.getvalue(), zipfile.ZIP_DEFLATED, 9)
        return written.getvalue()

    def payload(self) -> bytes:
        """What the browser reads: the length of ``about`` (4 bytes, little-endian) and ``about`` as JSON, then the
        arrays one behind the other, in the order of ``about["arrays"]``: name and shape of each."""
        arrays = _arrays(self)
        listed = [[name, *array.shape] for name, array in arrays.items()]
        about = {**self.about, "examples": [_described(example) for example in self.examples], "arrays": listed}
        head = _json(about)
        return b"".join([len(head).to_bytes(4, "little"), head, *(array.tobytes() for array in arrays.values())])


def _json(about: Mapping[str, Any]) -> bytes:
    return json.dumps(about, ensure_ascii=False, separators=(",", ":")).encode()


def _described(example: Example) -> dict[str, Any]:
    return {name: getattr(example, name) for name in ("text", "target", "written", "labels")}


def _arrays(replay: Replay) -> dict[str, Bytes]:
    found = {f"curves/{kind}": array for kind, array in replay.curves.items()}
    for number, example in enumerate(replay.examples):
        found |= {f"maps/{number}/{kind}": array for kind, array in example.maps.items()}
    return found


def _differences(array: Bytes) -> Bytes:
    """From each moment to the next, modulo 256; the first as it is."""
    return np.concatenate([array[:1], array[1:] - array[:-1]])


def quantised(shares: NDArray[Any]) -> Bytes:
    """Shares in steps of 1/255."""
    found: Bytes = np.round(255 * np.clip(shares, 0.0, 1.0)).astype(np.uint8)
    return found


def of_series(
    series: Series,
    examples: Sequence[Example] = (),
    curves: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    *,
    source: str = "",
) -> Replay:
    """The replay of a series. curves: (step, value) of what else was measured in the training; ``source``: where the
    texts are from, and their licence. Change points are there if the series has the values of each text."""
    last, given = series.atlases[-1], curves or {}
    kinds: dict[str, Any] = {}
    arrays: dict[str, Bytes] = {}
    for kind in last.kinds:
        rows = series.heads[series.heads["kind"] == kind]
        measures = [name for name in NAMES if name in set(rows["measure"])]
        layers, heads = int(rows["layer"].max()) + 1, int(rows["head"].max()) + 1
        kinds[kind] = {"layers": layers, "heads": heads, "measures": measures}
        ordered = rows[rows["measure"].isin(measures)]
        ordered = ordered.assign(measure=ordered["measure"].map({name: at for at, name in enumerate(measures)}))
        ordered = ordered.sort_values(["step", "layer", "head", "measure"])
        numbers = ordered[["mean", "low", "high"]].to_numpy()
        packed = quantised(np.nan_to_num(numbers))
        packed[np.isnan(numbers[:, 0]), 1:] = UNDEFINED
        arrays[kind] = packed.reshape(len(series.steps), layers, heads, len(measures), 3)
    about = {
        "format": FORMAT,
        "model": last.description["model"]["name"],
        "corpus": last.description["corpus"]["name"],
        "texts": last.description["texts"],
        "source": source,
        "steps": [*series.steps],
        "kinds": kinds,
        "points": _points(series, kinds) if last.has_values else [],
        "curves": {name: [[*one] for one in points if isfinite(sum(one))] for name, points in given.items()},
    }
    return Replay(about, arrays, tuple(examples))


def _points(series: Series, kinds: Mapping[str, Any]) -> list[list[Any]]:
    """The change points of the measures that name heads: kind, layer, head, measure, step, low, high."""
    found: list[list[Any]] = []
    for kind in series.atlases[-1].kinds:
        for measure in kinds[kind]["measures"]:
            table = series.change_points(measure, kind)
            table = table[table["reason"] == ""]
            for row in table.to_dict("records"):
                steps = [round(float(row[name]), 1) for name in ("step", "low", "high")]
                found.append([kind, int(row["layer"]), int(row["head"]), measure, *steps])
    return found


def is_one(data: bytes) -> bool:
    """Whether the bytes of a file look like a replay, and not like an atlas, which is a .zip, too."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return ABOUT in archive.namelist()
    except zipfile.BadZipFile:
        return False


def open_replay(source: str | Path | bytes, name: str = "") -> Replay:
    """The replay in a file, or in its bytes, which may be from anybody. Needs NumPy alone.

    Raises SettingError for another file, one that is damaged, or too large.
    """
    shown = name or ("" if isinstance(source, bytes) else Path(source).name)
    refused = SettingError(later("{name} is not a replay of a training, or it is damaged.", name=shown or FILE))
    with guarded(refused):
        data = source if isinstance(source, bytes) else files.read(source, LARGEST)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(one.file_size for one in archive.infolist()) > LARGEST:
                raise refused
            about = json.loads(archive.read(ABOUT)[:_MOST])
            _check(about)
            moments = len(about["steps"])
            curves = {
                kind: _read(archive, f"curves/{kind}", (moments, *_heads(about, kind), len(known["measures"]), 3))
                for kind, known in about["kinds"].items()
            }
            examples = [_example(archive, number, one, about) for number, one in enumerate(about.pop("examples"))]
    return Replay(about, curves, tuple(examples))


def _check(about: Any) -> None:
    """Raise ValueError for a description that cannot be."""
    _expect(isinstance(about, dict) and about["format"] == FORMAT)
    steps = about["steps"]
    _expect(0 < len(steps) <= 1_000 and all(type(step) is int and 0 <= step < 1 << 53 for step in steps))
    _expect(sorted({*steps}) == steps)
    _expect("whole" not in about or (type(about["whole"]) is int and steps[-1] < about["whole"] < 1 << 53))
    _expect(all(isinstance(about[name], str) for name in ("model", "corpus", "source")) and type(about["texts"]) is int)
    _expect(0 < len(about["kinds"]) <= len(KINDS) and set(about["kinds"]) <= set(KINDS))
    for known in about["kinds"].values():
        _expect(all(type(known[of]) is int and 0 < known[of] <= 4_096 for of in ("layers", "heads")))
        _expect(known["measures"] == [name for name in NAMES if name in known["measures"]])
    for kind, layer, head, measure, *place in about["points"]:
        known = about["kinds"][kind]
        _expect(0 <= layer < known["layers"] and 0 <= head < known["heads"] and measure in known["measures"])
        _expect(len(place) == 3 and isfinite(sum(place)))
    for name, points in about["curves"].items():
        _expect(isinstance(name, str) and all(len(point) == 2 and isfinite(sum(point)) for point in points))
    _expect(isinstance(about["examples"], list) and len(about["examples"]) <= 64)


def _expect(holds: bool) -> None:
    if not holds:
        raise ValueError("no replay")


def _heads(about: Mapping[str, Any], kind: str) -> tuple[int, int]:
    return about["kinds"][kind]["layers"], about["kinds"][kind]["heads"]


def _example(archive: zipfile.ZipFile, number: int, one: Mapping[str, Any], about: Mapping[str, Any]) -> Example:
    moments = len(about["steps"])
    labels = {kind: (tuple(rows), tuple(columns)) for kind, (rows, columns) in one["labels"].items()}
    texts = [
        one["text"],
        one["target"] or "",
        *one["written"],
        *(text for of in labels.values() for text in sum(of, ())),
    ]
    _expect(all(isinstance(text, str) for text in texts) and len(one["written"]) in (0, moments))
    maps = {
        kind: _read(archive, f"maps/{number}/{kind}", (moments, *_heads(about, kind), *map(len, labels[kind])))
        for kind in labels
    }
    return Example(one["text"], one["target"], tuple(one["written"]), labels, maps)


def _read(archive: zipfile.ZipFile, name: str, shape: tuple[int, ...]) -> Bytes:
    """The array of this shape, summed up. Raises ValueError for another one, before memory is taken for it."""
    stream = io.BytesIO(archive.read(f"{name}.npy"))
    _expect(np.lib.format.read_magic(stream) == (1, 0))
    written, fortran, kind = np.lib.format.read_array_header_1_0(stream)
    _expect(written == shape and not fortran and kind == np.uint8)
    flat = np.frombuffer(stream.read(), np.uint8)
    found: Bytes = np.cumsum(flat.reshape(shape), axis=0, dtype=np.uint8)
    found.setflags(write=False)
    return found
