"""Lines 19 to 21: the input of the first layer, positions, and the tokenizers' sizes."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from functools import lru_cache

import numpy as np
from safetensors import safe_open

from bartviz.analysis import mask_patterns
from bartviz.analysis.article_models import BART, BERT, GPT2, MARIAN, T5, positions, read, rows, sizes_of
from bartviz.analysis.positions import Floats, shift, similarity
from bartviz.families.catalogue import EMBEDDED
from bartviz.features.textbook.judging import (
    BERT_RUN,
    CONFIGURATION,
    PAIR,
    PAIR_RUN,
    START,
    Claim,
    Evidence,
    Number,
    Verdict,
    above,
    at_most,
    below,
    yes,
)
from bartviz.features.textbook.sentences import SEARCHED
from bartviz.language import later

DEFINED = {"tok_embed", "seg_embed", "pos_embed", "drop"}  # layers that the written-out class makes
USED = {"tok_embed", "seg_emb", "pos_embed"}  # and those that it applies
TINY_BERT, TABLE = "bert-tiny-en", "bert.embeddings.position_embeddings.weight"
TOKENS = "bert.embeddings.word_embeddings.weight"
UNKNOWN, WALKING = "[UNK]", "the cat is walking"  # the text is the notes'
FEW = 1000  # entries of a smaller vocabulary, the first ones: training adds entries one after the other
EACH = 16  # of the embeddings every 16th is compared with all others
SEEN = 64  # positions of its table, as the page shows them: training has hardly touched those beyond


@lru_cache
def table(name: str = TABLE) -> Floats:
    """A table of the shipped BERT, read from its file: the learned positions (128, e), or the tokens (V, e)."""
    with safe_open(EMBEDDED / TINY_BERT / "model.safetensors", "numpy") as file:
        found: Floats = file.get_tensor(name).astype(np.float64)
        return found


@lru_cache
def vocabulary() -> tuple[str, ...]:
    """The entries of the shipped BERT's vocabulary, by id."""
    found = json.loads((EMBEDDED / TINY_BERT / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    return tuple(sorted(found, key=found.__getitem__))


def pieces(text: str, entries: Collection[str]) -> list[list[str]]:
    """The words and signs of a text, each as the longest entries it begins with, as WordPiece cuts it; [UNK] alone
    where that fails."""
    return [_cut(word, entries) for word in re.findall(r"\w+|[^\w\s]", text.lower())]


def _cut(word: str, entries: Collection[str]) -> list[str]:
    found, start = list[str](), 0
    while start < len(word):
        begins = "##" if start else ""
        ends = (end for end in range(len(word), start, -1) if begins + word[start:end] in entries)
        end = next(ends, None)
        if end is None:
            return [UNKNOWN]
        found.append(begins + word[start:end])
        start = end
    return found


def _three(evidence: Evidence) -> Verdict:
    record, basis = evidence.shipped(PAIR)
    width, labels = sizes_of(BERT).width, record.source.labels
    tables = [row for row in rows(BERT) if row.role.endswith("embedding")]
    norm = any(row.role == "embedding layer norm weight" for row in rows(BERT))
    numbers = (
        Number(later("embedding tables of BERT base"), 3, len(tables)),
        Number(later("rows of the segment table"), 2, sizes_of(BERT).segments),
        Number(later("width of the sum"), 768, tables[0].shape[1]),
        Number(later("width if they were concatenated"), 3 * 768, sum(row.shape[1] for row in tables)),
        Number(later("LayerNorm after the sum"), yes(True), yes(norm)),
        Number(later("first token of a pair"), "[CLS]", labels[0]),
        Number(later("[SEP] in a pair"), 2, labels.count("[SEP]")),
        Number(later("segments in a pair"), "0 1", " ".join(map(str, np.unique(record.source.segments)))),
    )
    why = later(
        "All of it is in the configuration and in a pair of sentences that was run: {tokens} tokens, each a "
        "sum as wide as its parts ({width} in BERT base).",
        tokens=len(labels),
        width=width,
    )
    return Verdict(numbers, why, later("{first}; {second}", first=later(CONFIGURATION), second=basis))


def _notes(evidence: Evidence) -> Verdict:
    record, basis = evidence.shipped(START)
    labels, text = record.source.labels, record.source_text
    kept = any(label.strip()[:1].isupper() for label in labels)
    numbers = (
        Number(later("capitals of the text are lost"), yes(True), yes(not kept)),
        Number(later("first and last token"), "[CLS] [SEP]", f"{labels[0]} {labels[-1]}"),
        Number(later("segments that BART knows"), 2, sizes_of(BART).segments),
        Number(later("id of the padding token"), 0, int(read(BART)["pad_token_id"])),
    )
    why = later(
        "That is BERT's input, not BART's: BART reads bytes unchanged (“{first}” of “{text}” keeps its "
        "capital), marks a text by {begin} and {end}, and has no segments.",
        first=next(label for label, special in zip(labels, record.source.special, strict=True) if not special),
        text=text,
        begin=labels[0],
        end=labels[-1],
    )
    return Verdict(numbers, why, later("{first}; {second}", first=later(CONFIGURATION), second=basis))


def _positions(_evidence: Evidence) -> Verdict:
    found = shift(table()[:SEEN])
    one, last = float(found.held[0]), float(found.held[-1])
    near = float(np.diagonal(similarity(table()[:SEEN]), 1).mean())
    numbers = (
        Number(later("sinusoidal, a shift as a linear map: largest error"), 0, float(found.exact.max()), within=1e-9),
        Number(later("learned, shift by 1: error on other positions"), above(0.3), one),
        Number(later("learned, shift by 16: error on other positions"), above(0.3), last),
        Number(later("learned: mean cosine of neighbouring positions"), below(0.1), near, core=False),
    )
    why = later(
        "The rotation that the formula gives is exact; the best linear map for the first {count} learned positions of "
        "{model} misses {one:.0%} of the spread at a shift of 1 (100% is as bad as always predicting the mean). Still, "
        "neighbours are alike (cosine {near:.2f}): a sense of distance is learned, which is not the same as a rule.",
        count=SEEN,
        near=near,
        model=TINY_BERT,
        one=one,
    )
    return Verdict(numbers, why, later("the position table in the file of {model}", model=TINY_BERT))


def _tokenizers(_evidence: Evidence) -> Verdict:
    limit, extra = sizes_of(BART).positions or 0, sizes_of(BART).vocabulary - sizes_of(GPT2).vocabulary
    kinds = {name: _pieces(name) for name in ("bart-tiny-en-de", TINY_BERT)}
    numbers = (
        Number(later("BART: positions, all learned"), 1024, limit),
        Number(later("position table of BART: kind"), later("learned"), positions(BART)),
        Number(
            later("T5: limit of positions"),
            later("none"),
            later("none") if sizes_of(T5).positions is None else str(sizes_of(T5).positions),
        ),
        Number(later("T5: buckets of relative positions"), 32, sizes_of(T5).buckets),
        Number(later("Marian: kind of positions"), later("sinusoidal"), positions(MARIAN)),
        Number(later("tokenizer of the BART that ships"), "ByteLevel", kinds["bart-tiny-en-de"]),
        Number(
            later("vocabulary of BART as of GPT-2"), sizes_of(GPT2).vocabulary, sizes_of(BART).vocabulary, core=False
        ),
    )
    why = later(
        "Position 1,025 has no row in BART's table. Its vocabulary is GPT-2's pieces and {extra} more "
        "entries; a configuration does not show which pieces T5 and Marian have, so that is not checked here.",
        extra=extra,
    )
    return Verdict(numbers, why, later(CONFIGURATION))


def _written(_evidence: Evidence) -> Verdict:
    most, width = sizes_of(BERT).positions or 0, sizes_of(BERT).width
    fits = [n for n in range(1, most + 1) if _sum_shape(n, most, width) == (n, width)]
    numbers = (
        Number(later("names that it uses and never defines"), 0, len(USED - DEFINED)),
        Number(later("layers that it defines and never uses"), 0, len(DEFINED - USED), core=False),
        Number(later("text lengths, 1 to {most}, for which the shapes fit", most=most), most, len(fits)),
        Number(later("rows of the result for a text of one token"), 1, (_sum_shape(1, most, width) or (0, 0))[0]),
    )
    why = later(
        "It fails immediately: it calls {missing}, which it never defines. With that corrected it adds all "
        "{most} positions to every text, so that only a text of {most} tokens fits; its dropout is never "
        "applied, and the LayerNorm that its own text names is missing.",
        missing=", ".join(sorted(USED - DEFINED)),
        most=most,
    )
    return Verdict(numbers, why, later("the shapes of such a sum, length by length"))


def _sum_shape(n: int, most: int, width: int) -> tuple[int, ...] | None:
    """The shape of (n, width) + (most, width); None if the two do not fit."""
    try:
        return np.broadcast_shapes((n, width), (most, width))
    except ValueError:
        return None


def _segments(evidence: Evidence) -> Verdict:
    record, basis = evidence.shipped(PAIR)
    tokens, segments, labels = len(record.source), record.source.segments, record.source.labels
    middle = labels.index("[SEP]")
    numbers = (
        Number(later("segment numbers for {count} tokens", count=tokens), tokens - 1, len(segments)),
        Number(later("segment of the [SEP] between the sentences"), later("none"), str(segments[middle])),
    )
    why = later(
        "Every token has a segment, [SEP] too: it belongs to the sentence that it ends. The example has 9 "
        "tokens and 8 segments."
    )
    return Verdict(numbers, why, basis)


def _beyond(_evidence: Evidence) -> Verdict:
    n, rows_ = 2 * (sizes_of(BART).positions or 0), sizes_of(BART).position_rows - sizes_of(BART).family.added_rows
    first = mask_patterns.relative_buckets(np.arange(n))  # from the first token: distances 0 to n - 1
    numbers = (
        Number(later("T5: buckets in use from the first of {n:,} tokens", n=n), at_most(32), len(set(first))),
        Number(later("BART: position rows, for {n:,} tokens", n=n), below(n), rows_),
        Number(later("T5: buckets that distinguish distances beyond 128"), above(1), len(set(first[128:])), core=False),
    )
    why = later(
        "Every distance has a bucket, while BART has no row for position {first:,}; but all distances beyond "
        "128 share one bucket, so beyond that T5 knows only that a token is far away.",
        first=rows_ + 1,
    )
    return Verdict(numbers, why, later(CONFIGURATION))


def _few_positions(_evidence: Evidence) -> Verdict:
    def spent(name: str) -> int:
        return sum(row.count for row in rows(name) if row.role in ("position embedding", "relative position bias"))

    bart, t5 = spent(BART), spent(T5)
    numbers = (Number(later("{model}: parameters for positions", model="T5 base"), below(bart), t5),)
    why = later(
        "32 buckets for each of 12 heads, once in each stack, against a vector of {width} for every position "
        "of two tables.",
        width=sizes_of(BART).width,
    )
    return Verdict(numbers, why, later(CONFIGURATION))


def _ids(_evidence: Evidence) -> Verdict:
    entries = vocabulary()
    tokens = [piece for word in pieces(WALKING, entries) for piece in word]
    ids, width = [entries.index(token) for token in tokens], sizes_of(BERT).width
    rows_ = table(TOKENS)
    rows_ = rows_ / np.maximum(np.linalg.norm(rows_, axis=1, keepdims=True), 1e-9)  # (V, e); unused entries are 0
    chosen = np.array([place for place in range(0, len(entries), EACH) if entries[place].isalpha()])
    alike = rows_[chosen] @ rows_.T  # (C, V)
    alike[np.arange(len(chosen)), chosen] = -1
    beside = int((np.abs(alike.argmax(axis=1) - chosen) == 1).sum())
    numbers = (
        Number(
            later("BERT base: numbers for {count} tokens after its token embedding", count=len(tokens)),
            len(tokens),
            len(tokens) * width,
        ),
        Number(
            later("of {count} words: those whose closest other embedding has a neighbouring id", count=len(chosen)),
            len(chosen),
            beside,
            core=False,
        ),
    )
    why = later(
        "Such numbers are ids, places in the vocabulary: “{text}” is {ids} in {model}. An embedding is the row of a "
        "table that an id picks, {width} learned numbers in BERT base. Ids do not say what is alike: of {count} words "
        "{beside} have the closest embedding at a neighbouring id.",
        text=WALKING,
        ids=", ".join(map(str, ids)),
        model=TINY_BERT,
        width=width,
        count=len(chosen),
        beside=beside,
    )
    files = later("the vocabulary and the embeddings in the files of {model}", model=TINY_BERT)
    return Verdict(numbers, why, later("{first}; {second}", first=later(CONFIGURATION), second=files))


def _larger(_evidence: Evidence) -> Verdict:
    entries, width = vocabulary(), table(TOKENS).shape[1]
    few, many = (_cuts(frozenset(kept)) for kept in (entries[:FEW], entries))
    missing, still_missing = (sum(len(cut) > 1 or cut == [UNKNOWN] for cut in cuts) for cuts in (few, many))
    long, short = (sum(map(len, cuts)) for cuts in (few, many))
    unknown, small, large = few.count([UNKNOWN]), FEW * width, len(entries) * width
    numbers = (
        Number(
            later("words and signs without an entry, of {count}: {size:,} entries", count=len(many), size=len(entries)),
            below(missing),
            still_missing,
        ),
        Number(later("parameters of the embeddings: {size:,} entries", size=len(entries)), above(small), large),
        Number(later("tokens of the same texts: {size:,} entries", size=len(entries)), below(long), short, core=False),
        Number(later("unknown words ([UNK]): {size:,} entries", size=FEW), above(0), unknown, core=False),
    )
    why = later(
        "With {few:,} entries {missing} of {words} words and signs have none of their own, with {many:,} entries "
        "{still_missing}: the texts take {long} and {short} tokens, the embeddings {small:,} and {large:,} parameters. "
        "But a word without an entry is cut into pieces: {unknown} are unknown with {few:,} entries.",
        few=FEW,
        missing=missing,
        words=len(many),
        many=len(entries),
        still_missing=still_missing,
        long=long,
        short=short,
        small=small,
        large=large,
        unknown=unknown,
    )
    basis = later(
        "the vocabulary of {model}, and its first {few:,} entries, on {count} sentences",
        model=TINY_BERT,
        few=FEW,
        count=len(SEARCHED),
    )
    return Verdict(numbers, why, basis)


def _cuts(entries: Collection[str]) -> list[list[str]]:
    return [cut for text in SEARCHED for cut in pieces(text, entries)]


@lru_cache
def _pieces(name: str) -> str:
    """The kind of pre-tokenizer that a shipped tokenizer has."""
    found = json.loads((EMBEDDED / name / "tokenizer.json").read_text("utf-8"))
    before = found["pre_tokenizer"]
    kinds = [part["type"] for part in before.get("pretokenizers", [before])]
    return "ByteLevel" if "ByteLevel" in kinds else str(kinds[0])


CLAIMS: tuple[Claim, ...] = (
    Claim("19", "inputs", ("bert chapter", "notes"), "inputs", {"look": "sum", **PAIR_RUN}, _three),
    Claim("19b", "inputs", ("notes",), "inputs", {"look": "pieces"}, _notes),
    Claim("19c", "inputs", ("notes",), "inputs", {"look": "sum"}, _written),
    Claim("19d", "inputs", ("notes",), "inputs", {"look": "pieces", **PAIR_RUN}, _segments),
    Claim("19e", "inputs", ("notes",), "inputs", {"look": "pieces", "model": TINY_BERT, "text": WALKING}, _ids),
    Claim("21b", "inputs", ("bart chapter",), "parameters", {"of": T5}, _few_positions),
    Claim("21c", "inputs", ("bart chapter",), "masks", {"about": "patterns"}, _beyond),
    Claim(
        "20",
        "inputs",
        ("bert chapter",),
        "inputs",
        {"look": "positions", "rows": str(SEEN - 1), **BERT_RUN},
        _positions,
        about="trained",
    ),
    Claim("21", "inputs", ("bart chapter",), "parameters", {"of": BART, "n": "1024"}, _tokenizers),
    Claim("21d", "inputs", ("bert chapter",), "inputs", {"look": "tokenizers", **BERT_RUN}, _larger),
)
