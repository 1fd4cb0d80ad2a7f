"""Questions about the model itself: what is shared, where its parameters are, what a longer text costs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from numpy.random import Generator

from bartviz.analysis import parameter_totals
from bartviz.analysis.parameters import Parameter
from bartviz.analysis.sentence_words import later_attention, later_before_noun
from bartviz.features.quiz.question import Maker, Material, Option, Question, Subject, drawn, listed, shuffled
from bartviz.language import later
from bartviz.language.percentages import percent
from bartviz.record.attention import KINDS, Attention

FACTORS = (0.5, 1.0, 2.0, 4.0)
"""The factors that are offered; those nearer than ``CLEARLY`` to the right one are left out."""
CLEARLY = 0.3
"""The least difference of a factor from the right one, as a share of it."""
FLOAT = 4  # bytes of a float32 number


def _asked(material: Material) -> list[Subject]:
    return [("which",), ("places",)] if material.parameters else []


def _ask_shared(material: Material, random: Generator, subject: Subject) -> Question | None:
    """Which matrix is used in several places, or in how many is the token embedding used?"""
    return _which(material, random) if subject == ("which",) else _places(material, random)


def _which(material: Material, random: Generator) -> Question | None:
    """Which of some matrices is used more than once; asked only if exactly one of the options is."""
    rows = material.parameters
    offered = {
        "token embedding": later("The token embeddings"),
        "position embedding": later("The position embeddings"),
        "self-attention query weight": later("The query matrix of the first layer"),
        "feed-forward in weight": later("The first feed-forward matrix of the first layer"),
    }
    ties = {row.role for row in rows if row.shared_with is not None}
    roles = [role for role in offered if any(row.role == role for row in rows)]
    tied = [role for role in roles if role in ties]
    if tied != ["token embedding"] or len(roles) < 3:
        return None
    uses = listed(_used(rows))
    told = {role: later("It is used in one place.") for role in roles} | {
        "token embedding": later("It is one matrix with {count} uses.", count=len(_used(rows)))
    }
    options, answer = shuffled(
        random,
        Option(offered[tied[0]], told[tied[0]], tied[0]),
        [Option(offered[role], told[role], role) for role in roles if role not in tied],
    )
    return Question(
        "shared",
        later("One matrix of {model} works in more than one place. Which one?", model=material.record.model.name),
        options,
        answer,
        later(
            "The token embeddings are one matrix with {count} uses ({uses}); counted once, they are {share} of all "
            "parameters.",
            count=len(_used(rows)),
            uses=uses,
            share=percent(_owner(rows) / parameter_totals.total(rows)),
        ),
        "parameters",
        {"of": material.record.model.name},
        about={"asked": "which"},
    )


def _used(rows: Sequence[Parameter]) -> tuple[str, ...]:
    """The uses of the token embedding; one use if it is not shared."""
    ties = [one for one in parameter_totals.shared(rows) if one.role == "token embedding"]
    said = {
        "encoder input": later("encoder input"),
        "decoder input": later("decoder input"),
        "output layer": later("output layer"),
    }
    return tuple(said.get(use, use) for use in ties[0].uses) if ties else (later("token embedding"),)


def _owner(rows: Sequence[Parameter]) -> int:
    return max((row.elements for row in rows if row.role == "token embedding"), default=0)


def _places(material: Material, random: Generator) -> Question | None:
    """In how many places the token embedding is used."""
    rows = material.parameters
    if not _owner(rows):
        return None
    uses = _used(rows)
    options = tuple(
        Option(str(count), later("There are {count} uses: {uses}.", count=len(uses), uses=listed(uses)), count)
        for count in range(1, 5)
    )
    why = later(
        "{count} uses: {uses}. A sum that adds each of them counts the same numbers {count} times.",
        count=len(uses),
        uses=listed(uses),
    )
    if len(uses) == 1:
        why = later("Nothing else uses it: encoder, decoder and output layer have matrices of their own.")
    return (
        Question(
            "shared",
            later(
                "Encoder, decoder and output layer may share one matrix of token embeddings. In how many places does "
                "{model} use it?",
                model=material.record.model.name,
            ),
            options,
            len(uses) - 1,
            why,
            "parameters",
            {"of": material.record.model.name},
            about={"asked": "places"},
        )
        if len(uses) <= 4
        else None
    )


def _sides(material: Material) -> list[Subject]:
    rows = material.parameters
    return [(side,) for side in ("encoder", "decoder") if any(row.component == side and row.layer == 0 for row in rows)]


def _ask_feed_forward(material: Material, random: Generator, subject: Subject) -> Question | None:
    """How many times as many parameters has the feed-forward part of a layer as its attention?"""
    rows, [side] = material.parameters, subject
    sizes = {
        name: sum(
            row.elements
            for row in rows
            if row.component == side and row.layer == 0 and parameter_totals.sublayer(row.role) == name
        )
        for name in parameter_totals.SUBLAYERS
    }
    attention = sizes["self-attention"] + sizes["cross-attention"]
    if not attention or not sizes["feed-forward"]:
        return None
    ratio = sizes["feed-forward"] / attention
    wrong = [factor for factor in FACTORS if abs(factor - ratio) >= CLEARLY * ratio]
    options, answer = shuffled(
        random, _times(ratio, attention), [_times(wrong[at], attention) for at in drawn(random, range(len(wrong)), 3)]
    )
    said = {"ff": sizes["feed-forward"], "attention": attention, "ratio": ratio}
    name = material.record.model.name
    if sizes["cross-attention"]:
        prompt = later(
            "In a decoder layer of {model}, how many times as many parameters does the feed-forward part have as its "
            "two attentions?",
            model=name,
        )
    elif side == "decoder":
        prompt = later(
            "In a decoder layer of {model}, how many times as many parameters does the feed-forward part have as its "
            "attention?",
            model=name,
        )
    else:
        prompt = later(
            "In an encoder layer of {model}, how many times as many parameters does the feed-forward part have as its "
            "attention?",
            model=name,
        )
    return Question(
        "feed_forward",
        prompt,
        options,
        answer,
        later("{ff:,} against {attention:,}, layer norms included: {ratio:.2f} to 1.", **said),
        "parameters",
        {"of": material.record.model.name},
        about={"side": side},
    )


def _times(factor: float, attention: int) -> Option:
    says = later("That would be {count:,} parameters.", count=round(factor * attention))
    return Option(f"{factor:.1f}", says, factor)


def _sizes(material: Material) -> list[Subject]:
    return [(kind, squared) for kind in material.record.kinds if kind != "cross" for squared in (True, False)]


def _ask_memory(material: Material, random: Generator, subject: Subject) -> Question | None:
    """How does the memory change if the text doubles?"""
    record, (kind, squared) = material.record, subject
    assert kind in KINDS
    assert isinstance(squared, bool)
    attention = record.attention(kind)
    now = _bytes(attention, squared)
    powers = {
        1: later("as much as now"),
        2: later("twice as much"),
        4: later("four times as much"),
        8: later("eight times as much"),
    }
    right = 4 if squared else 2
    why = (
        later("Every token looks at every token: n × n weights per head, so twice the text takes four times as much.")
        if squared
        else later(
            "Queries and keys are one vector per token and head: twice the text takes twice as much. Only "
            "the weights between tokens grow with the square."
        )
    )
    says = {
        1: later("Every additional token needs its own memory."),
        2: why
        if right == 2
        else later("That is how queries and keys grow; there is a weight for every pair of tokens."),
        4: why if right == 4 else later("That is how weights grow; queries and keys are one vector per token."),
        8: later("That would be the third power of the length."),
    }
    options = tuple(
        Option(later("{said}: {size}", said=said, size=size(now * factor)), says[factor], factor)
        for factor, said in powers.items()
    )
    named = {
        "kind": later_before_noun(kind),
        "layers": attention.shape[0],
        "heads": attention.shape[1],
        "tokens": attention.shape[2],
        "twice": 2 * attention.shape[2],
        "size": size(now),
    }
    prompt = (
        later(
            "The weights of {layers} {kind} layers of {heads} heads take {size} for {tokens} tokens. How much for "
            "{twice}?",
            **named,
        )
        if squared
        else later(
            "The queries and keys of {layers} {kind} layers of {heads} heads take {size} for {tokens} tokens. "
            "How much for {twice}?",
            **named,
        )
    )
    query = {"of": record.model.name} if material.parameters else {}
    about = {"kind": kind, "squared": squared, "bytes": now}
    return Question("memory", prompt, options, list(powers).index(right), why, "parameters", query, about=about)


def _widths(material: Material) -> list[Subject]:
    """A kind of attention for each width of a head, by whose root its scores are divided."""
    record = material.record
    record.expect_model()
    kinds = {record.attention(kind).queries.shape[3]: kind for kind in record.kinds if _scaled(record.attention(kind))}
    return [(kind,) for kind in kinds.values()]


def _scaled(attention: Attention) -> bool:
    return math.isclose(attention.scale * math.sqrt(attention.queries.shape[3]), 1, rel_tol=1e-3)


def _ask_scale(material: Material, random: Generator, subject: Subject) -> Question | None:
    """By what are the products of queries and keys divided?"""
    record, [kind] = material.record, subject
    assert kind in KINDS
    width, heads = record.attention(kind).queries.shape[3], record.attention(kind).shape[1]
    right = math.sqrt(width)
    why = later(
        "A product of two vectors of {width} numbers is a sum of {width} terms; its spread grows with the square root, "
        "so it is divided by √{width} = {right:.1f}.",
        width=width,
        right=right,
    )
    wrong = [
        Option(
            f"{width:.1f}", later("That would make longer vectors count less; the spread grows by the root."), width
        ),
        Option(
            f"{math.sqrt(width * heads):.1f}",
            later("That is the root of the width of the model: all {count} heads together.", count=heads),
            math.sqrt(width * heads),
        ),
        Option(f"{width / 2:.1f}", later("That is half of the width; it is the square root."), width / 2),
    ]
    wrong = [one for one in wrong if abs(float(str(one.fact)) - right) >= CLEARLY * right]
    wrong = list({option.text: option for option in reversed(wrong)}.values())  # √(32 · 8) is half of 32
    options, answer = shuffled(random, Option(f"{right:.1f}", why, right), wrong)
    return (
        Question(
            "scale",
            later(
                "Queries and keys of this {attention} have {width} numbers per head. By what is their product "
                "divided before the softmax?",
                attention=later_attention(kind),
                width=width,
            ),
            options,
            answer,
            why,
            "inside",
            {"kind": kind},
            about={"width": width},
        )
        if len(options) > 2
        else None
    )


def _bytes(attention: Attention, squared: bool) -> int:
    """Bytes of the weights of all heads, or of their queries and keys."""
    layers, heads, n, _ = attention.shape
    return FLOAT * layers * heads * (n * n if squared else 2 * n * attention.queries.shape[3])


def size(count: int) -> str:
    """A number of bytes for readers."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return f"{count} B"


shared = Maker(_asked, _ask_shared)
feed_forward = Maker(_sides, _ask_feed_forward)
memory = Maker(_sizes, _ask_memory)
scale = Maker(_widths, _ask_scale)
