"""How many of the fresh texts in `training/data/fresh_texts.txt` the denoiser restores exactly, by noise function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from zlib import crc32

import numpy as np

from bartviz.analysis.denoising import NOISE
from training import lists

FILE = "fresh_texts.txt"


def texts() -> tuple[str, ...]:
    """The texts, two or three sentences each, in an order that can be known."""
    return lists.lines(FILE)


def noised(text: str, noise: str) -> str:
    """A text as the noise function changes it, the same every time; drawn again while nothing has changed."""
    rng = np.random.default_rng(crc32(f"{noise} {text}".encode()))
    return next(found for _ in range(100) if (found := NOISE[noise](text, rng).text) != text)


def exact(found: Sequence[str], noise: str, restore: Callable[[list[str]], list[str]]) -> int:
    """How many of the texts are restored word for word and mark for mark."""
    after = restore([noised(text, noise) for text in found])
    return sum(_plain(a) == _plain(b) for a, b in zip(after, found, strict=True))


def _plain(text: str) -> str:
    """A text with single spaces."""
    return " ".join(text.split())
