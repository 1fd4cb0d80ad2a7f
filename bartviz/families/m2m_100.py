"""M2M100 (Fan et al. 2021), whose build NLLB (2022) has: a translator between 100 or 200 languages."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.bart import BART, side, writers
from bartviz.families.family import Side, Training
from bartviz.language import mark


def _computed(one: Side) -> Side:
    """Without a position table among the parameters: positions are computed and kept aside."""
    return replace(one, before=tuple(part for part in one.before if part.role != matrices.POSITIONS))


M2M_100 = replace(
    BART,
    name="m2m_100",
    title="M2M100, NLLB",
    keys={**BART.keys, "vocabulary": ("vocab_size", 128_112)},
    activation=("activation_function", "relu"),
    labels=2,
    encoder=_computed(side("encoder", final_norm=True)),
    decoder=_computed(side("decoder", final_norm=True)),
    positions="sinusoidal",
    norm="pre",
    variants=writers("M2M100", bias=False),
    classes=("M2M100ForConditionalGeneration",),
    training=Training(
        matrices.SENTENCEPIECE,
        "en A </s>",
        None,
        mark("translate sentences of parallel texts between many languages"),
        mark("the translation, token by token"),
        "Fan et al. 2021; NLLB Team 2022",
    ),
    denoises=False,
)
