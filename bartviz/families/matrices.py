"""Building blocks of family files: matrices that many share, the tasks of model classes, and recurring words."""

from __future__ import annotations

from collections.abc import Mapping

from bartviz.families.family import Part, Parts, Variant
from bartviz.language import mark

TOKENS, POSITIONS, SEGMENTS = "token embedding", "position embedding", "segment embedding"
WORDS = "embeddings.word_embeddings.weight"  # the token embedding of every encoder

WRITES, BASE = mark("writes text"), mark("base model, no head")
SENTENCEPIECE, BYTE_PAIRS, WORDPIECE = "SentencePiece", mark("byte-level BPE"), "WordPiece"
WHOLE = mark("the whole text, token by token")


def linear(role: str, name: str, shape: str, bias: bool = True) -> Parts:
    weight = Part(f"{role} weight", f"{name}.weight", shape)
    return (weight, Part(f"{role} bias", f"{name}.bias", shape.split(maxsplit=1)[0])) if bias else (weight,)


def norm(role: str, name: str, width: str = "d", bias: bool = True) -> Parts:
    return linear(f"{role} layer norm", name, width, bias)


def attention(role: str, path: str, names: str, norm_name: str, bias: bool = True) -> Parts:
    """``names``: those of the query, key, value and output projections."""
    query, key, value, output = names.split()
    return (
        *linear(f"{role} query", path + query, "a d", bias),
        *linear(f"{role} key", path + key, "a d", bias),
        *linear(f"{role} value", path + value, "a d", bias),
        *linear(f"{role} output", path + output, "d a", bias),
        *norm(role, norm_name, bias=bias),
    )


def projections(names: str, *, bias: str = "") -> Parts:
    """Query, key, value and output of self-attention; ``bias``: which of them have one, such as "qkv"."""
    roles = zip(("query", "key", "value", "output"), names.split(), ("a d", "k d", "k d", "d a"), strict=True)
    return tuple(
        part
        for role, name, shape in roles
        for part in linear(f"self-attention {role}", f"self_attn.{name}", shape, role[0] in bias)
    )


def fused(name: str, output: str, *, bias: str = "") -> Parts:
    """Query, key and value in one matrix, and the output projection; ``bias``: which have one, such as "qo"."""
    joined = linear("self-attention query, key and value", name, "q d", "q" in bias)
    return (*joined, *linear("self-attention output", output, "d a", "o" in bias))


def head_norms(widths: str = "h h") -> Parts:
    """The norms of queries and keys before their product, over each head or over all side by side."""
    of_query, of_key = widths.split()
    return (
        Part("self-attention query norm weight", "self_attn.q_norm.weight", of_query),
        Part("self-attention key norm weight", "self_attn.k_norm.weight", of_key),
    )


def dense(names: str, *, bias: bool = False) -> Parts:
    """A feed-forward layer of two matrices (in, out), or three (gate, in, out)."""
    *gate, into, out = names.split()
    return (
        *(linear("feed-forward gate", gate[0], "f d", bias) if gate else ()),
        *linear("feed-forward in", into, "f d", bias),
        *linear("feed-forward out", out, "d f", bias),
    )


def joined(gate_and_in: str, out: str, *, bias: bool = False) -> Parts:
    """A gated feed-forward layer whose gate and input are one matrix, the gate first."""
    return (
        *linear("feed-forward gate and in", gate_and_in, "g d", bias),
        *linear("feed-forward out", out, "d f", bias),
    )


def feed_forward(into: str, out: str, norm_name: str, bias: bool = True, gate: str = "") -> Parts:
    return (
        *(linear("feed-forward gate", gate, "f d", bias) if gate else ()),
        *linear("feed-forward in", into, "f d", bias),
        *linear("feed-forward out", out, "d f", bias),
        *norm("feed-forward", norm_name, bias=bias),
    )


def embeddings(width: str, *, segments: bool = True) -> Parts:
    """An encoder's: tokens, positions, mostly segments, and their layer norm."""
    segment = Part(SEGMENTS, "embeddings.token_type_embeddings.weight", f"S {width}")
    return (
        Part(TOKENS, WORDS, f"V {width}"),
        Part(POSITIONS, "embeddings.position_embeddings.weight", f"P {width}"),
        *((segment,) if segments else ()),
        *norm("embedding", "embeddings.LayerNorm", width),
    )


def projection(name: str) -> Parts:
    """From the width of the embeddings to that of the model."""
    return linear("embedding projection", name, "d e")


def masked_lm(root: str, dense: str, norm_name: str, decoder: str, *, width: str = "d", own_bias: bool = True) -> Parts:
    """A masked-language-model head (Devlin et al. 2019, section 3.1): transform, layer norm, the vocabulary."""
    return (
        *linear("output transform", root + dense, f"{width} d"),
        *norm("output", root + norm_name, width),
        *((Part("output layer bias", f"{root}bias", "V"),) if own_bias else ()),
        Part("output layer weight", f"{root}{decoder}.weight", f"V {width}"),
        Part("output layer bias", f"{root}{decoder}.bias", "V"),
    )


def fills_words(head: Parts, ties: Mapping[str, str]) -> Variant:
    return Variant(mark("fills masked words"), head=head, ties=ties)


def classifies(head: Parts, *, pooler: bool = False) -> Variant:
    return Variant(mark("classifies a text"), pooler=pooler, head=head, task="text")


def marks_answers(classes: str = "C") -> Variant:
    head = linear("answer span", "qa_outputs", f"{classes} d")
    return Variant(mark("marks an answer"), head=head, task="answer")


def tasks(name: str, classifier: Variant, answers: Variant) -> dict[str, Variant]:
    """The classes that nearly every family has: for a text, for each token, for an answer within the text."""
    return {
        f"{name}ForSequenceClassification": classifier,
        f"{name}ForTokenClassification": Variant(
            mark("labels each token"), head=linear("token classifier", "classifier", "C d"), task="tokens"
        ),
        f"{name}ForQuestionAnswering": answers,
    }


CLASSIFIER = linear("classifier", "classifier", "C d")
DENSE_CLASSIFIER = (
    *linear("classifier dense", "classifier.dense", "d d"),
    *linear("classifier", "classifier.out_proj", "C d"),
)
LM = (Part("output layer weight", "lm_head.weight", "U d"),)
