"""The activation of a feed-forward layer: GELU, ReLU and others, and which one a model has.

GELU(x) = x * Phi(x) with Phi the normal distribution's cumulative function (Hendrycks and Gimpel 2016).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from bartviz.families.catalogue import entry
from bartviz.families.config import Sizes, sizes
from bartviz.language import _, mark
from bartviz.record.record import ModelInfo

Doubles = NDArray[np.float64]
Curve = Callable[[Doubles], Doubles]


def relu(x: Doubles) -> Doubles:
    """max(0, x)."""
    return np.maximum(x, 0.0)


def relu_squared(x: Doubles) -> Doubles:
    """max(0, x)^2 (So et al. 2021)."""
    return np.square(relu(x))


def gelu(x: Doubles) -> Doubles:
    """x * Phi(x), with the exact error function."""
    phi = np.array([0.5 * (1 + math.erf(number / math.sqrt(2))) for number in x.ravel()]).reshape(x.shape)
    result: Doubles = x * phi
    return result


def gelu_tanh(x: Doubles) -> Doubles:
    """GELU's approximation by tanh, as GPT-2 and T5 1.1 use it; it differs from GELU by less than 0.001."""
    result: Doubles = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return result


def swish(x: Doubles) -> Doubles:
    """x / (1 + e^-x), also called SiLU; Marian models have it."""
    result: Doubles = x / (1 + np.exp(-x))
    return result


CURVES: Mapping[str, tuple[str, Curve]] = {
    "gelu": ("GELU", gelu),
    "gelu_python": ("GELU", gelu),
    "gelu_new": (mark("GELU by tanh"), gelu_tanh),
    "gelu_fast": (mark("GELU by tanh"), gelu_tanh),
    "gelu_pytorch_tanh": (mark("GELU by tanh"), gelu_tanh),
    "relu": ("ReLU", relu),
    "relu2": (mark("ReLU squared"), relu_squared),
    "silu": ("Swish", swish),
    "swish": ("Swish", swish),
}
"""transformers' name of a function -> its usual name, and the function."""


GATED = "gated-"
"""The prefix of the function's name in gated feed-forward layers, which multiply its result with another matrix's.

T5 1.1 writes ``gated-gelu``; transformers then takes ``gelu_new``.
"""


def activation_function(info: ModelInfo) -> tuple[str, str]:
    """transformers' name of the model's activation, and the source of that information.

    The source is the record, else the published configuration, else the default of the family.
    """
    if info.activation is not None:
        return info.activation.removeprefix(GATED), _("the model's configuration")
    known = _published(info)
    if known is not None:
        return known.activation, _("the model's configuration")
    family = info.known
    return family.activation[1], _("the default of {family}", family=family.title)


def gated(info: ModelInfo) -> bool:
    """Whether the layer is gated: the function's result is multiplied with that of a second matrix (Shazeer 2020)."""
    known = _published(info)
    return (info.activation or "").startswith(GATED) or (known is not None and known.gated)


def _published(info: ModelInfo) -> Sizes | None:
    """The sizes in the catalogue's configuration of this model."""
    known = entry(info.name)
    return None if known is None or known.family != info.family else sizes(known.config)


def sentence(info: ModelInfo) -> str:
    """One sentence: the model's activation, and whether that is known from the record or the configuration."""
    name, source = activation_function(info)
    title = _(CURVES[name][0]) if name in CURVES else name
    if title.lower() != name.lower():
        title = _("{title} (written {name})", title=title, name=name)
    if gated(info):
        return _(
            "This model has {title}, from {source}, in gated feed-forward layers: the result is multiplied, "
            "element by element, with the product of x and a second matrix. A record holds attention, not "
            "feed-forward layers.",
            title=title,
            source=source,
        )
    return _(
        "This model has {title}, from {source}; a record holds attention, not what feed-forward layers do.",
        title=title,
        source=source,
    )


def norm_sentence(info: ModelInfo) -> str:
    """One sentence: where the model normalises."""
    family = info.known
    if family.norm == "post":
        return _(
            "{family} normalises after each sum (post-norm): the stream that the next block reads has the same size in "
            "every layer. This is how the family is built; it is not measured.",
            family=family.title,
        )
    if family.norm == "inner":
        return _(
            "{family} normalises what each block adds: blocks read and add to a stream that is never normalised "
            "itself. This is how the family is built; it is not measured.",
            family=family.title,
        )
    return _(
        "{family} normalises before each block (pre-norm): blocks add to a stream that is never normalised itself, "
        "only its copies. This is how the family is built; it is not measured.",
        family=family.title,
    )
