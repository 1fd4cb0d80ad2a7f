"""A model as bytes that the engine opens: ``opened`` in file.js.

**The bytes**: the length of the header (4 bytes, little endian), the header (JSON, UTF-8, compressed), then the parts.
The tensors are one image of the memory that the engine multiplies in, cut into parts of a megabyte, each compressed by
zlib, whose checksum tells a damaged file. The header says where each part goes, and where in the image each tensor is.
"""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import asdict
from typing import Any

from bartviz.explorer.engine import model as networks
from bartviz.explorer.engine import tokenizer as tokenizers
from bartviz.models.model import Model

_ALIGNED = 16  # bytes
_PART = 1_000_000  # bytes of the image
_LEVEL = 6  # of zlib


def packed(model: Model) -> bytes:
    """The bytes of a model. Raises ModelError, with the reason, for one that cannot run in a page."""
    spec, stored = networks.described(model)
    image = bytearray()
    tensors = []
    for tensor in stored:
        at = _placed(image, tensor.values.tobytes())
        scales = None if tensor.scales is None else _placed(image, tensor.scales.tobytes())
        kind = tensor.values.dtype.name
        tensors.append({"shape": tensor.values.shape, "type": kind, "at": at, "scales": scales})
    parts, data = [], []
    for start in range(0, len(image), _PART):
        data.append(zlib.compress(bytes(image[start : start + _PART]), _LEVEL))
        parts.append({"at": sum(map(len, data[:-1])), "length": len(data[-1]), "to": start})
    header: dict[str, Any] = {
        "bytes": sum(map(len, data)),
        "room": len(image),
        "parts": parts,
        "tensors": tensors,
        "spec": spec,
        "tokenizer": tokenizers.described(model),
        "generation": networks.generation(model),
        "info": asdict(model.info) | {"fingerprint": networks.fingerprint(model, stored)},
    }
    text = zlib.compress(json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode(), _LEVEL)
    return b"".join([struct.pack("<I", len(text)), text, *data])


def _placed(image: bytearray, data: bytes) -> int:
    """Where the data stand in the image, to whose end they are added."""
    image.extend(bytes(-len(image) % _ALIGNED))
    image.extend(data)
    return len(image) - len(data)
