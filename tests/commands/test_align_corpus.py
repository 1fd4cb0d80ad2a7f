"""The command ``align`` over a corpus: links that stay parallel to its rows, and the heads that align."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bartviz
from bartviz.analysis import aligners, alignment, gold_alignment
from bartviz.analysis.gold_alignment import BY_HAND, Score
from bartviz.commands.cli import main
from bartviz.corpus import alignments
from bartviz.corpus.alignments import Ranking
from bartviz.corpus.read import Line
from bartviz.record.record import Record

MODEL = "bart-tiny-en-de"
PAIRS = [(source, target, gold) for (source, target), gold in BY_HAND.items()]


@pytest.fixture(scope="module")
def records() -> list[Record]:
    model = bartviz.load(MODEL)
    return [bartviz.capture(model, source, target=target) for source, target, _gold in PAIRS]


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "pairs.tsv"
    rows = [("en", "de", "gold"), *PAIRS, ("", "Nichts.", "0-0")]
    path.write_text("\n".join("\t".join(row) for row in rows) + "\n", encoding="utf-8")
    return str(path)


def asked(table: str, *more: str) -> int:
    return main(["align", table, "--model", MODEL, "--column", "en", "--target", "de", *more])


def test_a_corpus_from_a_pipe(table: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(table, "--heads", "L1H4") == 0
    expected = capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(table).read_bytes())))
    assert asked("-", "--heads", "L1H4") == 0
    assert capsys.readouterr().out == expected


def test_links_are_those_of_each_pair_alone_and_a_bad_row_keeps_its_line(
    table: str, records: list[Record], capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(table, "--heads", "L1H4", "--reading", "reads", "--gold-column", "gold") == 0
    out = capsys.readouterr()
    head = [alignment.heads_of(records[0], 1)[4]]
    links = [alignment.links(alignment.table(record, head, reading="reads").weights) for record in records]
    assert out.out.split("\n") == [*map(gold_alignment.write, links), "", ""]
    assert "line 5: It has no text" in out.err
    known = [
        gold_alignment.read(gold, *map(len, alignment.lines(record)))
        for record, (_source, _target, gold) in zip(records, PAIRS, strict=True)
    ]
    counts = [gold_alignment.score(*pair) for pair in zip(links, known, strict=True)]
    whole = 1 - sum(one.right + one.right_sure for one in counts) / sum(one.found + one.sure for one in counts)
    assert f"error rate {whole:.3f}" in out.err


def test_a_ranking_is_the_mean_of_those_of_each_pair(records: list[Record]) -> None:
    ranking = Ranking()
    for record, (_source, _target, gold) in zip(records, PAIRS, strict=True):
        ranking.add(record, gold_alignment.read(gold, *map(len, alignment.lines(record))))
    each = [aligners.aligners(record) for record in records]
    alone = [one for one in ranking.ordered() if len(one.heads) == 1 or len(one.heads) == 8]
    assert len(alone) == len(each[0])
    for one in alone:
        same = [
            next(a for a in found if a.heads == one.named and a.table.reading == one.reading).agreement
            for found in each
        ]
        assert ranking.agreement[one] / ranking.pairs == pytest.approx(np.mean(same), abs=1e-6)
    rates = [ranking.error_rate(one) or 0.0 for one in ranking.ordered()]
    assert rates == sorted(rates)
    first = ranking.ordered()[0]
    rows = ranking.table()
    assert rows["error rate"][0] == rates[0]
    assert rows["mean error rate"][0] == pytest.approx(np.mean([one.error_rate for one in ranking.counts[first]]))


def test_without_alignments_by_hand_the_reading_is_that_of_where_a_head_looks(records: list[Record]) -> None:
    ranking, judged = Ranking(), Ranking()
    for record, (_source, _target, gold) in zip(records, PAIRS, strict=True):
        ranking.add(record)
        judged.add(record, gold_alignment.read(gold, *map(len, alignment.lines(record))))
    best = ranking.ordered()[0]
    turned = replace(best, reading="reads" if best.reading == "predicts" else "predicts")
    assert (judged.error_rate(best) or 0) < (judged.error_rate(turned) or 0)
    assert ranking.looks(best) == {"reads": "back", "predicts": "ahead"}[best.reading]
    table = ranking.table()
    contradicted = table[(table["looks"] == "back") & (table["named by"] == "predicts")]
    assert len(contradicted)
    assert contradicted.index.min() > table[table["looks"] == "ahead"].index.min()


def test_counts_are_added_over_a_corpus() -> None:
    """By hand: (1 + 2 right of 2 + 2) and (0 of 2 + 1)."""
    whole = sum([Score(2, 2, 2, 1), Score(2, 1, 0, 0)], Score(0, 0, 0, 0))
    assert whole.error_rate == pytest.approx(1 - 3 / 7)
    assert whole.measures() == "precision 0.500, recall 0.333, error rate 0.571"


def test_parallel_files_whose_words_stand_between_spaces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = tmp_path / "text.en", tmp_path / "text.de"
    source.write_text("I want to buy a car .\n\nIt is late .\n", encoding="utf-8")
    target.write_text("Ich möchte ein Auto kaufen .\n\nEs ist spät .\n", encoding="utf-8")
    words = ["align", str(source), "--target-file", str(target), "--model", MODEL, "--split", "spaces", "--json"]
    assert main(words) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["line"] for one in found] == [1, 2, 3]
    assert "links" not in found[1]  # its text is empty
    assert [4, 2] in found[0]["links"]  # a, ein
    assert [5, 3] in found[0]["links"]  # car, Auto
    assert all(i <= 6 and j <= 5 for i, j in found[0]["links"])
    target.write_text("Ich möchte ein Auto kaufen .\n", encoding="utf-8")
    assert main(words) == 2
    assert "text.en has 3 lines, text.de has 1 lines" in capsys.readouterr().err


def test_words_between_spaces_have_all_tokens_that_begin_in_them() -> None:
    record = bartviz.capture(bartviz.load(MODEL), "a  don't, \u200b x", target="Nein !")
    source, target = alignment.lines(record, "spaces")
    assert source.labels == tuple(record.source_text.split())
    assert target.labels == ("Nein", "!")
    cross = alignment.cross_of(record)
    for line, tokens, text in ((source, cross.key, record.source_text), (target, record.output, record.target_text)):
        assert tokens is not None
        assert text is not None
        starts = np.cumsum([0, *[len(word) for word in line.labels]])
        for number, group in enumerate(line.groups):  # the same place, counted in letters without spaces
            for token in group:
                span = tokens.spans[token]
                assert span is not None
                before = len("".join(text[: span[1]].split()))
                assert starts[number] < before <= starts[number + 1]
    links = alignment.links(alignment.table(record, alignment.heads_of(record, 1), split="spaces").weights)
    assert all(i < len(source) and j < len(target) for i, j in links)


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        ("marian", ["transformer-guided-alignment-layer: "]),
        ("ctranslate2", ["alignment_layer: ", "alignment_heads: "]),
        ("transformers", ['{"alignment_heads": [[']),
        ("transformerlens", ["decoder."]),
    ],
)
def test_the_best_heads_as_other_tools_are_told(
    form: str, lines: list[str], table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(table, "--rank", "--gold-column", "gold", "--format", form) == 0
    written = capsys.readouterr().out.splitlines()
    for begin, line in zip(lines, written, strict=False):
        assert line.startswith(begin)
    assert asked(table, "--rank", "--gold-column", "gold", "--json") == 0
    ranking = pd.DataFrame(json.loads(capsys.readouterr().out)["ranking"])
    ahead = ranking[ranking["named by"] == "predicts"]["heads"]
    if form == "marian":  # the best first head of a layer
        best = next(name for name in ahead if name.endswith("H0"))
        assert written == [f"transformer-guided-alignment-layer: {int(best[1:-2]) + 1}"]
    if form == "ctranslate2":
        best = next(name for name in ahead if name.endswith("H0") or "heads 0 to" in name)
        count = int(best.split()[-1]) + 1 if "heads" in best else 1
        assert written[1] == f"alignment_heads: {count}"
    if form == "transformers":
        best = next(name for name in ahead if name.startswith("L"))
        assert json.loads(written[0])["alignment_heads"][0] == [int(part) for part in best[1:].split("H")]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model", "bert-tiny-en"], "choose an encoder-decoder model"),
        (["--format", "marian"], "--format belongs to a corpus"),
        (["--model", MODEL, "--format", "marian"], "add --rank"),
        (["--model", MODEL, "--sample", "0"], "--sample is at least 1"),
        (["--model", MODEL, "--gold", "gold.txt"], "--gold-column"),
        (["--model", MODEL, "--target-file", "x.de", "--column", "en"], "leave out --column"),
    ],
)
def test_what_does_not_fit_is_refused(
    words: list[str], said: str, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["align", table, *words]) == 2
    assert said in capsys.readouterr().err


def test_a_text_that_the_model_cannot_read_is_named_and_the_others_are_read() -> None:
    model = bartviz.load(MODEL)
    rows = [Line(0, "f", 1, "A dog.", target="Ein Hund."), Line(1, "f", 2, "word " * 500, target="Wort.")]
    first, second = alignments.records(model, rows)
    assert isinstance(first, tuple)
    assert first[1].target_text == "Ein Hund."
    assert not isinstance(second, tuple)
    assert second.number == 1
