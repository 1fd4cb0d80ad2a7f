"""Example texts, chosen by what a model does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bartviz.families.family import ModelKind


@dataclass(frozen=True, slots=True)
class Example:
    """One text. ``special``: it contains a mask token, to be read as the special token."""

    text: str
    pair: str = ""
    special: bool = False


TRANSLATE = (
    Example("I want to buy a car."),
    Example("The cat is sleeping on the sofa."),
    Example("Yesterday my sister bought two very old books."),
)
REPAIR = (
    Example("The cat is <mask> on the sofa.", special=True),
    Example("She has lost her keys and <mask> find them.", special=True),
    Example("garden. the in play children The"),
)
NEWS = (
    Example(
        "The town's old bridge will close for repairs in spring. Engineers found cracks in two of its arches during "
        "an inspection last week. The mayor said that the work would take eight months, and that a ferry would carry "
        "people across the river until then. Shop owners fear that fewer visitors will come."
    ),
)
TIRED = Example("The animal did not cross the street because it was too tired.")
SOFA = Example("The cat is sleeping on the sofa.", pair="A cat lies on the couch and sleeps.")
BY_MODEL: Mapping[str, tuple[Example, ...]] = {
    "bart-tiny-denoise": REPAIR,
    "bert-tiny-en": (  # the first sentence has the word that the second lacks: a head of the last layer looks there
        TIRED,
        SOFA,
        Example("My uncle lives on an island.", pair="The [MASK] is very small.", special=True),
    ),
    "facebook/bart-base": REPAIR,
    "facebook/bart-large": REPAIR,
    "facebook/bart-large-cnn": NEWS,
    "google/pegasus-xsum": NEWS,
    "sshleifer/distilbart-cnn-12-6": NEWS,
    "t5-small": (Example("translate English to German: I want to buy a car."), *NEWS),
    "t5-base": (Example("translate English to German: I want to buy a car."), *NEWS),
}
BY_KIND: Mapping[ModelKind, tuple[Example, ...]] = {
    "encoder": (TIRED, SOFA, Example("Paris is the [MASK] of France.", special=True)),
    "decoder": (
        Example("The animal did not cross the street because it was too"),
        Example("Once upon a time there was a king who"),
    ),
    "encoder-decoder": TRANSLATE,
}


def examples(model: str, kind: ModelKind) -> tuple[Example, ...]:
    """The examples for a model, by its name or else by its kind; at least one."""
    return BY_MODEL.get(model, BY_KIND[kind])
