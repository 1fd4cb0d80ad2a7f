"""The data of the player: small typed data for one record, one layer and one head. No Streamlit here.

Weights are sent as Arrow tables (which arrive as aligned typed arrays), everything else as a few kilobytes of JSON.
"""

from __future__ import annotations

import hashlib
import math
import unicodedata
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bartviz.analysis import branches, decoding, sentence_words
from bartviz.analysis.sentence_words import weights_name
from bartviz.analysis.temperature import SHARES, TEMPERATURES, Temperatures
from bartviz.analysis.word_colors import WordColors
from bartviz.analysis.words import pieces_of
from bartviz.arrays import Floats
from bartviz.browser.player.messages import (
    another,
    chosen,
    messages,
    note,
    plain_titles,
    plainly,
    some,
    stopped,
    tag,
    titles,
)
from bartviz.drawing import theme
from bartviz.drawing.colors import word_palette, word_places
from bartviz.language import _
from bartviz.record.attention import KINDS, Kind
from bartviz.record.record import Record
from bartviz.record.steps import Step, told_apart
from bartviz.record.vocabulary import FORCED_FIRST_TOKEN, SAMPLING
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    import pyarrow as pa

EXACT = 250_000  # cells; above it a weight is sent as one byte, to keep the payload under 2 MB

Segment = tuple[str, list[int], bool]  # text, its columns, whether it is a special token


def payload(
    record: Record,
    *,
    layer: int | None,
    head: int | None,
    branch: Record | None = None,
    plain: bool = False,
    heat: Temperatures | Literal["later"] | None = None,
    colors: WordColors | None = None,
) -> dict[str, Any]:
    """``meta`` (JSON); ``rows`` (T, K) of the kind that explains the steps; ``own`` (T, Q), the decoder's
    self-attention if the record has cross-attention, else empty; ``other`` (T', S), the branch's rows over the source,
    else empty. Weights are flat, row by row, in the column ``w``. ``plain``: for a beginner.
    ``heat``: the sums of other temperatures, in a table of their own; "later": they are being computed.
    """
    import pyarrow as pa  # part of the app; a host without Streamlit needs ``described`` alone

    kind = decoding.kind_of(record)
    rows = decoding.alignment(record, layer=layer, head=head)
    own = decoding.alignment(record, "decoder", layer=layer, head=head) if kind == "cross" else rows[:, :0]
    other = rows[:0] if branch is None else _over_source(branch, record, layer, head)
    unit = _unit(rows, own, other)
    meta = described(record, layer, head, branched=branch is not None, colors=colors) | {"scale": unit, "plain": plain}
    if plain:
        whose = weights_name(record.attention(kind), layer, head)
        if layer is not None and head is not None:
            whose = sentence_words.head_in_words(layer, head)
        meta["titles"] |= plain_titles(whose, branched=branch is not None, start=_start(record, kind))
    if branch is not None:
        meta["branch"] = _branch(record, branch, other.shape[1], plain)
    if heat is not None:
        meta["heat"] = {"temperatures": TEMPERATURES, "shares": SHARES, "draws": not decoding.given(record)}
        meta["heat"] |= {"ready": isinstance(heat, Temperatures), "begin": _begin(record)}
    weights = {"rows": rows, "own": own, "other": other}
    tables = {name: pa.table({"w": _packed(part, unit)}) for name, part in weights.items()}
    return {
        "meta": meta,
        "heat": pa.table({"w": _packed(heat.table if isinstance(heat, Temperatures) else rows[:0], 1)}),
    } | tables


def _start(record: Record, kind: Kind) -> str:
    """The tokens that every output of a decoder beside an encoder begins with: its start mark, and what a rule writes
    next; empty where the text itself is continued."""
    label, special, _joined = _chips(record.attention("decoder").query)[0]
    if kind != "cross" or not special:
        return ""
    ruled = takewhile(lambda step: step.rule == FORCED_FIRST_TOKEN, record.steps)
    return " ".join([label, *(step.chosen.label for step in ruled)])


def _over_source(branch: Record, record: Record, layer: int | None, head: int | None) -> Floats:
    """(T', S) the branch's rows over the source, or over the prompt of a decoder-only model."""
    rows = decoding.alignment(branch, layer=layer, head=head)
    return rows if record.cross is not None else np.ascontiguousarray(rows[:, : first_column(record)])


def first_column(record: Record) -> int:
    """The first column of the output: 0 with an encoder, else the one after the prompt."""
    return 0 if record.cross is not None else int(decoding.step_rows(record)[0]) + 1


