"""The lines of the ledger about writing a text: each check runs the shipped translator.

Shapes: n source tokens, m decoder rows, K keys, V vocabulary, D width.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import nn

from bartviz.experiments.replay import Replay
from bartviz.families.catalogue import CATALOGUE
from bartviz.families.config import sizes
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.record.attention import Head
from bartviz.record.record import Record
from bartviz.run.forward import capture
from bartviz.run.generate import decode
from bartviz.run.prepare import prepare
from bartviz.tape.tape import Tape, recording
from bartviz.teaching.textbook.judging import Verdict, number

TEXT = "I want to buy a car."
NOTHING = "."
TEXTS = (
    TEXT,
    "We have been waiting for the bus for more than an hour.",
    "My brother works in a small factory near the river.",
    "The government decided to build a new bridge over the river next year.",
)
STEPS = 5
CLOSE = 1e-4  # how far two runs of the same numbers in other shapes may be apart
Cancel = Callable[[], bool]


def basis(model: Model) -> str:
    return later("runs of {model}, made now", model=model.info.name)


def without_crossing(model: Model, cancelled: Cancel) -> Verdict:
    layers, heads = model.info.decoder_layers, model.info.decoder_heads
    every = [str(Head("cross", layer, head)) for layer, head in np.ndindex(layers, heads)]
    blind = [decode(model, text, ablate=every, cancelled=cancelled).target_text or "" for text in TEXTS]
    seeing = [decode(model, text, cancelled=cancelled).target_text for text in TEXTS]
    empty = decode(model, NOTHING, cancelled=cancelled).target_text or ""
    numbers = (
        number(
            later("{count} sources with cross-attention: different texts", count=len(TEXTS)),
            len(TEXTS),
            len(set(seeing)),
        ),
        number(
            later("the same sources, all {heads} cross heads silenced: different texts", heads=len(every)),
            1,
            len(set(blind)),
        ),
        number(
            later("a source of only a full stop gives that text too"),
            later("yes"),
            later("yes") if empty == blind[0] else later("no"),
            core=False,
        ),
    )
    why = later(
        "With every cross head silenced the model writes “{text}” whatever the source is, so it knows no source. That "
        "is no general sentence that it has learned: zeros where a source was are new to it. To a source that says "
        "nothing, a full stop, it writes “{empty}”.",
        text=blind[0],
        empty=empty,
    )
    return Verdict(numbers, why, basis(model))


@torch.inference_mode()
def encoded_once(model: Model, cancelled: Cancel) -> Verdict:
    ids = torch.from_numpy(prepare(model, TEXT).tokens.ids.copy())[None]  # (1, n)
    network: Any = model.network
    with recording(Tape(cancelled=cancelled)) as tape:
        written = network.generate(ids, num_beams=1, do_sample=False)
    steps = written.shape[1] - 1
    encoder, decoder, cross = (len(tape.entries[kind, 0].q) for kind in ("encoder", "decoder", "cross"))
    keys = tape.entries["cross", 0].k
    numbers = (
        number(later("steps of generate(): calls of the first decoder layer"), steps, decoder),
        number(later("calls of the first encoder layer"), 1, encoder),
        number(later("steps that looked at the source"), steps, cross),
        number(later("keys of the source in the last step"), ids.shape[1], 0 if keys is None else keys.shape[2]),
    )
    why = later(
        "transformers' own generate() called the encoder {encoder} × and the decoder {steps} ×.",
        encoder=encoder,
        steps=steps,
    )
    return Verdict(numbers, why, basis(model))


@torch.inference_mode()
def without_end(model: Model, cancelled: Cancel) -> Verdict:
    network: Any = model.network
    same, lost, tokens = 0, 0.0, 0
    for text in TEXTS:
        record = decode(model, text, cancelled=cancelled)
        source = torch.from_numpy(record.source.ids.copy())[None, :-1]  # without the end token
        written = network.generate(source, num_beams=1, do_sample=False)[0, 1:].tolist()
        assert record.output is not None  # it has been decoded
        wanted = record.output.ids.tolist()
        same += written == wanted
        given = torch.from_numpy(record.attention("decoder").query.ids.copy())[None]
        logits = network(input_ids=source, decoder_input_ids=given, use_cache=False).logits[0]  # (m, V)
        without = logits.log_softmax(-1)[range(1, len(wanted)), wanted[1:]].sum()  # the first is forced
        lost += float(sum(step.log_probability for step in list(record.steps)[1:])) - float(without)
        tokens += len(wanted) - 1
    numbers = (
        number(
            later("of {count} texts: those written alike without </s> at the source", count=len(TEXTS)),
            f"> {len(TEXTS) // 2}",
            same,
            same > len(TEXTS) / 2,
        ),
        number(later("lost without it, nats for each token"), "> 0", round(lost / tokens, 4), lost > 0),
    )
    why = later(
        "{same} of {count} texts stay as they are; each token is {lost:.3f} nats less likely.",
        same=same,
        count=len(TEXTS),
        lost=lost / tokens,
    )
    return Verdict(numbers, why, basis(model))


@torch.inference_mode()
def by_hand(model: Model, cancelled: Cancel) -> Verdict:
    record = decode(model, TEXT, cancelled=cancelled)
    inputs = record.attention("decoder").query
    source, ids, rows = torch.from_numpy(record.source.ids.copy())[None], [int(inputs.ids[0])], []
    for _step in range(STEPS):
        with recording(Tape(cancelled=cancelled)) as tape:
            out: Any = model.network(input_ids=source, decoder_input_ids=torch.tensor([ids]), use_cache=False)
        entry = tape.entries["cross", model.info.decoder_layers - 1]
        assert entry.k is not None  # the layer has been called
        scores = entry.q[-1][0, :, -1:] @ entry.k[0].mT * entry.scale  # (H, 1, n)
        rows.append(scores.softmax(-1)[:, 0].numpy())
        ids.append(int(out.logits[0, -1].argmax()))
    ours = record.attention("cross").layer(model.info.decoder_layers - 1)[:, :STEPS]  # (H, STEPS, n)
    apart = float(np.abs(np.stack(rows, axis=1) - ours).max())
    same = sum(a == b for a, b in zip(ids[1:], record.output.ids.tolist() if record.output else (), strict=False))
    reads = sum(a == b for a, b in pairwise(ids))
    numbers = (
        number(later("steps that chose the same token as the run with a cache"), STEPS, same),
        number(later("largest difference of a weight"), 0, float(f"{apart:.1e}"), apart < CLOSE),
        number(later("rows whose own token is the one they are labelled with"), STEPS, reads, core=False),
    )
    why = later(
        "The matrix comes out the same; but the row that is labelled with a written token was computed from "
        "the token before it: row t reads token t and predicts token t + 1."
    )
    return Verdict(numbers, why, basis(model))


def at_once(model: Model, cancelled: Cancel) -> Verdict:
    steps = decode(model, TEXT, cancelled=cancelled)
    rows = capture(model, TEXT, target=steps.target_text, cancelled=cancelled)
    pairs = list(zip(steps.steps, rows.steps, strict=True))
    apart = max(abs(one.chosen.probability - other.chosen.probability) for one, other in pairs)
    same = sum(one.chosen.token_id == other.chosen.token_id for one, other in pairs)
    numbers = (
        number(later("rows with the token of that step"), len(pairs), same),
        number(
            later("probability, step by step against all at once: largest difference"),
            0,
            float(f"{apart:.1e}"),
            apart < CLOSE,
        ),
    )
    why = later(
        "The causal mask makes it so: a row of the whole text sees what its step saw, and its probability differs by "
        "{apart:.0e} at most.",
        apart=apart,
    )
    return Verdict(numbers, why, basis(model))


def beams(model: Model, cancelled: Cancel) -> Verdict:
    better, same, texts, open_beams = [], 0, [], 0
    for text in TEXTS:
        greedy = decode(model, text, cancelled=cancelled)
        beam = decode(model, text, beams=4, early_stopping=True, max_new_tokens=50, cancelled=cancelled)
        better.append(beam.log_probability - greedy.log_probability)
        same += beam.target_text == greedy.target_text
        texts.append(len(beam.steps))
        open_beams = max(open_beams, _most_open(beam))
    numbers = (
        number(later("beams that are followed at once, at most"), 4, open_beams, open_beams <= 4),
        number(
            later("of {count} texts: those with a higher log p than greedy search's, or the same", count=len(TEXTS)),
            len(TEXTS),
            sum(gain > -1e-3 for gain in better),
            sum(gain > -1e-3 for gain in better) > len(TEXTS) / 2,
        ),
        number(later("tokens of the longest text"), "≤ 50", max(texts), max(texts) <= 50),
        number(later("texts that differ from greedy search's"), len(TEXTS), len(TEXTS) - same, core=False),
    )
    why = later(
        "On {count} sentences four beams gain up to {gain:.2f} in log p and lose up to {loss:.2f}, as "
        "they rank by log p for each token. That is what the search looks for, not what a reader finds better: no "
        "number here measures that. No model that writes summaries ships: this one translates.",
        count=len(TEXTS),
        gain=max(0.0, *better),
        loss=max(0.0, -min(better)),
    )
    return Verdict(numbers, why, basis(model))


def _most_open(record: Record) -> int:
    tree = record.beams
    assert tree is not None  # four beams were asked for
    followed = {node.parent for node in tree.nodes}
    steps = [node.step for place, node in enumerate(tree.nodes) if place in followed]
    return max(steps.count(step) for step in set(steps))


@torch.inference_mode()
def tied(model: Model, cancelled: Cancel) -> Verdict:
    network: Any = model.network
    record = capture(model, TEXT, cancelled=cancelled)
    outcome = Replay(model, record).run(Tape(cancelled=cancelled))
    embeddings = network.get_input_embeddings().weight  # (V, D)
    assert outcome.logits is not None  # this model writes
    apart = float((nn.functional.linear(outcome.last, embeddings) - outcome.logits).abs().max())
    bias = float(network.final_logits_bias.abs().max())
    hub = [sizes(known.config) for known in CATALOGUE if known.source == "hub"]
    share = sum(one.tied for one in hub)
    numbers = (
        number(
            later("one matrix in memory for embeddings and output layer"),
            later("yes"),
            later("yes") if network.lm_head.weight.data_ptr() == embeddings.data_ptr() else later("no"),
        ),
        number(
            later("logits against state times embeddings: largest difference"),
            0,
            float(f"{apart:.1e}"),
            apart < 1e-3 + bias,
        ),
        number(
            later("models of the catalogue that tie them: often"), f"> {len(hub) // 2}", share, share > len(hub) / 2
        ),
        number(later("models of the catalogue that tie them: all"), len(hub), share, core=False),
    )
    why = later(
        "The logits are the products of the last state with the embeddings; {share} of {all} models of the "
        "catalogue tie the two, T5 1.1 does not.",
        share=share,
        all=len(hub),
    )
    return Verdict(numbers, why, basis(model))


@torch.inference_mode()
def nearest(model: Model, cancelled: Cancel) -> Verdict:
    network: Any = model.network
    table = network.get_input_embeddings().weight  # (V, D)
    following, own = list[float](), list[float]()
    for text in TEXTS:
        record = decode(model, text, cancelled=cancelled)
        assert record.output is not None  # it has been decoded
        states = Replay(model, record).run(Tape(cancelled=cancelled)).last[0]  # (m, D)
        for cosines, ids in ((following, record.output.ids), (own, record.attention("decoder").query.ids)):
            rows = table[torch.from_numpy(ids.copy())]  # (m, D)
            cosines.extend(nn.functional.cosine_similarity(states, rows)[1:].tolist())  # the first is forced
    ahead, behind = float(np.mean(following)), float(np.mean(own))
    numbers = (
        number(
            later("cosine with the embedding of the next token, that of the token read being {own:.2f}", own=behind),
            f"> {behind:.3f}",
            round(ahead, 3),
            ahead > behind,
        ),
        number(
            later("rows that are nearer to the next token"),
            f"> {len(own) // 2}",
            sum(a > b for a, b in zip(following, own, strict=True)),
            sum(a > b for a, b in zip(following, own, strict=True)) > len(own) / 2,
        ),
    )
    why = later(
        "A row enters as the token it reads and leaves as the one it predicts: mean cosine {ahead:.2f} with the next "
        "token's embedding and {behind:.2f} with its own.",
        ahead=ahead,
        behind=behind,
    )
    return Verdict(numbers, why, basis(model))
