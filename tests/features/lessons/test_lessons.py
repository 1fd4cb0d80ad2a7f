"""Statements of the lessons hold for the records and models that they show; numbers are recomputed."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from bartviz.analysis import head_view
from bartviz.analysis.inside import inside
from bartviz.analysis.start import ribbons, row_of
from bartviz.corpus import shipped
from bartviz.corpus.replay import SHIPPED
from bartviz.features.lessons import cross, heads_found
from bartviz.features.lessons import facts as lesson_facts
from bartviz.features.lessons.judged import judged
from bartviz.features.lessons.parts_course import WRITTEN
from bartviz.record.record import Record
from bartviz.serving import saved_records as records

BY_WORD = {lesson.word: lesson for lesson in WRITTEN}


def facts(word: str, step: int) -> Mapping[str, Any]:
    """What a step states, by name; ``step`` counts from 1 as on the page."""
    one = BY_WORD[word].steps[step - 1]
    assert one.facts is not None
    return one.facts(records.read(one.record))


def weights(record: Record, kind: str, layer: int, head: int) -> np.ndarray[Any, Any]:
    """Independently of ``facts``: softmax of q k^T * scale over the open cells."""
    attention = record.attention(kind)
    scores = (
        attention.queries[layer, head].astype(float) @ attention.keys[layer, head].astype(float).T * attention.scale
    )
    scores[~attention.mask] = -np.inf
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    found: np.ndarray[Any, Any] = powers / powers.sum(axis=1, keepdims=True)
    return found


def said(record: Record, layer: int, head: int, where: str) -> Any:
    """The share that the page Heads states in its own sentence over the map, and what it would be evenly."""
    shown = head_view.view(record.attention("encoder"), layer=layer, head=head)
    found = {name: (share, even) for name, share, even in head_view.directions(shown)}[where]
    return pytest.approx(found, abs=1e-5)


@pytest.fixture
def start() -> Record:
    return records.read("start")


def test_attention(start: Record) -> None:
    shown = ribbons(start).head
    line = weights(start, "cross", shown.layer, shown.head)
    views = [BY_WORD["attention"].steps[at].shown for at in (1, 2, 5)]
    assert {(view["layer"], view["head"]) for view in views} == {(shown.layer, shown.head)}  # one sentence, one head
    assert start.output is not None
    row = start.output.labels.index("kaufen")
    assert facts("attention", 1)["key"] == facts("attention", 2)["key"] == "buy"
    assert facts("attention", 1)["weight"] == pytest.approx(line[row, 4], abs=1e-5)
    assert facts("attention", 2)["rest"] == pytest.approx(1 - line[row, 4], abs=1e-5)
    told = [facts("attention", 2)[name] for name in ("weight", "second_weight", "remainder")]
    assert sum(told) == pytest.approx(1, abs=1e-5)  # what is to be added up
    assert facts("attention", 2)["remaining"] == line.shape[1] - 2
    assert np.allclose(line.sum(axis=1), 1)  # "in this row as in every other"
    assert facts("attention", 3)["most_sum"] == pytest.approx(line.sum(axis=0).max(), abs=1e-4)
    assert facts("attention", 3)["least_sum"] < 0.2  # "hardly any"
    looks_back = heads_found.neighbour(start, -1)
    before = weights(start, "encoder", *looks_back)
    assert [int(before[row].argmax()) for row in range(3, 8)] == [2, 3, 4, 5, 6]  # "nearly every token"
    assert (facts("attention", 4)["looks"], facts("attention", 4)["key"]) == ("buy", "to")
    assert facts("attention", 4)["share"] == pytest.approx(np.diagonal(before, -1).sum() / 9, abs=1e-4)
    assert facts("attention", 4)["share"] > 5 * facts("attention", 4)["even"]
    assert said(start, *looks_back, "the previous token") == (
        facts("attention", 4)["share"],
        facts("attention", 4)["even"],
    )
    assert facts("attention", 6)["chance"] == pytest.approx(start.steps[5].chosen.probability)
    assert start.steps[5].chosen.label == "kaufen"


def test_an_even_spread_over_a_line_of_cells_is_its_part_of_all_cells() -> None:
    weights = np.array([[1, 0, 0], [0.5, 0.5, 0], [0, 0.25, 0.75]])
    back = {"share": (0.5 + 0.25) / 3, "even": 2 / 9, "on_line": 2, "cells": 9}  # the first row has none before it
    assert lesson_facts.goes(weights, -1) == pytest.approx(back)


def test_masks(start: Record) -> None:
    assert facts("masks", 1)["others"] == 0  # "not one"
    assert (facts("masks", 1)["closed"], facts("masks", 1)["cells"]) == (28, 64)
    assert (facts("masks", 2)["predicts"], facts("masks", 2)["count"]) == ("ein", 4)
    assert facts("masks", 6)["reads"] == "möchte"
    assert start.attention("cross").mask.all()
    assert facts("masks", 4)["weight"] == 0
    rows = weights(start, "decoder", 1, 4)
    assert np.allclose(rows.sum(axis=1), 1)
    assert facts("masks", 5)["first"] == 1
    assert facts("masks", 6)["count"] == 4
    assert facts("masks", 7)["open"] == facts("masks", 7)["cells"]


def test_arithmetic(start: Record) -> None:
    attention = start.attention("cross")
    layer, head = heads_found.head_of(start)
    q, k = attention.queries[layer, head, 5].astype(float), attention.keys[layer, head].astype(float)
    dots = k @ q
    assert facts("arithmetic", 1)["best"] == "buy"
    assert facts("arithmetic", 1)["score"] == pytest.approx(dots[4] / np.sqrt(32), rel=1e-4)
    assert facts("arithmetic", 2)["dot"] == pytest.approx(dots[4], rel=1e-4)
    assert facts("arithmetic", 2)["negative"] == int((q * k[4] < 0).sum())
    plain = np.exp(dots - dots.max())
    assert facts("arithmetic", 3)["without"] == pytest.approx(plain[4] / plain.sum(), abs=1e-4)
    assert facts("arithmetic", 3)["without"] > 0.999  # "would see ... alone"
    found = facts("arithmetic", 4)
    assert found["ratio"] == pytest.approx(found["weight"] / found["second_weight"], rel=1e-3)
    assert facts("arithmetic", 5)["all"] == start.model.width
    assert attention.key.special[attention.key.labels.index(facts("arithmetic", 6)["best"])]
    shown = ribbons(start).head
    assert (layer, head) == (shown.layer, shown.head)
    assert facts("arithmetic", 3)["others"] == pytest.approx(1 - facts("arithmetic", 4)["weight"], abs=1e-5)
    assert facts("arithmetic", 3)["others"] > 0.05  # "the other keys share": it is not all or nothing
    share = facts("arithmetic", 7)
    assert share["share"] < share["even"] < share["most_share"]  # "does it also add the most? No"
    one = inside(start.attention("cross"), layer, head, 5)
    assert one.v is not None
    assert one.context is not None
    assert np.allclose(one.weights @ one.v, one.context, atol=1e-5)  # the strips of weight x value sum to the output


def test_the_head_of_the_arithmetic_does_not_add_most_of_its_layer(start: Record) -> None:
    attention = start.attention("cross")
    assert attention.v is not None
    assert attention.out is not None
    layer, chosen = heads_found.head_of(start)
    added = [
        np.linalg.norm(
            attention.out[layer, :, head] @ (weights(start, "cross", layer, head)[5] @ attention.v[layer, head])
        )
        for head in range(attention.shape[1])
    ]
    assert int(np.argmax(added)) != chosen
    assert facts("arithmetic", 7)["most"] == f"H{np.argmax(added)}"
    assert facts("arithmetic", 7)["most_share"] == pytest.approx(max(added) / sum(added), rel=1e-3)
    assert facts("arithmetic", 7)["share"] == pytest.approx(added[chosen] / sum(added), rel=1e-3)


def test_heads() -> None:
    words = records.read("words")
    first = facts("heads", 1)
    assert first["blurred"] == "L0"  # "the first layer still looks around"
    assert first["clear"] == "L2"
    back, on = heads_found.neighbours(words)
    following, before = weights(words, "encoder", *on), weights(words, "encoder", *back)
    assert facts("heads", 2)["share"] == pytest.approx(np.diagonal(following, 1).sum() / 15, abs=1e-4)
    assert facts("heads", 3)["share"] == pytest.approx(np.diagonal(before, -1).sum() / 15, abs=1e-4)
    assert said(words, *on, "the next token") == (facts("heads", 2)["share"], facts("heads", 2)["even"])
    assert said(words, *back, "the previous token") == (facts("heads", 3)["share"], facts("heads", 3)["even"])
    mean = np.mean([weights(words, "encoder", on[0], head) for head in range(6)], axis=0)
    assert facts("heads", 4)["next"] == pytest.approx(np.diagonal(mean, 1).sum() / 15, abs=1e-4)
    assert facts("heads", 4)["next"] < 0.4  # "pale"
    start = records.read("start")
    all_heads = [weights(start, "encoder", layer, head) for layer, head in np.ndindex(4, 8)]
    shares = [line[:, [0, 8]].sum(axis=1).mean() for line in all_heads]
    resting = heads_found.resting(start)
    assert np.argmax(shares) == np.ravel_multi_index(resting, (4, 8))  # the head that is shown
    rest = facts("heads", 5)
    assert (rest["first"], rest["last"]) == ("<s>", "</s>")
    assert rest["share"] == pytest.approx(max(shares), abs=1e-4)
    assert rest["share"] > 3 * rest["even"]
    assert said(start, *resting, "special tokens") == (rest["share"], rest["even"])
    assert (facts("heads", 6)["previous"], facts("heads", 6)["next"]) == ("L0H1", "L0H3")
    assert facts("heads", 6)["many_previous"] + facts("heads", 6)["many_next"] < 12  # "most heads have no such job"


def test_encoder_meets_decoder(start: Record) -> None:
    assert (facts("cross", 1)["rows"], facts("cross", 1)["keys"]) == (8, 9)
    assert facts("cross", 2)["word"] == "kaufen"
    shifted = facts("cross", 3)
    assert (shifted["key"], shifted["reads"], shifted["predicts"]) == ("car", "Auto", "kaufen")
    assert shifted["weight"] == pytest.approx(weights(start, "cross", *heads_found.back(start))[5, 6], abs=1e-4)
    translated = {"Ich": "I", "möchte": "want", "ein": "a", "Auto": "car", "kaufen": "buy"}  # by a dictionary
    assert start.output is not None
    rows, columns = start.output.labels, start.source.labels
    pairs = {rows[row]: columns[column] for row, column in cross.translations(start).items()}
    assert pairs.items() <= translated.items()
    back = weights(start, "cross", *heads_found.back(start)).argmax(axis=1)
    right = [[columns[back[rows.index(word) + by]] == pairs[word] for word in pairs] for by in (1, 0)]
    assert (facts("cross", 4)["reads_right"], facts("cross", 4)["predicts_right"]) == tuple(map(sum, right)) == (3, 0)
    linked = facts("cross", 5)
    assert linked["pair"] == "“kaufen” – “buy”"  # the verb comes last in German
    assert linked["other_pairs"] == "“ein” – “a” and “Auto” – “car”"
    assert (linked["left"], linked["right"]) == ("“Ich”", "“möchte”")
    assert facts("cross", 6)["width"] == 32


def test_decoding(start: Record) -> None:
    assert (facts("decoding", 1)["start"], facts("decoding", 1)["token"]) == ("</s>", "<s>")
    assert start.steps[0].rule is not None  # "a rule decided"
    assert facts("decoding", 1)["chance"] > 0.9
    second = facts("decoding", 2)
    assert (second["token"], second["other"]) == ("möchte", "will")
    assert facts("decoding", 3)["bits"] < 0.5 * facts("decoding", 3)["before_bits"]
    row = np.mean([weights(start, "cross", 2, head)[5] for head in range(8)], axis=0)
    assert facts("decoding", 4)["key"] == "buy"
    assert facts("decoding", 4)["weight"] == pytest.approx(row[4], abs=1e-4)
    assert facts("decoding", 5)["token"] == start.steps[-1].chosen.label == "</s>"
    product = np.prod([step.chosen.probability for step in start.steps])
    assert facts("decoding", 6)["whole"] == pytest.approx(product, rel=1e-4)
    assert min(start.steps, key=lambda step: step.chosen.probability).chosen.label == facts("decoding", 6)["token"]
    given = facts("decoding", 7)
    assert (given["token"], given["rather"], given["next"]) == ("Haus", "Auto", "kaufen")
    assert given["one_in"] > 1_000
    assert given["next_chance"] > 0.9  # "again"


def test_denoising() -> None:
    repair = records.read("repair")
    assert facts("denoising", 1)["chance"] > 0.99
    lost = facts("denoising", 2)
    assert lost["token"] == next(step for step in repair.steps if step.row == 4).chosen.label
    assert lost["bits"] > 5
    by_size = sorted(repair.steps[4].candidates, key=lambda one: -one.probability)
    assert [lost["second"], lost["third"]] == [one.label for one in by_size[1:3]]
    assert (lost["second_chance"], lost["third_chance"]) == tuple(one.probability for one in by_size[1:3])
    assert lost["chance"] < 0.5  # "is the model sure? No"
    assert lost["copy_bits"] < 0.1
    assert facts("denoising", 3)["key"] == "<mask>"
    assert min(facts("denoising", 3)["mean"], facts("denoising", 3)["weight"]) > 0.8  # it looks at the gap as it copies
    assert facts("denoising", 4)["lost"] == facts("denoising", 4)["masks"]  # "one for each"
    assert facts("denoising", 5)["lost"] > facts("denoising", 5)["masks"]
    assert facts("denoising", 4)["lost"] == facts("denoising", 6)["lost"] > 1
    assert facts("denoising", 7)["lost"] == 0  # "not a word"
    assert facts("denoising", 7)["moved"] > 0


@pytest.mark.slow
def test_what_the_denoising_page_corrupts_is_what_the_lesson_counts() -> None:
    pytest.importorskip("torch")
    import bartviz
    from bartviz.experiments.repair import repair

    noise = pytest.importorskip("bartviz.features.denoising.parts_noise")

    model = bartviz.load(noise.DENOISER)
    texts = {"sentence": noise.SENTENCE, "story": noise.STORY}
    names = {"masking": "token masking", "infilling": "text infilling", "deletion": "token deletion"}
    names |= {"permutation": "sentence permutation"}
    for at in (4, 5, 6, 7):
        view = BY_WORD["denoising"].steps[at - 1].whole
        found = repair(model, texts[str(view["text_of"])], names[str(view["noise"])], seed=int(view["noise_seed"]))
        assert len(found.noised.lost) == facts("denoising", at).get("lost")
        restored = [one.text for one in found.said] == [word.text for word in found.noised.clean]
        assert restored == facts("denoising", at)["back"]  # "all of them come back", "does not manage it"
    assert [facts("denoising", at)["back"] for at in (4, 6, 5, 7)] == [True, True, False, False]


def test_parameters() -> None:
    base = facts("parameters", 1)
    assert base["words"] * base["width"] == base["count"] == 38_603_520
    assert base["total"] == 139_420_416
    assert base["share"] == "28%"  # "more than a quarter"
    shared = facts("parameters", 2)
    assert (shared["uses"], shared["places"]) == (3, 4)  # "where it is kept, and its 3 uses"
    assert shared["naive"] == shared["total"] + 3 * base["count"] == 255_230_976
    width, forward = 768, 3072
    layer = facts("parameters", 3)
    assert layer["attention"] == 4 * (width * width + width) + 2 * width  # with its norm
    assert (layer["square"], layer["wide"]) == (width * width, width * forward)
    assert layer["matrices"] == 4 + 2
    assert layer["forward"] == 2 * width * forward + width + forward + 2 * width
    assert facts("parameters", 4)["more"] == layer["attention"]  # cross-attention is another attention
    sizes = facts("parameters", 5)
    assert (sizes["large_share"], sizes["base_share"]) == ("13%", base["share"])
    assert facts("parameters", 6)["total"] == facts("parameters", 6)["agrees"]


def test_how_not_to_be_fooled(start: Record) -> None:
    mean = facts("pitfalls", 1)
    lines = np.array([[weights(start, "cross", layer, head)[5] for head in range(8)] for layer in range(4)])
    assert mean["key"] == "buy"
    assert mean["mean"] == pytest.approx(lines[..., 4].mean(), abs=1e-4)
    assert mean["agree"] == int((lines.argmax(axis=2) == 4).sum()) < 16  # "do most heads ...? No"
    assert (facts("pitfalls", 2)["other"], facts("pitfalls", 2)["weight"] > 0.9) == ("car", True)
    rest = facts("pitfalls", 3)
    resting = weights(start, "encoder", *heads_found.resting(start))
    assert rest["share"] == pytest.approx(resting[:, [0, 8]].sum(axis=1).mean(), abs=1e-4)
    assert rest["share"] > 2 * rest["even"]
    hidden, row = facts("pitfalls", 4), resting[4]
    assert hidden["divided"] == pytest.approx(row[1:7].max() / row[1:7].sum(), abs=1e-4)
    assert hidden["weight"] == pytest.approx(row[1:7].max(), abs=1e-4)
    assert hidden["share"] == pytest.approx(1 - row[1:7].sum(), abs=1e-4)  # of the row, not the mean of all rows
    assert hidden["divided"] == pytest.approx(hidden["weight"] / (1 - hidden["share"]), abs=1e-4)
    layer, head = heads_found.resting(start)
    shown = head_view.view(start.attention("encoder"), layer=layer, head=head, hide_sinks=True)
    assert hidden["all_rows"] == pytest.approx(shown.hidden_share, abs=1e-4)  # "the line under the map"
    assert facts("pitfalls", 5)["key"] == "car"
    empty = facts("pitfalls", 6)
    assert empty["weight"] > 0.5 > empty["share"]  # looked at most, but not most of what comes out
    assert empty["most"] != empty["key"]
    forced = facts("pitfalls", 7)
    assert (forced["key"], forced["rather"]) == ("car", "Auto")
    assert forced["weight"] > 0.9


def test_from_one_sentence_to_many() -> None:
    bert, translator = (
        pq.read_table(shipped.FOLDER / name / "heads.parquet").to_pylist()
        for name in ("bert-tiny-en", "bart-tiny-en-de")
    )
    back, _on = heads_found.neighbours(records.read("words"))
    words = weights(records.read("words"), "encoder", *back)
    assert facts("corpus", 1)["share"] == pytest.approx(np.diagonal(words, -1).sum() / len(words), abs=1e-4)
    previous = {(row["layer"], row["head"]): row for row in bert if row["measure"] == "previous"}
    found = facts("corpus", 2)
    assert found["mean"] == pytest.approx(previous[back]["mean"])
    half = 1.96 * previous[back]["sd"] / np.sqrt(previous[back]["n"])
    assert (found["low"], found["high"]) == pytest.approx((found["mean"] - half, found["mean"] + half), rel=1e-3)
    assert found["low"] > 5 * found["evenly"]  # "what one sentence suggested holds"
    means = sorted((row["mean"] for row in previous.values()), reverse=True)
    others = facts("corpus", 3)
    assert others["named"] == 2  # "two heads may have learned the same"
    assert others["heads"] == len(means)
    assert (others["mean"], others["next"]) == pytest.approx((max(m for m in means if m != found["mean"]), means[2]))
    assert others["next"] < 0.5 * others["mean"]
    aligners = [row for row in translator if (row["kind"], row["measure"]) == ("cross", "alignment")]
    spread = facts("corpus", 4)
    assert spread["mean"] == pytest.approx(max(row["mean"] for row in aligners))
    assert spread["lowest"] < spread["low"] - 0.3 < spread["high"] + 0.2 < spread["highest"]  # "no"
    odd = facts("corpus", 5)
    assert (odd["text"], odd["target"]) == ("Enjoy your food.", "Lassen Sie sich's schmecken!")  # "a free translation"
    assert odd["value"] == pytest.approx(spread["lowest"])
    assert facts("corpus", 6)["named"] > facts("corpus", 6)["heads"] / 2


def test_is_attention_an_explanation(start: Record) -> None:
    one = judged()
    assert one.row == row_of(start, "cross")  # the row that the page shows first, as its steps name none
    assert one.words == tuple(start.source.labels)  # each word is one token
    best = ribbons(start).head
    looked = facts("why", 1)
    assert (looked["head"], looked["word"], looked["token"]) == (f"L{best.layer}H{best.head}", "buy", "kaufen")
    row = weights(start, "cross", best.layer, best.head)[5]
    assert np.allclose(one.of("best head"), row, atol=1e-5)
    every = np.stack([weights(start, "cross", layer, head)[5] for layer, head in np.ndindex(4, 8)])
    mean = facts("why", 3)
    assert np.allclose(one.of("mean attention"), every.mean(axis=0), atol=1e-5)
    assert mean["agree"] == int((every.argmax(axis=1) == one.words.index(mean["idle"])).sum()) < 16
    assert mean["rest"] == pytest.approx(every[:, [0, 8]].sum(axis=1).mean(), abs=1e-4)
    assert facts("why", 2)["after"] == pytest.approx(one.chance * np.exp(-one.of("leave-one-out")[4]))
    gradient = facts("why", 4)
    assert (gradient["named"], gradient["best"]) == ("want", "buy")
    assert gradient["left"] > 2 * gradient["lower"]  # "need not tell what a missing word does"
    assert facts("why", 5)["after"] < facts("why", 5)["drawn"] / 2
    verdicts = facts("why", 6)
    failed = [name for name, said in zip(one.methods, one.verdicts, strict=True) if said != "better than chance"]
    assert "gradient x input" in failed  # it is asked about in step 4
    assert (verdicts["names"], verdicts["count"]) == (", ".join(failed), len(one.methods))
    assert facts("why", 7)["left"] < 0.5  # the right sentence of the report, and "without “buy”"


@pytest.mark.slow
def test_the_numbers_of_that_lesson_are_those_of_the_model_that_ships() -> None:
    pytest.importorskip("torch")
    from training.judged import made

    saved, now = judged(), made()
    assert (saved.row, saved.methods, saved.words) == (now.row, now.methods, now.words)
    assert np.allclose(saved.values, now.values, rtol=1e-3, atol=1e-4)
    assert (saved.verdicts, saved.removed, saved.drawn) == (now.verdicts, now.removed, now.drawn)
    found = [(one.chance, one.without, one.at_random) for one in (saved, now)]
    assert found[0] == pytest.approx(found[1], rel=1e-3)


def test_when_a_head_finds_its_job() -> None:
    """The numbers of the replay that ships, read with NumPy alone and counted in another way."""
    with zipfile.ZipFile(SHIPPED) as file:
        about = json.loads(file.read("about.json"))
        changes = np.load(io.BytesIO(file.read("curves/cross.npy")))
    curves = np.add.accumulate(changes.astype(int), axis=0) % 256 / 255  # (T, L, H, M, 3)
    names = about["kinds"]["cross"]["measures"]
    aligned = curves[..., names.index("alignment"), 0]  # (T, L, H)
    first, which = facts("born", 1), facts("born", 3)
    assert (first["most"], first["end"]) == (pytest.approx(aligned[0].max()), pytest.approx(aligned[-1].max()))
    order = sorted(np.ndindex(*aligned.shape[1:]), key=lambda head: -aligned[-1][head])
    named = [f"L{layer}H{head}" for layer, head in order]
    assert [which["best"], which["other"]] == named[:2]
    assert aligned[-1][order[-1]] == pytest.approx(which["worst_share"])
    wrote, told = about["examples"][0]["written"], facts("born", 2)
    at = about["steps"].index(told["step"])
    assert [told["word"] in text for text in wrote[: at + 1]] == [False] * at + [True]
    assert told["word"] in wrote[-1]  # "for the first time", and it stays
    assert (told["wrote"], told["before"]) == (wrote[at], wrote[at - 1])
    when, values = facts("born", 4), aligned[(slice(None), *order[0])]
    half = (values[0] + values[-1]) / 2
    upper = int(np.argmax(values > half))  # the moment after which it is on the other side
    assert about["steps"][upper - 1] <= when["step"] <= about["steps"][upper]
    assert (when["before"], when["after"]) == (about["steps"][upper - 1], about["steps"][upper])
    assert when["low"] <= when["step"] <= when["high"]
    order_of, bleu = facts("born", 5), about["curves"]["BLEU"]
    assert order_of["translated"] == min(step for step, value in bleu if 2 * value >= bleu[-1][1])
    assert order_of["aligning"] == sum(point[0] == "cross" and point[3] == "alignment" for point in about["points"])
