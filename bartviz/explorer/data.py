"""The data of an explorer: records as one text of base64.

**The bytes**: the length of the header (4 bytes, little endian), the header (JSON, UTF-8, compressed), then the parts
one after the other, each compressed by zlib. The header names a part by its offset, counted from the end of the header,
and its length. No text stands in the file in any other form, so none of it can be read as HTML.

**Weights**: a map (Q, K) is a part: first the low bytes of its codes, then the high bytes, row by row. A code is the
weight times 26214, rounded, so that it is within 2e-5 of ``record.attention(kind).head(layer, head)``. Means of heads
are computed in the browser. Where all maps would take more bytes than allowed, weights below
``least`` are left out: their code is 0. All others stay exact, every head and row remains, and the page states the
limit.
"""

from __future__ import annotations

import base64
import bisect
import json
import math
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bartviz.analysis import decoding, start, word_colors
from bartviz.analysis.word_colors import WordColors
from bartviz.browser.canvas.data import Picture, Shown
from bartviz.browser.canvas.messages import messages
from bartviz.browser.player.data import described, revision
from bartviz.browser.player.messages import some, titles
from bartviz.explorer.messages import about, page, shortened
from bartviz.language import LANGUAGES, speaking
from bartviz.record.attention import Attention, Head
from bartviz.record.record import Record
from bartviz.text.tokens import Tokens

UNIT = 26_214  # the code of a weight of 1
MOST = 6_000_000  # bytes of a file
_PLACE = 12  # bytes that the place of a map takes in the header, compressed, at most
_ROUGHLY = 1.1  # how far the sample may be off
_SAMPLED = 6  # maps from which the size of all is estimated
_STEP = 1.15  # between two limits that are tried
_LEVEL = 6  # of zlib

Map = tuple[Attention, int, int]


@dataclass
class _Parts:
    """The compressed parts, and where each is."""

    data: list[bytes] = field(default_factory=list)
    length: int = 0

    def add(self, part: bytes) -> tuple[int, int]:
        place = self.length, len(part)
        self.data.append(part)
        self.length += len(part)
        return place


