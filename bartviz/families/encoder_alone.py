"""The encoder of an encoder-decoder by itself: T5's has a class of its own, BART's is a module of the whole network."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families.family import Family, Parts, Side, Variant
from bartviz.language import mark


def encoder_alone(family: Family) -> Family:
    """The family of an encoder-decoder's encoder in a network of its own."""
    assert family.encoder is not None
    bare = next(name for name, variant in family.variants.items() if variant.bare)
    inside = f"{bare.removesuffix('Model')}Encoder"
    whole = family.base == ""  # the whole network is the base model: an encoder's class holds it by the same name
    encoder = f"{inside}Model" if whole else inside
    side = family.encoder if whole else _at_the_root(family.encoder)
    return replace(
        family,
        keys={word: key for word, key in family.keys.items() if not word.startswith(("decoder_", "target_"))},
        base="",
        encoder=side,
        decoder=None,
        shared=family.shared if whole else (),
        shared_ties={name: of for name, of in family.shared_ties.items() if name.startswith("encoder.") and whole},
        tying="embeddings",
        state_scale="",
        logits_changed={},
        gated=None if family.gated is None else encoder_alone(family.gated),
        variants={encoder: Variant(mark("encoder only"), bare=True, decoder=False)},
        classes=(encoder,),
        start=None,
        denoises=False,
    )


def _at_the_root(side: Side) -> Side:
    """The same names without that of the encoder."""
    return replace(
        side, before=_shorter(side.before), layer=side.layer.removeprefix("encoder."), after=_shorter(side.after)
    )


def _shorter(parts: Parts) -> Parts:
    return tuple(part._replace(name=part.name.removeprefix("encoder.")) for part in parts)
