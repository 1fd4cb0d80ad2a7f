"""Words of many sentences, in the reader's language: the kinds of attention, a head, a rule of decoding."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bartviz.language import _, later, mark
from bartviz.record import vocabulary
from bartviz.record.attention import Attention, Kind

KINDS: Mapping[Kind, str] = {"encoder": mark("encoder"), "decoder": mark("decoder"), "cross": mark("cross")}
NAMED: Mapping[Kind, str] = {"encoder": mark("Encoder"), "decoder": mark("Decoder"), "cross": mark("Cross")}  # alone
ATTENTION: Mapping[Kind, str] = {
    "encoder": mark("encoder attention"),
    "decoder": mark("decoder attention"),
    "cross": mark("cross-attention"),
}
BEFORE_NOUNS: Mapping[Kind, str] = {**KINDS, "cross": ATTENTION["cross"]}
RULES = vocabulary.RULES | {mark("forced")}
_HEADS = re.compile(rf"\b({'|'.join(KINDS)})(?= L\d)")


def kind(word: Kind) -> str:
    """The name of a kind of attention within a sentence."""
    return _(KINDS[word])


def before_noun(word: Kind) -> str:
    """A kind of attention before what is of it, as ``cross-attention mask`` or ``encoder heads``."""
    return _(BEFORE_NOUNS[word])


def later_before_noun(word: Kind) -> str:
    """The same for a message that is translated when it is shown."""
    return later(BEFORE_NOUNS[word])


def attention(word: Kind) -> str:
    """A kind of attention as a noun within a sentence."""
    return _(ATTENTION[word])


def later_attention(word: Kind) -> str:
    """The same for a message that is translated when it is shown."""
    return later(ATTENTION[word])


def kind_alone(word: Kind) -> str:
    """The name of a kind of attention where it stands alone: on a control, or a tab."""
    return _(NAMED[word])


def later_kind(word: Kind) -> str:
    """The same for an error message, which is translated when it is shown."""
    return later(KINDS[word])


def head(word: Kind, layer: int, number: int) -> str:
    """``encoder L1H3``."""
    return _("{kind} L{layer}H{head}", kind=kind(word), layer=layer, head=number)


def head_in_words(layer: int | str, number: int | str) -> str:
    """``head 3 of layer 1``, counted from 0 as in the maps: for a reader who does not know the short names. Names in
    braces instead of the numbers stay, to be filled later."""
    return _("head {head} of layer {layer}", head=number, layer=layer)


def heads(name: str) -> str:
    """Names of heads as in files and addresses, ``cross L2H5``, in the reader's language."""
    return _HEADS.sub(lambda found: _(found[1]), name)


def rule(name: str) -> str:
    """The name of the rule that decided a token."""
    for message in vocabulary.COUNTED:
        found = re.fullmatch(re.escape(message).replace(r"\{count\}", r"(\d+)"), name)
        if found is not None:
            return _(message, count=found[1])
    return _(name) if name in RULES else name


def capitalized(text: str) -> str:
    """The text with a capital first letter, otherwise unchanged."""
    return text[:1].upper() + text[1:]


def weights_name(attention: Attention, layer: int | None, number: int | None) -> str:
    """The name of a matrix of weights: ``cross L1H3``, or which mean it is."""
    layers, heads = attention.shape[:2]
    if layer is None:
        return _(
            "{kind}, mean of {layers} layers x {heads} heads", kind=kind(attention.kind), layers=layers, heads=heads
        )
    if number is None:
        return _("{kind} layer {layer}, mean of {heads} heads", kind=kind(attention.kind), layer=layer, heads=heads)
    return head(attention.kind, layer, number)


def signed(value: float, spec: str = ".3f") -> str:
    """A number with a minus sign instead of a hyphen."""
    return format(value, spec).replace("-", "−")


def shortened(parts: Sequence[str]) -> str:
    """The first five, and how many more there are."""
    shown, more = ", ".join(parts[:5]), len(parts) - 5
    return _("{shown} and {count} more", shown=shown, count=more) if more > 0 else shown
