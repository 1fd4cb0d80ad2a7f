"""What the engine computes, judged by facts about a model, and how large a page may be. No torch here."""

from __future__ import annotations

from collections.abc import Iterator

from bartviz.families.family import Family
from bartviz.language import later
from bartviz.record.record import ModelInfo

ACTIVATIONS = ("gelu", "gelu_new", "relu", "silu")
ALIASES = {"swish": "silu"}
LARGEST = 200_000_000  # bytes of a page: what browsers open, and mails no longer carry
TEXT = 4 / 3  # characters of base64 a byte


def refusal(info: ModelInfo) -> str | None:
    """Why a model cannot run in a page, as far as its record tells; None where it seems that it can."""
    found = list(reasons(info.known, info.activation or ACTIVATIONS[0]))
    if info.known.task(info.architecture) is not None:
        found.append(labels())
    return refused(info.name, found[0]) if found else None


def refused(model: str, reason: str) -> str:
    """The sentence of a refusal."""
    return later("{model} cannot run in a page: {reason}.", model=model, reason=reason)


def reasons(family: Family, activation: str) -> Iterator[str]:
    """What of a family the engine does not compute."""
    name = ALIASES.get(activation, activation)
    if family.positions not in ("learned", "sinusoidal"):
        yield later("its attention has {positions} positions", positions=family.positions)
    if family.norm not in ("post", "pre") or family.parallel:
        yield later("its layers are wired in another way")
    if name not in ACTIVATIONS:
        yield later("its activation is {name}", name=name)
    if family.state_scale or family.logits_changed:
        yield later("its logits are changed after the output layer")
    if family.residual_scale:
        yield later("what its layers add is scaled")


def labels() -> str:
    """The reason for a model with a head that labels."""
    return later("it labels texts and writes none")


def bytes_of(parameters: int) -> int:
    """About how large the page of a model is: a byte for each parameter, as text."""
    return round(parameters * TEXT)
