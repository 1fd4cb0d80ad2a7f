"""The methods of attribution: what each computes, who proposed it, and what its numbers mean. Without torch.

In formulas: x_j the embedding of token j, f the log-probability of the token that is explained (or the difference of
two logits), alpha the weights of a head, v the values, W_O the output projection, y the output of an attention block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from bartviz.language import later, mark
from bartviz.plugins import Extended, Plugin

Needs = Literal["gradients", "more passes", "weights", "values"]
Sums = Literal["each", "together"]


@dataclass(frozen=True, slots=True)
class Method:
    """One method of attribution. ``name`` and ``formula`` are messages.

    ``needs``: what it is computed from: gradients, further passes of the network, the weights of attention alone, or
    these with values and output projections.
    ``sums``: numbers are shares of at least 0. Those of a step's source tokens sum to 1, and so do those of its earlier
    outputs (``each``), or both sides sum to 1 ``together``. None: numbers are signed, in the unit of f (nats), and a
    positive one speaks for the token.
    ``contrasts``: whether it can explain why one token and not another, the difference of their logits;
    ``always_contrasts``: it does so in any case, against the likeliest other token where none is named.
    """

    name: str
    formula: str
    source: str
    needs: Needs
    sums: Sums | None = None
    contrasts: bool = False
    always_contrasts: bool = False


_ALL = (
    Method(
        mark("leave-one-out"),
        mark("f(x) - f(x with token j replaced by the mask token, or the unknown token where there is none)"),
        "Li, Monroe and Jurafsky 2016",
        "more passes",
        contrasts=True,
    ),
    Method(mark("gradient x input"), "x_j . df/dx_j", "Shrikumar et al. 2016", "gradients", contrasts=True),
    Method(
        mark("contrast"),
        mark("x_j . d(f - g)/dx_j, with the logits f of the token and g of the likeliest other one"),
        "Yin and Neubig 2022",
        "gradients",
        contrasts=True,
        always_contrasts=True,
    ),
    Method(
        mark("integrated gradients"),
        mark(
            "(x_j - b_j) . integral over a from 0 to 1 of df/dx_j at b + a (x - b); b has the mask token in place of "
            "words"
        ),
        "Sundararajan, Taly and Yan 2017, equation 1",
        "gradients",
        contrasts=True,
    ),
    Method(
        mark("value zeroing"),
        mark("1 - cos(state_i, state_i with v_j = 0), as shares of each layer; the mean over layers"),
        "Mohebbi et al. 2023",
        "more passes",
        "each",
    ),
    Method(
        mark("rollout"),
        mark("max(0, |y_i|_1 - |y_i - part of y_i that comes from j|_1) as shares, multiplied from layer to layer"),
        "Ferrando et al. 2022 (ALTI+)",
        "values",
        "together",
    ),
    Method(
        mark("norms of weighted values"),
        mark("|sum over heads of alpha_ij W_O v_j| as shares of each layer; the mean over layers"),
        "Kobayashi et al. 2020, equation 3",
        "values",
        "each",
    ),
    Method(
        mark("mean attention"),
        mark("the mean of alpha_ij over all layers and heads"),
        "Bahdanau et al. 2015",
        "weights",
        "each",
    ),
    Method(
        mark("best head"),
        mark("alpha_ij of the head whose words choose each other most"),
        "Raganato and Tiedemann 2018",
        "weights",
        "each",
    ),
)


@dataclass(frozen=True, slots=True)
class OwnMethod:
    """A method of attribution of one's own, for the entry points ``bartviz.methods``: what it is, and the function that
    computes it, from an ``attribution.question.Question`` to its ``Parts``."""

    about: Method
    compute: Callable[[Any], Any]


def accepted(plugin: Plugin) -> OwnMethod:
    """The method that a plugin adds. Raises SettingError for something else."""
    own = plugin.added
    if not isinstance(own, OwnMethod) or not isinstance(own.about, Method) or not callable(own.compute):
        raise plugin.refused(
            later("it is no OwnMethod of a Method and a function, but {type}", type=type(own).__name__)
        )
    return own


def _accept(plugin: Plugin) -> tuple[str, Method]:
    about = accepted(plugin).about
    return about.name, about


METHODS: Extended[Method] = Extended({method.name: method for method in _ALL}, "methods", _accept)
"""By name, those that ask the network itself first, and last those of plugins."""
