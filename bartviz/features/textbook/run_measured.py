"""The statements of the textbook that need a run of a model: each check runs the shipped translator.

``judge_all(load(MODEL))`` returns all verdicts, for ``textbook.ledger(more=...)``.
Shapes: n source tokens, m decoder rows, K keys, V vocabulary, D width.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from bartviz.callbacks import never, silent
from bartviz.experiments.edits import edit, reach
from bartviz.experiments.replay import Replay
from bartviz.features.textbook import chapter_classes as classes
from bartviz.features.textbook import chapter_sublayers as sublayers
from bartviz.features.textbook import chapter_trained as trained
from bartviz.features.textbook import chapter_writing as writing
from bartviz.features.textbook import claim, networks
from bartviz.features.textbook.chapter_writing import Cancel, basis
from bartviz.features.textbook.judging import NEARLY, ROUNDING, Number, Verdict, above, at_least
from bartviz.features.textbook.sentences import HOUSE, LONGER, TEXT
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.run.forward import capture, capture_batch
from bartviz.run.prepare import prepare
from bartviz.tape.tape import Tape


def padding(model: Model, cancelled: Cancel) -> Verdict:
    alone = capture(model, TEXT, cancelled=cancelled)
    batch = capture_batch(model, [TEXT, LONGER], padded=True, cancelled=cancelled)[0]
    n = len(alone.source)
    closed = len(batch.source) - n
    weights = max(
        float(batch.attention("encoder").head(layer, head)[:n, n:].max())
        for layer, head in np.ndindex(batch.attention("encoder").shape[:2])
    )
    apart = float(np.abs(batch.attention("encoder").queries[-1, :, :n] - alone.attention("encoder").queries[-1]).max())
    numbers = (
        Number(later("padding tokens of the shorter text"), above(0), closed),
        Number(later("largest weight on one of them"), 0, weights),
        Number(later("last layer: largest difference of a query from the text alone"), 0, apart, within=ROUNDING),
    )
    why = later(
        "In a batch with a longer text, {closed} columns of padding get exactly 0, and the last layer's "
        "numbers are those of the text alone, up to rounding.",
        closed=closed,
    )
    return Verdict(numbers, why, basis(model))


def crossing(model: Model, cancelled: Cancel) -> Verdict:
    alone = capture(model, TEXT, cancelled=cancelled).attention("cross").mask
    padded = capture_batch(model, [TEXT, LONGER], padded=True, cancelled=cancelled)[0].attention("cross").mask
    numbers = (
        Number(later("a text alone: open cells"), alone.size, int(alone.sum())),
        Number(later("the same text in a batch: open cells"), padded.size, int(padded.sum()), core=False),
    )
    why = later(
        "For a single text nothing is closed; in a batch the padding of the source is, {closed} of {cells} cells.",
        closed=int((~padded).sum()),
        cells=padded.size,
    )
    return Verdict(numbers, why, basis(model))


def directions(model: Model, cancelled: Cancel) -> Verdict:
    record = capture(model, TEXT, cancelled=cancelled)
    last = len(record.source) - 1
    source = edit(model, record, 1, record.source.ids[2].item(), cancelled=cancelled)
    rows = len(record.attention("decoder").query)
    place = rows // 2
    inputs = record.attention("decoder").query
    target = edit(model, record, place, int(inputs.ids[1]), part="target", cancelled=cancelled)
    encoder, decoder = source.hidden["encoder"][-1], target.hidden["decoder"]  # (n,), (L + 1, m)
    felt, crossed = int((encoder > 0).sum()), int((source.hidden["decoder"][-1] > 0).sum())
    before, after = int((decoder[:, :place] > 0).any(axis=0).sum()), int((decoder[-1, place:] > 0).sum())
    numbers = (
        Number(later("source token 1 changed: encodings that change"), last + 1, felt),
        Number(later("source token 1 changed: decoder rows that change"), rows, crossed),
        Number(later("target token {place} changed: earlier rows that change in any bit", place=place), 0, before),
        Number(later("target token {place} changed: rows from there on that change", place=place), rows - place, after),
    )
    why = later(
        "One source token affects all {n} encodings and all {m} decoder rows; the {place} rows before a "
        "changed target token stay bit-identical.",
        n=last + 1,
        m=rows,
        place=place,
    )
    return Verdict(numbers, why, basis(model))


def house(model: Model, cancelled: Cancel) -> Verdict:
    words = HOUSE.lower().split()
    away = words.index("it") - words.index("house")
    labels = [label.strip().lower() for label in prepare(model, HOUSE).tokens.labels]
    position, place = labels.index("house"), labels.index("it")
    steps = reach(model, HOUSE, position, cancelled=cancelled).steps(place)
    numbers = (
        Number(later("layers until “house” affects “it”"), 1, steps["bidirectional"] or 0),
        Number(later("steps of a recurrent network, one per word"), at_least(12), away),
        Number(later("positions from “house” to “it”"), 12, away, core=False),
    )
    why = later(
        "One layer suffices; but “it” is the {away}th word after “house” ({between} words between), and {tokens} "
        "tokens away in this model.",
        away=away,
        between=away - 1,
        tokens=place - position,
    )
    return Verdict(numbers, why, basis(model))


@torch.inference_mode()
def normalised(model: Model, cancelled: Cancel) -> Verdict:
    record = capture(model, TEXT, cancelled=cancelled)
    states = Replay(model, record).run(Tape(cancelled=cancelled)).hidden["encoder"][-1][0].double()  # (n, D)
    last: Any = model.network.get_encoder()
    norm = last.layers[-1].final_layer_norm
    plain = (states - norm.bias.double()) / norm.weight.double()  # before gain and shift
    means, variances = (
        [float(one.mean(-1).abs().max()), float(one.var(-1, unbiased=False).mean())] for one in (plain, states)
    )
    numbers = (
        Number(
            later("last encoder layer, gain and shift taken out: largest mean of a token"), 0, means[0], within=ROUNDING
        ),
        Number(later("its mean variance"), 1, means[1], within=NEARLY),
        Number(
            later("with the learned gain and shift, as the next layer reads it: mean variance"),
            1,
            variances[1],
            core=False,
            within=NEARLY,
        ),
    )
    why = later(
        "This is true before the learned gain and shift, which are part of a LayerNorm: with them the "
        "variance is {variance:.2f} in this model.",
        variance=variances[1],
    )
    return Verdict(numbers, why, basis(model))


CHECKS: Mapping[str, Callable[[Model, Cancel], Verdict]] = {
    "5c": classes.as_wide_as_gpt,
    "9b": padding,
    "9c": crossing,
    "12g": networks.dropout,
    "15c": trained.smooth,
    "16b": normalised,
    "16d": networks.norms,
    "16e": networks.residuals,
    "17": directions,
    "17b": trained.copying,
    "18": house,
    "22": writing.encoded_once,
    "22b": writing.made_once,
    "22d": writing.without_crossing,
    "24b": writing.without_end,
    "25": writing.by_hand,
    "25c": networks.returned,
    "25d": writing.at_once,
    "27": writing.beams,
    "28": writing.tied,
    "28b": writing.nearest,
    "30c": classes.text_to_text,
    "31d": classes.no_writer,
    "31e": sublayers.reads_first,
    "35d": sublayers.facts,
}


def judge_all(
    model: Model, *, cancelled: Cancel = never, on_progress: Callable[[str, int, int], None] = silent
) -> dict[str, Verdict]:
    """The verdict of every line that needs a model, by its number; ``model`` is MODEL, loaded. Raises Cancelled."""
    found = {}
    for done, (name, check) in enumerate(CHECKS.items()):
        on_progress(later("Statement {number}", number=name), done, len(CHECKS))
        found[name] = claim(name).judged(check(model, cancelled))
    return found
