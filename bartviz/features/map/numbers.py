"""The blocks of a model in the order in which a text passes them, each with the page that shows what happens in it.

What they are follows the model's family (Vaswani et al. 2017, figure 1, is an encoder-decoder with post-norm); how many
layers and heads there are is in the record. NumPy and torch are not needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from bartviz.analysis import activations
from bartviz.families import matrices
from bartviz.families.catalogue import entry
from bartviz.families.dropout import Dropout
from bartviz.families.dropout import dropout as dropout_of
from bartviz.families.family import Family, Side
from bartviz.language import _
from bartviz.record.attention import Kind
from bartviz.record.record import ModelInfo

Stack = Literal["encoder", "decoder"]
Gives = Literal["tokens", "states", "sum", "weights", "scores", "word", "gaps", "pair", "nothing"]


@dataclass(frozen=True, slots=True)
class Box:
    """One box: its text in the reader's language, the page that shows it with the choices there, the kind of attention
    that it is, and what comes out of it. A box without a page is no link. ``plain``: its text for a newcomer, if it has
    another one; ``detail``: a newcomer does not see it."""

    text: str
    page: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    kind: Kind | None = None
    gives: Gives = "states"
    plain: str = ""
    detail: bool = False

    def of_part(self) -> Box:
        """The same with the text for a newcomer."""
        return replace(self, text=self.plain) if self.plain else self


@dataclass(frozen=True, slots=True)
class Column:
    """A stack from top to bottom: what comes before its layers, the parts of one layer, what comes after the last.

    ``layer`` holds one group of boxes for each residual sum.
    """

    stack: Stack
    layers: int
    before: tuple[Box, ...]
    layer: tuple[tuple[Box, ...], ...]
    after: tuple[Box, ...]

    def of_parts(self) -> Column:
        """The same for a newcomer: without dropout, which does nothing at inference, and boxes of layer norms."""
        before, after = _of_parts(self.before), _of_parts(self.after)
        return replace(self, before=before, layer=tuple(map(_of_parts, self.layer)), after=after)


def _of_parts(boxes: tuple[Box, ...]) -> tuple[Box, ...]:
    return tuple(box.of_part() for box in boxes if not box.detail)


def columns(info: ModelInfo, *, steps: bool = True) -> tuple[Column, ...]:
    """The stacks of a model, the encoder first. ``steps``: whether the record has decoding steps to show."""
    family = info.known
    both = info.kind == "encoder-decoder"
    made = []
    if family.encoder is not None and info.kind != "decoder":  # one stack of an encoder-decoder may be read by itself
        made.append(_encoder(info, family, family.encoder, both=both))
    if family.decoder is not None and info.kind != "encoder":
        made.append(_decoder(info, family, family.decoder, both=both, steps=steps))
    return tuple(made)


def dropout(info: ModelInfo) -> Dropout:
    """The probabilities of dropout in training: the record's, or in an older one those of a model that is known."""
    known = entry(info.name)
    if info.dropout is None and info.attention_dropout is None and known is not None:
        return dropout_of(known.config)
    return Dropout(info.dropout, info.attention_dropout)


def order(info: ModelInfo) -> str:
    """Where LayerNorm is in this model's layers, and what dropout does in training, in a few sentences."""
    norms = {
        "post": _("Post-norm: each residual sum goes through LayerNorm before the next part reads it."),
        "pre": _(
            "Pre-norm: each part reads the sum through a LayerNorm and adds to the sum itself, which is "
            "never normalised between the layers."
        ),
        "inner": _("LayerNorm is on what each part adds, before it is added to the sum."),
    }
    said = [norms[info.known.norm]]
    added, weights = (p or 0.0 for p in dropout(info))
    if added or weights:
        said.append(
            _(
                "In training, dropout sets {added:.0%} of what each part adds and {weights:.0%} of the "
                "attention weights to 0, at random. It is off here, as always at inference: every row of "
                "weights sums to 1.",
                added=added,
                weights=weights,
            )
        )
    return " ".join(said)


def plainly(info: ModelInfo) -> str:
    """The model in one sentence without a number."""
    if info.kind == "encoder-decoder":
        return _("An encoder reads the whole text; a decoder writes the output, token by token.")
    if info.kind == "encoder":
        return _("An encoder reads the whole text at once.")
    return _("A decoder continues the text, token by token.")


def sentence(info: ModelInfo) -> str:
    """The model in one sentence: its stacks, layers and heads."""
    sizes = {"encoder": (info.encoder_layers, info.encoder_heads), "decoder": (info.decoder_layers, info.decoder_heads)}
    if info.kind == "encoder-decoder":
        return _(
            "{model}: an encoder of {encoder} layers with {encoder_heads} heads each reads the text, a decoder of "
            "{decoder} layers with {decoder_heads} heads writes the output token by token.",
            model=info.name,
            encoder=sizes["encoder"][0],
            encoder_heads=sizes["encoder"][1],
            decoder=sizes["decoder"][0],
            decoder_heads=sizes["decoder"][1],
        )
    layers, heads = sizes[info.kind]
    if info.kind == "encoder":
        return _(
            "{model}: an encoder of {layers} layers with {heads} heads each reads the whole text at once.",
            model=info.name,
            layers=layers,
            heads=heads,
        )
    return _(
        "{model}: a decoder of {layers} layers with {heads} heads each continues the text token by token.",
        model=info.name,
        layers=layers,
        heads=heads,
    )


