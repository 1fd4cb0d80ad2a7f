"""A corpus measured beside plain forward passes over the same sorted batches, in CPU time."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import torch

import bartviz
from bartviz.corpus.encode import Encoded, encode
from bartviz.corpus.measure import batches, forward, measure, padded
from bartviz.corpus.read import Line
from bartviz.corpus.shards import Job
from bartviz.corpus.work import measured
from bartviz.families.catalogue import EMBEDDED
from bartviz.models.model import Model
from benchmarks.pairs import paired

MODELS = ("bart-tiny-en-de", "bert-tiny-en")
ROWS = 2_048


def report(*, rows: int = ROWS, seconds: float = 20.0) -> None:
    print(f"\nCorpus: CPU time of {rows:,} sorted texts / plain passes over the same batches (fast kernel)")
    for name in MODELS:
        model = bartviz.load(name)
        job = Job(0, tuple(lines(model, rows)), ())
        encoded = [encode(model, line) for line in job.lines]
        parts = [[encoded[index] for index in batch] for batch in batches(encoded)]
        whole, stacks = plain(model, parts, whole=True), plain(model, parts, whole=False)
        print(f"  {name:16} measures, by passes as captured    {paired(ours(model, parts), whole, seconds=seconds)}")
        print(f"  {name:16} measures, by passes of the stacks  {paired(ours(model, parts), stacks, seconds=seconds)}")
        everything = paired(lambda: measured(model, job), whole, seconds=seconds)  # noqa: B023
        print(f"  {name:16} all, tokens and sums included      {everything}", flush=True)


def lines(model: Model, rows: int) -> list[Line]:
    """Texts of 3 to 16 words, and for an encoder-decoder others as their targets."""
    words = (EMBEDDED / "words.txt").read_text(encoding="utf-8").split()
    generator = np.random.default_rng(0)

    def text() -> str:
        return " ".join(generator.choice(words, generator.integers(3, 17)).tolist()) + "."

    both = model.info.kind == "encoder-decoder"
    return [Line(number, "words.txt", number + 1, text(), None, text() if both else None) for number in range(rows)]


def ours(model: Model, parts: list[list[Encoded]]) -> Callable[[], object]:
    return lambda: [measure(model, part) for part in parts]


def plain(model: Model, parts: list[list[Encoded]], *, whole: bool) -> Callable[[], object]:
    """The passes alone, by the fast kernel; ``whole``: with the output layer."""
    network = copy.deepcopy(model.network)
    network.set_attn_implementation("sdpa")
    inputs = [padded(model, part) for part in parts]

    if not whole or model.info.kind == "encoder":  # as in ``bartviz.capture``
        network = network.base_model

    @torch.inference_mode()
    def passes() -> None:
        for source, read, _ in inputs:
            forward(model, network, source, read)

    return passes
