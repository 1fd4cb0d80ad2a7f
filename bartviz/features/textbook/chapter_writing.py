"""The statements of the textbook about writing a text: each check runs the shipped translator.

Shapes: n source tokens, m decoder rows, K keys, V vocabulary, D width.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import nn

from bartviz.analysis.article_models import BART, decoder
from bartviz.experiments.replay import Replay
from bartviz.families.catalogue import CATALOGUE, EMBEDDED
from bartviz.families.config import sizes
from bartviz.features.textbook.judging import ROUNDING, Number, Verdict, above, at_most, yes
from bartviz.features.textbook.sentences import SEARCHED, TEXT, TEXTS
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.record.attention import Head
from bartviz.record.record import Record
from bartviz.run.forward import capture
from bartviz.run.generate import decode
from bartviz.run.prepare import prepare
from bartviz.tape.tape import Tape, recording

NOTHING = "."
MOST = 50  # tokens of a text, as the article sets it
STEPS = 5
Cancel = Callable[[], bool]


def basis(model: Model) -> str:
    return later("runs of {model}", model=model.info.name)


def without_crossing(model: Model, cancelled: Cancel) -> Verdict:
    layers, heads = model.info.decoder_layers, model.info.decoder_heads
    every = [str(Head("cross", layer, head)) for layer, head in np.ndindex(layers, heads)]
    blind = [decode(model, text, ablate=every, cancelled=cancelled).target_text or "" for text in TEXTS]
    seeing = [decode(model, text, cancelled=cancelled).target_text for text in TEXTS]
    empty = decode(model, NOTHING, cancelled=cancelled).target_text or ""
    numbers = (
        Number(
            later("{count} sources with cross-attention: different texts", count=len(TEXTS)),
            len(TEXTS),
            len(set(seeing)),
        ),
        Number(
            later("the same sources, all {heads} cross heads silenced: different texts", heads=len(every)),
            1,
            len(set(blind)),
        ),
        Number(
            later("a source of only a full stop gives that text too"), yes(True), yes(empty == blind[0]), core=False
        ),
    )
    why = later(
        "With every cross head silenced the model writes “{text}” whatever the source is, so it has no "
        "access to it. An all-zero source never occurs in training, so this is not a general sentence that "
        "it has learned. For a source without content, a full stop, it writes “{empty}”.",
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
        Number(later("steps of generate(): calls of the first decoder layer"), steps, decoder),
        Number(later("calls of the first encoder layer"), 1, encoder),
        Number(later("steps that looked at the source"), steps, cross),
        Number(later("keys of the source in the last step"), ids.shape[1], 0 if keys is None else keys.shape[2]),
    )
    why = later(
        "Calls made by transformers' own generate(): {encoder} of the encoder, {steps} of the decoder.",
        encoder=encoder,
        steps=steps,
    )
    return Verdict(numbers, why, basis(model))


@torch.inference_mode()
def made_once(model: Model, cancelled: Cancel) -> Verdict:
    ids = torch.from_numpy(prepare(model, TEXT).tokens.ids.copy())[None]  # (1, n)
    network: Any = model.network
    made: list[torch.Tensor] = []
    layers = [layer.encoder_attn.k_proj for layer in network.get_decoder().layers]
    calls = [layer.register_forward_hook(lambda _module, _given, keys: made.append(keys)) for layer in layers]
    try:
        with recording(Tape(cancelled=cancelled)):
            written = network.generate(ids, num_beams=1, do_sample=False)
    finally:
        for call in calls:
            call.remove()
    steps = written.shape[1] - 1
    apart = min(float((made[i] - made[j]).abs().max()) for i in range(len(made)) for j in range(i))
    numbers = (
        Number(later("all steps: times that a layer computes its keys in {steps} steps", steps=steps), 1,
               len(made) / len(layers)),
        Number(later("all layers: times that keys are computed, for {layers} layers", layers=len(layers)), 1,
               len(made)),
        Number(
            later("keys of two layers: smallest of their largest differences"), 0, apart, core=False, within=ROUNDING
        ),
        Number(later("BART base: key matrices of cross-attention"), 1, decoder(BART).layers, core=False),
    )  # fmt: skip
    why = later(
        "True of the steps: the keys are computed once and cached for all {steps}. Not of the layers: the "
        "encoder's output is the same for all, but each of the {layers} decoder layers computes its own keys "
        "and values from it.",
        steps=steps,
        layers=len(layers),
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
        Number(
            later("of {count} texts: those unchanged without </s> in the source", count=len(TEXTS)),
            above(len(TEXTS) // 2),
            same,
        ),
        Number(later("lost without it, nats per token"), above(0), lost / tokens),
    )
    why = later(
        "Without it {same} of {count} texts stay the same, and each token loses {lost:.3f} in log p on average.",
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
        Number(later("steps that chose the same token as the run with a cache"), STEPS, same),
        Number(later("largest difference of a weight"), 0, apart, within=ROUNDING),
        Number(later("rows whose own token is the one they are labelled with"), STEPS, reads, core=False),
    )
    why = later(
        "The matrix is the same; but the row that is labelled with a written token was computed from the "
        "token before it: row t reads token t and predicts token t + 1."
    )
    return Verdict(numbers, why, basis(model))


def at_once(model: Model, cancelled: Cancel) -> Verdict:
    steps = decode(model, TEXT, cancelled=cancelled)
    rows = capture(model, TEXT, target=steps.target_text, cancelled=cancelled)
    pairs = list(zip(steps.steps, rows.steps, strict=True))
    apart = max(abs(one.chosen.probability - other.chosen.probability) for one, other in pairs)
    same = sum(one.chosen.token_id == other.chosen.token_id for one, other in pairs)
    numbers = (
        Number(later("rows with the token of that step"), len(pairs), same),
        Number(later("probability, step by step against all at once: largest difference"), 0, apart, within=ROUNDING),
    )
    why = later(
        "The causal mask ensures it: a row of the whole text sees what its step saw, and its probability "
        "differs by {apart:.1g} at most.",
        apart=apart,
    )
    return Verdict(numbers, why, basis(model))


def beams(model: Model, cancelled: Cancel) -> Verdict:
    better, worse, texts, open_beams = [], 0, [], 0
    for text in SEARCHED:
        greedy = decode(model, text, cancelled=cancelled)
        beam = decode(model, text, beams=4, early_stopping=True, max_new_tokens=MOST, cancelled=cancelled)
        texts.append(len(beam.steps))
        open_beams = max(open_beams, _most_open(beam))
        if beam.target_text != greedy.target_text:
            gain = _for_each_token(beam) - _for_each_token(greedy)
            better.append(gain)
            worse += gain <= 0
    one, four = _scores(model)
    numbers = (
        Number(later("beams in parallel, at most"), at_most(4), open_beams),
        Number(later("tokens of the longest text"), at_most(MOST), max(texts)),
        Number(later("of {count} sentences: those that four beams write differently", count=len(SEARCHED)), above(0),
               len(better)),
        Number(later("of those: with a higher log p for each token"), above(len(better) // 2), len(better) - worse),
        Number(later("BLEU with four beams on the test sentences (the model's card)"), above(one), four),
    )  # fmt: skip
    why = later(
        "{count} of {all} sentences change, and gain {gain:.2f} in log p per token on average, which is what "
        "the search maximises. They are closer to the references, too: BLEU {four:.1f}, against {one:.1f} "
        "for greedy search (the model's card). No summarisation model ships with bartviz: this one "
        "translates.",
        count=len(better),
        all=len(SEARCHED),
        gain=float(np.mean(better)) if better else 0.0,
        one=one,
        four=four,
    )
    return Verdict(numbers, why, later("{first}; its card", first=basis(model)))


def _for_each_token(record: Record) -> float:
    return record.log_probability / len(record.steps)


def _scores(model: Model) -> tuple[float, float]:
    """BLEU of greedy search and of four beams, as the model's card has it."""
    card = (EMBEDDED / model.info.name / "README.md").read_text(encoding="utf-8")
    one, four = (re.search(rf"^\| {row} *\| *([\d.]+)", card, re.MULTILINE) for row in ("greedy", "4 beams"))
    assert one is not None  # both are rows of its table, which a test reads
    assert four is not None
    return float(one[1]), float(four[1])


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
    made = nn.functional.linear(outcome.last, embeddings) + network.final_logits_bias
    apart = float((made - outcome.logits).abs().max())
    hub = [sizes(known.config) for known in CATALOGUE if known.source == "hub"]
    share = sum(one.tied for one in hub)
    numbers = (
        Number(
            later("one matrix in memory for embeddings and output layer"),
            yes(True),
            yes(network.lm_head.weight.data_ptr() == embeddings.data_ptr()),
        ),
        Number(later("logits against state times embeddings and bias: largest difference"), 0, apart, within=ROUNDING),
        Number(later("models of the catalogue that tie them: often"), above(len(hub) // 2), share),
        Number(later("models of the catalogue that tie them: all"), len(hub), share, core=False),
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
        Number(
            later("cosine with the embedding of the next token, that of the token read being {own:.2f}", own=behind),
            above(behind),
            ahead,
        ),
        Number(
            later("rows that are closer to the next token"),
            above(len(own) // 2),
            sum(a > b for a, b in zip(following, own, strict=True)),
        ),
    )
    why = later(
        "A row enters as the token it reads and leaves as the one it predicts: mean cosine {ahead:.2f} with the next "
        "token's embedding and {behind:.2f} with its own.",
        ahead=ahead,
        behind=behind,
    )
    return Verdict(numbers, why, basis(model))