def _branch(record: Record, branch: Record, columns: int, plain: bool) -> dict[str, Any]:
    run = branches.course(record, branch)
    notices = (_(notice) for notice in branch.provenance.notices)
    return {
        "revision": revision(branch),
        "steps": _steps(branch),
        "columns": columns,
        "parts": run.parts,
        "meets": None if run.meets is None else list(run.meets),
        "said": " ".join([branches.sentence(record, branch, plain=plain), *notices]),
    }


def revision(record: Record) -> str:
    """Changes with the model, the text or the output; the player restarts when it does."""
    assert record.decoder is not None
    parts = (record.model.fingerprint, record.source_text, record.decoder.query.ids.tolist(), len(record.steps))
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _unit(*parts: Floats) -> int:
    """The code of a weight of 1: 1 (exact float32) or 255 (one byte)."""
    return 1 if sum(part.size for part in parts) <= EXACT else 255


def _packed(weights: Floats, unit: int) -> pa.Array:
    import pyarrow as pa

    flat = weights.reshape(-1)
    return pa.array(flat if unit == 1 else np.rint(flat * unit).astype(np.uint8))


def described(
    record: Record, layer: int | None, head: int | None, *, branched: bool = False, colors: WordColors | None = None
) -> dict[str, Any]:
    """All but the weights: ``meta`` of the payload, without ``scale``. ``colors``: those of the record's words."""
    kind = decoding.kind_of(record)
    decoder = record.attention("decoder")
    first = first_column(record)
    name, own = (weights_name(attention, layer, head) for attention in (record.attention(kind), decoder))
    source = record.source if kind == "cross" else decoder.query.take(slice(first))
    return {
        "revision": revision(record),
        "kind": kind,
        "weights": name,
        "source": running(record.source_text, source),
        "words": messages(),
        "some": some(record, branched=branched),
        "titles": titles(record, kind, name, own, branched=branched),
        "columns": list(record.attention(kind).key.labels),
        "column_words": pieces_of(record.attention(kind).key),
        "special": record.attention(kind).key.special.tolist(),
        "masked": np.flatnonzero(~record.attention(kind).mask.any(axis=0)).tolist(),
        "reads": _chips(decoder.query),
        "colors": _colors(kind, colors),
        "palette": word_palette(),
        "first": first,
        "steps": _steps(record),
        "cost": _cost(record),
        "costs": True,
        "plain": False,
        "naming": True,
        "vocabulary": record.model.vocabulary,
        "given": decoding.given(record),
        "branch": None,
        "heat": None,
        "asks": True,
        "stopped": stopped(record.provenance.stopped or ""),
        "ramps": {name: [theme.stops(name), theme.stops(name, dark=True)] for name in KINDS},
    }


def _colors(kind: Kind, colors: WordColors | None) -> dict[str, list[int]]:
    """The places on the palette of words, -1 for none, of the columns, and of what each row reads and predicts."""
    if colors is None:
        return {"columns": [], "reads": [], "predicts": []}
    named = {"columns": colors.sides(kind)[1], "reads": colors.reads, "predicts": colors.predicts}
    return {name: word_places(numbers) for name, numbers in named.items()}


def _chips(tokens: Tokens) -> list[tuple[str, bool, bool]]:
    """(label, special, touches the previous one) for each token; the pieces of a word touch."""
    return list(zip(tokens.labels, tokens.special.tolist(), tokens.joined, strict=True))


def _steps(record: Record) -> list[dict[str, Any]]:
    table = decoding.steps_table(record).drop(columns="candidates").astype(object)
    lines: list[dict[str, Any]] = table.where(table.notna(), None).to_dict("records")  # type: ignore[assignment]
    given, mode, temperature = decoding.given(record), str(record.provenance.mode or ""), _temperature(record)
    touching = [] if record.output is None else _chips(record.output)
    for line, step, token in zip(lines, record.steps, decoding.named(record, record.steps), strict=True):
        line |= {name: None for name, value in line.items() if isinstance(value, float) and not math.isfinite(value)}
        line["special"], line["joined"] = touching[step.row][1:] if touching else (False, False)
        line |= {"tag": tag(step.rule), "decided": sentence_words.rule(step.rule) if step.rule else None}
        names = zip(told_apart(step.candidates), step.candidates, strict=True)
        alike = next((label for label, one in names if label != one.label), "")
        why = note(step, given=given, mode=mode, temperature=temperature)
        line |= {"why": why, "note": " ".join(filter(None, [why, another(alike) if alike else ""]))}
        for name, sentence in (("said", chosen), ("plain", plainly)):
            line[name] = sentence(step, given=given, token=token, temperature=temperature)
        line["candidates"] = _candidates(step)
    return lines