def _encoder(info: ModelInfo, family: Family, side: Side, *, both: bool) -> Column:
    attention = Box(
        _("Self-attention, {heads} heads", heads=info.encoder_heads), "heads", {"kind": "encoder"}, "encoder", "weights"
    )
    read = ("heads", {"kind": "cross"}, "cross") if both else ()  # by every layer of the decoder
    after = Box(_("Hidden states"), *read)
    return Column(
        "encoder",
        info.encoder_layers,
        _before(family, side, "encoder", _("Source text")),
        _sums(info, family, "encoder", (attention, _feed_forward(info, "encoder"))),
        (*_last_norm(side, "encoder"), after, *(() if both else _heads(info, family))),
    )


def _heads(info: ModelInfo, family: Family) -> tuple[Box, ...]:
    """What an encoder by itself ends with: a layer that guesses words, one that judges two texts, or both."""
    variant = family.variants.get(info.architecture)
    roles = {part.role for part in variant.head} if variant is not None else set()
    words = Box(_("Output layer and softmax, for each token"), gives="gaps")
    pair = Box(_("State of the first token: does the second text follow?"), gives="pair")
    judges = any(role.startswith("next sentence") for role in roles)
    return (*([words] if "output layer weight" in roles else []), *([pair] if judges else []))


def _decoder(info: ModelInfo, family: Family, side: Side, *, both: bool, steps: bool) -> Column:
    heads = info.decoder_heads
    attention = [
        Box(_("Masked self-attention, {heads} heads", heads=heads), "masks", {"view": "pattern"}, "decoder", "weights"),
        *(
            [
                Box(
                    _("Cross-attention to the encoder, {heads} heads", heads=heads),
                    "heads",
                    {"kind": "cross"},
                    "cross",
                    "weights",
                    _("Cross-attention, {heads} heads", heads=heads),
                )
            ]
            if both
            else []
        ),
    ]
    shown = ("decoding", {"output_layer": "true"}) if steps else ("", {})
    output = Box(_("Output layer and softmax"), *shown, gives="scores", plain=_("Output layer"))
    word = _("Next token, appended to “Output so far”") if both else _("Next token, appended to “Text so far”")
    return Column(
        "decoder",
        info.decoder_layers,
        _before(family, side, "decoder", _("Output so far") if both else _("Text so far")),
        _sums(info, family, "decoder", (*attention, _feed_forward(info, "decoder"))),
        (*_last_norm(side, "decoder"), output, Box(word, "decoding" if steps else "", gives="word")),
    )


def _before(family: Family, side: Side, stack: Stack, read: str) -> tuple[Box, ...]:
    """The pieces of the text, and the embeddings that are summed."""
    roles = {part.role for part in side.before}
    names = [_("token")]
    if family.positions in ("learned", "sinusoidal"):
        names.append(_("position"))
    if matrices.SEGMENTS in roles:
        names.append(_("segment"))
    plain = _("Embeddings: {parts}", parts=" + ".join(names))
    norm = ", LayerNorm" if "embedding layer norm weight" in roles else ""
    chosen = {"stack": stack}
    return Box(read, "inputs", {"look": "pieces", **chosen}, gives="tokens"), Box(
        plain + norm, "inputs", {"look": "sum", **chosen}, plain=plain
    )


def _feed_forward(info: ModelInfo, stack: Stack) -> Box:
    name = activations.activation_function(info)[0]
    known = activations.CURVES.get(name)
    said = _("Feed-forward, {activation}", activation=name if known is None else _(known[0]))
    return Box(said, "inside", {"kind": stack, "around": "residual"}, plain=_("Feed-forward"))


def _sums(info: ModelInfo, family: Family, stack: Stack, parts: tuple[Box, ...]) -> tuple[tuple[Box, ...], ...]:
    """The parts of a layer by residual sum: each its own, or one for all that read the same input."""
    added = dropout(info).added
    dropped = (_dropped(added),) if added else ()
    if not family.parallel:
        return tuple(_summed(family, stack, (part,), dropped) for part in parts)
    return (_summed(family, stack, parts, dropped),)


def _dropped(p: float) -> Box:
    return Box(_("Dropout, {p:.0%} in training, off here", p=p), gives="nothing", detail=True)


def _summed(family: Family, stack: Stack, parts: tuple[Box, ...], dropped: tuple[Box, ...]) -> tuple[Box, ...]:
    """Parts with their dropout and residual sum, and LayerNorm before or after them."""
    add = Box(_("Add"), "inside", {"kind": stack, "around": "residual"}, gives="sum")
    norm = _norm(stack)
    side = family.encoder if stack == "encoder" else family.decoder
    assert side is not None  # the family has this stack
    outputs = (norm,) if any(part.role == "feed-forward output layer norm weight" for part in side.parts) else ()
    if family.norm == "post":
        return (*parts, *dropped, replace(add, text=_("Add, then LayerNorm"), plain=_("Add & norm")))
    return (*((norm,) if family.norm == "pre" else ()), *parts, *outputs, *dropped, add)


def _norm(stack: Stack) -> Box:
    return Box("LayerNorm", "inside", {"kind": stack, "around": "norms"}, gives="sum", detail=True)


def _last_norm(side: Side, stack: Stack) -> tuple[Box, ...]:
    return (_norm(stack),) if side.after else ()