def encode(records: Sequence[Record], names: Sequence[str], most: int | None) -> str:
    """Everything that the page shows, as base64. ``most``: characters of it; None keeps every weight."""
    maps = [one for record in records for one in _maps(record)]
    room = None
    if most is not None:
        without = len(_encoded(records, names, [b""] * len(maps), UNIT))
        room = max((most - without) * 3 // 4 - _PLACE * len(maps), 0)
    least, packed = _fitted(maps, room)
    return _encoded(records, names, packed, least)


def _encoded(records: Sequence[Record], names: Sequence[str], packed: Sequence[bytes], least: int) -> str:
    parts, every = _Parts(), iter(packed)
    described_records = [
        _record(record, name, number, parts, every)
        for number, (record, name) in enumerate(zip(records, names, strict=True))
    ]
    header = empty(least) | {"records": described_records}
    text = zlib.compress(
        json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace"), _LEVEL
    )
    return base64.b64encode(b"".join([struct.pack("<I", len(text)), text, *parts.data])).decode()


def empty(least: int = 0) -> dict[str, Any]:
    """The header without records."""
    words: dict[str, Any] = {}
    for language in LANGUAGES:
        with speaking(language):
            words[language] = page(least / UNIT)
    return {"unit": UNIT, "least": least, "languages": LANGUAGES, "words": words}


def _maps(record: Record) -> Iterator[Map]:
    for kind in record.kinds:
        attention = record.attention(kind)
        for layer in range(attention.shape[0]):
            for head in range(attention.shape[1]):
                yield attention, layer, head


def _fitted(maps: Sequence[Map], most: int | None) -> tuple[int, list[bytes]]:
    """The maps, and the smallest limit (a code) of a geometric series at which they take at most ``most`` bytes."""
    if most is None:
        return 0, [_packed(one, 0) for one in maps]
    sample = maps[:: max(1, len(maps) // _SAMPLED)]
    limits = [0, *(round(_STEP**power) for power in range(1, round(math.log(UNIT, _STEP))))]
    share = most * len(sample) / len(maps) * _ROUGHLY
    first = bisect.bisect_left(limits, True, key=lambda least: sum(len(_packed(one, least)) for one in sample) <= share)
    for least in limits[first:]:
        packed: list[bytes] = []
        room = most
        for one in maps:  # until it is clear that they do not fit
            packed.append(_packed(one, least))
            room -= len(packed[-1])
            if room < 0:
                break
        else:
            return least, packed
    return UNIT, [_packed(one, UNIT) for one in maps]


def _packed(one: Map, least: int) -> bytes:
    attention, layer, head = one
    codes = np.rint(attention.head(layer, head) * np.float32(UNIT)).astype(np.uint16)  # (Q, K)
    if least:
        codes[codes < least] = 0
    compressor = zlib.compressobj(_LEVEL)
    low = compressor.compress((codes & 255).astype(np.uint8).tobytes()) + compressor.flush(zlib.Z_SYNC_FLUSH)
    high = compressor.compress((codes >> 8).astype(np.uint8).tobytes()) + compressor.flush()
    return low + high  # two blocks: low bytes are spread evenly, high bytes are not


def _record(record: Record, name: str, number: int, parts: _Parts, maps: Iterator[bytes]) -> dict[str, Any]:
    head = _first(record)
    colors = word_colors.of(record, head)
    facts: dict[str, Any] = {}
    for language in LANGUAGES:
        with speaking(language):
            facts[language] = about(record)
    return {
        "name": name,
        "source": shortened(record.source_text),
        "target": shortened(record.target_text or ""),
        "about": facts,
        "first": {"kind": head.kind, "layer": head.layer, "head": head.head},
        "kinds": {
            kind: _attention(record, record.attention(kind), colors, number, parts, maps) for kind in record.kinds
        },
        "player": _player(record, colors) if record.steps else None,
    }


def first(record: Record) -> dict[str, Any]:
    """The first view: kind, layer, head and row."""
    head = _first(record)
    return {"kind": head.kind, "layer": head.layer, "head": head.head, "row": _row(record.rows(head.kind))}


def _first(record: Record) -> Head:
    """The head that is shown first: that of the start page, where one has been found."""
    kind = "cross" if record.cross is not None else record.kinds[0]
    found = start.ribbons(record)
    if found is not None and found.head.kind == kind:
        return found.head
    return Head(kind, record.attention(kind).shape[0] // 2, 0)


def _attention(
    record: Record, attention: Attention, colors: WordColors, number: int, parts: _Parts, maps: Iterator[bytes]
) -> dict[str, Any]:
    rows = record.rows(attention.kind)
    shown = Shown(query=rows, page_keys=not record.steps, colors=colors.sides(attention.kind))
    picture = Picture(attention, shown)
    meta, arrays = picture.fixed
    del meta["words"]
    words: dict[str, Any] = {}
    for language in LANGUAGES:
        with speaking(language):
            words[language] = messages(attention, predicts=picture.first.predicts, renormalised=False)
    return {
        "meta": meta | {"revision": f"{number} {attention.kind}", "unit": UNIT},
        "words": words,
        "row": _row(rows),
        "arrays": [
            [name, array.dtype.name, array.shape, parts.add(zlib.compress(array.tobytes(), _LEVEL))]
            for name, array in arrays.items()
        ],
        "maps": [parts.add(next(maps)) for _ in range(attention.shape[0] * attention.shape[1])],
    }


def _row(tokens: Tokens) -> int:
    """The first row that is no special token; 0 if all are."""
    return int(np.argmin(tokens.special))


def _player(record: Record, colors: WordColors) -> dict[str, Any]:
    kind = decoding.kind_of(record)
    meta: dict[str, Any] = {}
    for language in LANGUAGES:
        with speaking(language):
            meta[language] = described(record, None, None, colors=colors) | {
                "asks": False,
                "some": some(record, asks=False),
                "titles": titles(record, kind, "{weights}", "{own}", asks=False),
            }
    return {"kind": kind, "revision": revision(record), "rows": decoding.step_rows(record).tolist(), "meta": meta}