def _begin(record: Record) -> dict[str, int]:
    """Where the slider and the choices of the cut begin, at the settings of the draw where the player offers them: the
    number of the temperature, top-k (0 for all), the number of the share of top-p (-1 for all)."""
    temperature, (k, p) = _temperature(record), map(record.provenance.settings.get, ("top_k", "top_p"))
    drawn = record.provenance.mode == SAMPLING and temperature in TEMPERATURES
    return {
        "warm": TEMPERATURES.index(temperature if drawn else 1.0),
        "k": k if drawn and isinstance(k, int) else 0,
        "p": SHARES.index(p) if drawn and p in SHARES else -1,
    }


def _temperature(record: Record) -> float:
    """The temperature at which the tokens were drawn; 1 if they were not."""
    temperature = record.provenance.settings.get("temperature")
    return float(temperature) if isinstance(temperature, int | float) else 1.0


def _candidates(step: Step) -> list[tuple[str, float, bool, int, float | None, bool]]:
    """Label, probability, whether it was chosen, token id, its probability of being drawn, and whether a likelier one
    is written the same, of each candidate."""
    return [
        (label, one.probability, one.token_id == step.chosen.token_id, one.token_id, one.filtered, label != one.label)
        for label, one in zip(told_apart(step.candidates), step.candidates, strict=True)
    ]


def _cost(record: Record) -> dict[str, Any]:
    encoder = record.encoder
    return {
        "table": decoding.cache_table(record).to_dict("list"),
        "layers": record.attention("decoder").shape[0],
        "encoder": None
        if encoder is None
        else {
            "layers": encoder.shape[0],
            "tokens": encoder.shape[2],
            "operations": decoding.encoder_operations(record),
        },
    }


def running(text: str, tokens: Tokens) -> list[Segment]:
    """The text itself in segments: tokens with their columns, and the text between them without any.

    Tokens with overlapping spans (an emoji of many bytes) form one segment. If the spans do not run through the text
    from left to right (a pair, a changed text), the tokens' labels are used instead.
    """
    groups = _grouped(tokens)
    spans = [span for span, _columns in groups if span is not None]
    if any(a[1] > b[0] for a, b in pairwise(spans)) or (spans and spans[-1][1] > len(text)):
        return _labels(tokens)
    segments: list[Segment] = []
    end = 0
    for span, columns in groups:
        if span is None:
            segments.append((tokens.labels[columns[0]], columns, bool(tokens.special[columns[0]])))
            continue
        part = text[slice(*span)]
        begin = span[0] + len(part) - len(part.lstrip())  # a token's leading space belongs between the words
        segments.append((text[end:begin], [], False))
        special = bool(tokens.special[columns].all())  # a mask that was typed in the text
        segments.append((_visible(text[begin : span[1]], tokens, columns), columns, special))
        end = span[1]
    if spans:
        segments.append((text[end:], [], False))
    return [segment for segment in segments if segment[0]]


def _grouped(tokens: Tokens) -> list[tuple[tuple[int, int] | None, list[int]]]:
    """(span, columns) in order; a token whose span begins inside the previous one joins it."""
    groups: list[tuple[tuple[int, int] | None, list[int]]] = []
    for column, span in enumerate(tokens.spans):
        last = groups[-1][0] if groups else None
        if span is not None and last is not None and last[0] <= span[0] < last[1]:
            groups[-1] = ((last[0], max(last[1], span[1])), [*groups[-1][1], column])
        else:
            groups.append((span, [column]))
    return groups


def _labels(tokens: Tokens) -> list[Segment]:
    segments: list[Segment] = []
    for column, (label, special, joined) in enumerate(_chips(tokens)):
        if segments and not joined:
            segments.append((" ", [], False))
        segments.append((label, [column], special))
    return segments


def _visible(part: str, tokens: Tokens, columns: list[int]) -> str:
    """The segment, or its tokens' labels if it would be invisible (control or zero-width characters)."""
    hidden = all(unicodedata.category(char) in ("Cf", "Cc", "Zs", "Zl", "Zp") for char in part)
    return "".join(tokens.labels[column] for column in columns) if columns and hidden else part
