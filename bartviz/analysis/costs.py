"""The cost of a pass: multiply-adds and bytes against the length of the text, in closed form.

One multiply-add is one product and one sum, 2 FLOPs. Counted are the matrix products, as torch's FlopCounterMode
counts them (masked cells included: the kernels compute them too); not softmax, layer norms, activations and biases,
which grow with n or n^2 without a factor of the width. Letters: n source tokens, m target tokens, L layers, H heads,
d width, a = H * head width, f feed-forward width, V vocabulary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import pandas as pd

from bartviz.analysis.parameters import Model, Parameter, architecture_of, configuration, rows_of
from bartviz.errors import SettingError, choices
from bartviz.families import config as configs
from bartviz.families.config import Sizes, Stack
from bartviz.language import later

FLOPS = 2  # per multiply-add
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "int8": 1}
MAX_LENGTH = 1_048_576

Side = Literal["encoder", "decoder", "head"]
Part = Literal["embedding", "projections", "scores", "weighted sums", "feed-forward", "output"]
"""projections: q, k, v and output of every attention; scores: QK^T; weighted sums: AV; output: the head."""

# The matrices of a head that see one vector a text; all others see every token.
_ONCE = ("pooler", "next sentence", "sentence order", "classifier", "classifier dense")
# Activations written in several steps hold that many copies of the feed-forward layer at once; fused ones two.
_COPIES = {"gelu_new": 5, "gelu_fast": 5, "quick_gelu": 3}


class Costs:
    """One model's costs. Sizes are read once, so that a curve over many lengths takes microseconds a point.

    ``model`` and ``architecture`` as in ``parameters``. Raises ModelError, SettingError.
    """

    def __init__(self, model: Model, *, architecture: str | None = None) -> None:
        config = configuration(model)
        self.architecture = architecture_of(config, architecture)
        sizes = configs.sizes(config)
        self._variant = sizes.family.variants[self.architecture]
        self.sizes = sizes if self._variant.decoder else replace(sizes, decoder=None)
        rows = rows_of(sizes, self.architecture)
        self.parameters = sum(row.count for row in rows)
        self._projected = Counter[str]()  # multiply-adds a token: embeddings of another width, in and (OPT) back
        for row in rows:
            if row.role.startswith("embedding projection") and len(row.shape) == 2:
                self._projected[row.component] += row.elements
        self._head = _head_rows(sizes, self.architecture)

    def operations(self, source: int, target: int | None = None) -> pd.DataFrame:
        """Multiply-adds of one pass over ``source`` tokens, and ``target`` tokens in an encoder-decoder's decoder.

        ``target`` None: as many as the source. A decoder-only model reads ``source`` tokens. One row per side and
        part: side, part, multiply_adds, flops.
        """
        found = self._pass(*self.lengths(source, target))
        table = pd.DataFrame(
            [(*place, count) for place, count in found.items()], columns=["side", "part", "multiply_adds"]
        )
        return table.assign(flops=table["multiply_adds"] * FLOPS)

    def curve(self, lengths: Sequence[int], target: int | None = None) -> pd.DataFrame:
        """Multiply-adds and bytes over source lengths: one row per length, one column per part and kind of memory."""
        found = []
        for length in lengths:
            parts: Counter[str] = Counter()
            for (_, part), count in self._pass(*self.lengths(length, target)).items():
                parts[part] += count
            bytes_ = self.memory(length, target)
            found.append({"length": length, **parts, **{name: getattr(bytes_, name) for name in Memory.__slots__}})
        return pd.DataFrame(found)

    def step(self, source: int, position: int, *, cache: bool = True) -> int:
        """Multiply-adds of the decoding step that reads the token at ``position`` (from 1).

        With a key-value cache one row passes through the decoder; the first step also makes the cross keys and values
        of the ``source`` tokens. Without a cache all ``position`` rows pass again, cross keys and values and output
        layer included, as in a loop that calls the whole decoder for every token. The encoder, run once, is left out.
        """
        if self.sizes.decoder is None:
            raise SettingError(later("An encoder writes nothing: choose a model with a decoder."))
        n = _length(source) if self.sizes.encoder else 0
        rows = 1 if cache else _length(position)
        made = n if position == 1 or not cache else 0
        found = self._decoder(rows, _length(position), n, made)
        return sum(count for _, count in found) + self._output(rows)

    def generation(self, source: int, steps: int) -> pd.DataFrame:
        """Multiply-adds of the decoding steps 1 ... ``steps``: position, cached, uncached."""
        positions = range(1, _length(steps) + 1)
        return pd.DataFrame(
            {
                "position": positions,
                "cached": [self.step(source, position) for position in positions],
                "uncached": [self.step(source, position, cache=False) for position in positions],
            }
        )

    def memory(self, source: int, target: int | None = None, *, dtype: str = "float32") -> Memory:
        """Bytes at ``source`` (and ``target``) tokens, batch 1; ``dtype`` holds for weights, activations and cache."""
        if dtype not in BYTES:
            raise SettingError(later("The number format is one of {choices}.", choices=choices(BYTES)))
        size = BYTES[dtype]
        n, m = self.lengths(source, target)
        kinds = [*self._kinds(n, m)]
        tape = sum(stack.layers * stack.inner * (queries + keys) for stack, queries, keys in kinds)
        return Memory(
            weights=size * self.parameters,
            activations=size * self._activations(n, m),
            captured=4 * (tape + self._bias(self.sizes.encoder, n) + self._bias(self.sizes.decoder, m)),
            attention=4 * sum(stack.layers * stack.heads * queries * keys for stack, queries, keys in kinds),
            cache=size
            * sum(2 * stack.layers * stack.keys * keys for stack, _, keys in kinds if stack is self.sizes.decoder),
        )

    def crossing(self) -> Crossing:
        """2 n a = k d f gives n = k d f / 2a for the scores, 2d less with the projections; k is 2, or 3 where gated.

        Where heads of keys, c numbers wide in all, are shared by heads of queries, d + dc/a less.

        In BERT and BART (a = d, f = 4d): n = 4d, and 2d with the projections.
        """
        stack = self.sizes.encoder or self.sizes.decoder
        assert stack is not None  # every family has a stack
        matrices = (3 if self.sizes.gated else 2) * self.sizes.experts_used
        scores = matrices * self.sizes.width * stack.feed_forward / (2 * stack.inner)
        projections = self.sizes.width * (1 + stack.keys / stack.inner)
        return Crossing(scores, max(0.0, scores - projections))

    def lengths(self, source: int, target: int | None = None) -> tuple[int, int]:
        """(n, m): an encoder-only model has m = 0, a decoder-only model n = 0 and reads the source."""
        n = _length(source)
        if self.sizes.decoder is None:
            return n, 0
        if self.sizes.encoder is None:
            return 0, n
        return n, n if target is None else _length(target)

    def _pass(self, n: int, m: int) -> Counter[tuple[Side, Part]]:
        sizes, found = self.sizes, Counter[tuple[Side, Part]]()
        if sizes.encoder is not None:
            if self._projected["encoder"]:
                found["encoder", "embedding"] += n * self._projected["encoder"]
            for part, count in _layers(sizes, sizes.encoder, n, n):
                found["encoder", part] += count
        if sizes.decoder is not None:
            for part, count in self._decoder(m, m, n, n):
                found["decoder", part] += count
        if self._head:
            found["head", "output"] += self._output(m or n)
        return found

    def _decoder(self, rows: int, keys: int, source: int, made: int) -> Iterator[tuple[Part, int]]:
        """``rows`` queries that see ``keys`` target and ``source`` source tokens; ``made`` of those get k and v now."""
        stack = self.sizes.decoder
        assert stack is not None  # asked of models with a decoder
        if self._projected["decoder"]:
            yield "embedding", rows * self._projected["decoder"]
        yield from _layers(self.sizes, stack, rows, keys)
        if self.sizes.encoder is not None:
            yield "projections", stack.layers * 2 * (rows + made) * self.sizes.width * stack.inner
            yield "scores", stack.layers * rows * source * stack.inner
            yield "weighted sums", stack.layers * rows * source * stack.inner

    def _output(self, tokens: int) -> int:
        return sum(row.elements * (1 if row.role.removesuffix(" weight") in _ONCE else tokens) for row in self._head)

    def _kinds(self, n: int, m: int) -> Iterator[tuple[Stack, int, int]]:
        """(stack, queries, keys) of each kind of attention."""
        encoder, decoder = self.sizes.encoder, self.sizes.decoder
        if encoder is not None:
            yield replace(encoder, layers=encoder.layers * self.sizes.inner_layers), n, n
        if decoder is not None:
            yield decoder, m, m
            if encoder is not None:
                yield decoder, m, n

    def _bias(self, stack: Stack | None, length: int) -> int:
        """Numbers in a stack's relative-position biases, (H, n, n); 0 in a family without."""
        if stack is None or self.sizes.family.positions != "relative":
            return 0
        return (stack.layers if self.sizes.family.biased_layers else 1) * stack.heads * length * length

    def _activations(self, n: int, m: int) -> int:
        """Numbers alive at the widest moment of a pass: a feed-forward layer, T5's position buckets, or the output.

        Fitted to what torch holds, within a fifth (tests/analysis/test_costs.py).
        """
        d, encoder, decoder = self.sizes.width, self.sizes.encoder, self.sizes.decoder
        copies, moments = _COPIES.get(self.sizes.activation, 2), []
        for stack, length, kept, biases, buckets in ((encoder, n, 0, 2, 12), (decoder, m, n * d, 3, 10)):
            if stack is not None:
                bias = self._bias(stack, length)
                moments.append(length * (4 * d + copies * stack.feed_forward) + kept + biases * bias)
                moments.append((buckets * length * length if bias else 0) + length * 5 * d + kept)
        logits = max((row.shape[0] for row in self._head), default=0)
        logits *= 2 if self._variant.logits_bias else 1  # another copy, with the bias added
        return max(*moments, (m or n) * (logits + 2 * d))


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of one pass at one length.

    weights: each matrix once. activations: an estimate of what is alive at the widest moment of a pass without
    gradients and with fused attention. captured: queries and keys of every layer in float32 (and T5's biases), which
    is what a record keeps. attention: the weights of every head of every layer in float32, as ``output_attentions``
    gives them. cache: the keys and values that decoding keeps (0 without a decoder).
    """

    weights: int
    activations: int
    captured: int
    attention: int
    cache: int


@dataclass(frozen=True, slots=True)
class Crossing:
    """From which length on attention costs more operations than the feed-forward layers of the same stack.

    ``scores``: QK^T and AV alone; ``attention``: with the four projections, 0.0 where it costs more from the start.
    """

    scores: float
    attention: float


def _length(value: int) -> int:
    if not 1 <= value <= MAX_LENGTH:
        raise SettingError(later("A length is from 1 to {limit:,} tokens.", limit=MAX_LENGTH))
    return value


@lru_cache(maxsize=64)
def _head_rows(sizes: Sizes, architecture: str) -> tuple[Parameter, ...]:
    """The matrices of the head, tied ones too: they multiply wherever they are kept."""
    return tuple(row for row in rows_of(sizes, architecture) if row.component == "head" and len(row.shape) == 2)


def _layers(sizes: Sizes, stack: Stack, rows: int, keys: int) -> Iterator[tuple[Part, int]]:
    """Self-attention and feed-forward of a whole stack for ``rows`` queries that see ``keys`` keys."""
    layers, d, a = stack.layers * sizes.inner_layers, sizes.width, stack.inner
    yield "projections", layers * 2 * rows * d * (a + stack.keys)
    yield "scores", layers * rows * keys * a
    yield "weighted sums", layers * rows * keys * a
    matrices = (3 if sizes.gated else 2) * sizes.experts_used
    yield "feed-forward", layers * matrices * rows * d * stack.feed_forward
