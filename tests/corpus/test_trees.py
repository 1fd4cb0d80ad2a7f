"""Trees of words: read from CoNLL-U, and followed by heads as one counts by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import bartviz
from bartviz.corpus.conllu import placed, sentences, word_tokens
from bartviz.corpus.read import Bad, Columns, Line, lines
from bartviz.corpus.run import corpus, of_lines
from bartviz.corpus.trees import Arcs
from bartviz.errors import SettingError, TextError
from tests.support import loaded


def block(text: str | None, *words: tuple[str, str, str, str]) -> str:
    rows = ["\t".join((number, form, *"____", head, relation, *"__")) for number, form, head, relation in words]
    return "\n".join([*([] if text is None else [f"# text = {text}"]), *rows, "", ""])


DOG = block(
    "The dog sees a cat.",
    ("1", "The", "2", "det"),
    ("2", "dog", "3", "nsubj"),
    ("3", "sees", "0", "root"),
    ("4", "a", "5", "det"),
    ("5", "cat", "3", "obj"),
    ("6", ".", "3", "punct"),
)
IM = block(
    "Im Haus  ist es.",
    ("1-2", "Im", "_", "_"),
    ("1", "In", "3", "case"),
    ("2", "dem", "3", "det:def"),
    ("3", "Haus", "4", "obl"),
    ("4", "ist", "0", "root"),
    ("4.1", "da", "_", "_"),
    ("5", "es", "4", "nsubj"),
    ("6", ".", "4", "punct"),
)
RUNS = block(None, ("1", "Time", "2", "nsubj"), ("2", "flies", "0", "root"))


def read(tmp_path: Path, *blocks: str) -> list[Line | Bad]:
    file = tmp_path / "trees.conllu"
    file.write_text("".join(blocks), "utf-8", "surrogateescape")
    return list(lines(file))


def test_sentences_are_read_with_their_words_where_they_stand(tmp_path: Path) -> None:
    dog, house, runs = read(tmp_path, DOG, IM, RUNS)
    assert isinstance(dog, Line)
    assert isinstance(house, Line)
    assert isinstance(runs, Line)
    assert (dog.text, house.text, runs.text) == ("The dog sees a cat.", "Im Haus  ist es.", "Time flies")
    assert (dog.line, house.line, runs.line) == (1, 9, 19)
    assert dog.tree is not None
    assert dog.tree[:3] == ((0, 3, 1, "det"), (4, 7, 2, "nsubj"), (8, 12, -1, "root"))
    assert house.tree is not None
    assert house.tree[:3] == ((0, 2, 2, "case"), (0, 2, 2, "det"), (3, 7, 3, "obl"))  # both words of "Im"
    assert runs.tree == ((0, 4, 1, "nsubj"), (5, 10, -1, "root"))


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("1 The 2 det\n\n", "ten fields"),
        (DOG.replace("1\tThe", "one\tThe"), "numbers the words"),
        (DOG.replace("\t2\tdet", "\t9\tdet"), "not in the sentence"),
        (DOG.replace("\tdog\t", "\thound\t"), "not those of its text"),
        (DOG.replace("\tdog\t", "\tsees\t"), "not those of its text"),
        (block("", ("1-2", "Im", "_", "_"), ("1", "In", "0", "root")), "words of a range"),
        (block("", ("1", "", "0", "root")), "more words than letters"),
        (block("x"), "no words"),  # a comment alone
        (DOG.replace("1\tThe", "²\tThe"), "numbers the words"),
        (DOG.replace("1\tThe", "3-1\tThe"), "numbers the words"),
        (DOG.replace("1\tThe", "1-99999999999\tThe"), "numbers the words"),
        (DOG.replace("nsubj", "ns\x1fubj"), "ten fields"),
        (DOG.replace("# text = The", "# text = \udcff The"), "not UTF-8"),
    ],
)
def test_a_sentence_that_cannot_be_used_is_listed_and_the_next_is_read(rows: str, reason: str, tmp_path: Path) -> None:
    bad, good = read(tmp_path, rows, RUNS)
    assert isinstance(bad, Bad)
    assert reason in bad.reason
    assert isinstance(good, Line)


def test_arcs_are_followed_as_one_counts_by_hand() -> None:
    tree = placed("a b c", "a\x1f0\x1f1\x1fdet\nb\x1f0\x1f-1\x1froot\nc\x1f0\x1f1\x1fobj")
    members = np.array([[0, 1, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 1]], bool)  # [CLS] a b1 b2 c
    arcs = Arcs.of([(tree, members)], 5)
    assert arcs.counted.tolist() == [[True, False, True]]
    weights = torch.tensor(
        [
            [1, 0, 0, 0, 0],
            [0.5, 0.1, 0.15, 0.15, 0.1],  # a: b with 0.30 in all
            [0, 0.6, 0.2, 0.2, 0],
            [0, 0.1, 0.2, 0.2, 0.5],  # b: a with (0.6 + 0.1) / 2, c with (0 + 0.5) / 2
            [0.2, 0.5, 0.1, 0.1, 0.1],  # c: a
        ]
    )[None, None]
    followed = arcs.followed(weights)[0, :, 0]
    assert followed.tolist() == [[True, False, False], [True, False, False]]
    assert arcs.even().tolist() == [0.5]


@pytest.mark.parametrize("family", ["bert", "bart", "gpt2"])
def test_an_atlas_of_trees_has_the_shares_of_its_records(family: str, tmp_path: Path) -> None:
    model = loaded.model(family)
    rows = [row for row in read(tmp_path, DOG, RUNS, DOG.replace("The", "THE")) if isinstance(row, Line)]
    kind = "decoder" if family == "gpt2" else "encoder"
    given = [replace(row, target="ein Hund" if family == "bart" else None) for row in rows]
    atlas = of_lines(model, given, "trees")
    found = atlas.relations
    hits: dict[tuple[int, int, str], list[tuple[bool, bool]]] = {}
    for row in given:
        record = bartviz.capture(model, row.text, target=row.target)
        attention = record.attention(kind)
        assert row.tree is not None
        tokens = [np.flatnonzero(mask) for mask in word_tokens(row.tree, record.source)]
        for layer, head in np.ndindex(attention.shape[:2]):
            weights = attention.head(layer, head)
            between = np.array([[weights[np.ix_(a, b)].sum(axis=1).mean() for b in tokens] for a in tokens])
            np.fill_diagonal(between, -1)
            best = [int(line.argmax()) if line.max() > 0 else -1 for line in between]
            for word, (_start, _stop, above, name) in enumerate(row.tree):
                if above >= 0 and name != "punct":
                    hits.setdefault((layer, head, name), []).append((best[word] == above, best[above] == word))
    assert set(found["relation"]) == {"det", "nsubj", "obj"}
    for line in found.to_dict("records"):
        right = hits[line["layer"], line["head"], line["relation"]]
        assert (line["kind"], line["arcs"]) == (kind, len(right))
        assert (line["to_head"], line["to_dependent"]) == tuple(np.mean(right, axis=0))
        assert line["one_distance"] == 1  # "det" and "nsubj" go one word ahead, "obj" two back
    heads = atlas.heads[(atlas.heads["kind"] == kind) & (atlas.heads["measure"] == "to_head")]
    assert (heads["n"] == 3).all()
    if kind == "encoder":
        assert heads["even"].iloc[0] == pytest.approx((1 / 5 + 1 + 1 / 5) / 3)


@pytest.mark.thorough
def test_a_run_in_parts_by_two_workers_adds_up_to_the_same(tmp_path: Path) -> None:
    file = tmp_path / "trees.conllu"
    file.write_text(DOG + RUNS + IM + "1\tbroken\n\n" + DOG, "utf-8")
    whole = corpus(file, "bert-tiny-en", tmp_path / "whole")
    parts = corpus(file, "bert-tiny-en", tmp_path / "parts", size=1, workers=2)
    pd.testing.assert_frame_equal(bartviz.open_atlas(parts.path).relations, whole.relations)
    counts = {"case": 1, "det": 5, "nsubj": 4, "obj": 2, "obl": 1}
    assert whole.relations.groupby("relation")["arcs"].first().to_dict() == counts
    subjects = whole.relations[whole.relations["relation"] == "nsubj"]
    assert (subjects["one_distance"] == 3 / 4).all()  # "es" stands behind its verb
    assert (whole.description["texts"], whole.description["left_out"]) == (4, 1)


def test_a_corpus_without_trees_has_no_relations_and_a_tree_no_columns(tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("It is late.\n", "utf-8")
    made = corpus(tmp_path / "texts.txt", "bert-tiny-en", tmp_path / "atlas")
    assert made.relations.empty
    assert made.heads[made.heads["measure"] == "to_head"]["mean"].isna().all()
    (tmp_path / "trees.conllu").write_text(DOG, "utf-8")
    with pytest.raises(SettingError, match="no columns"):
        list(lines(tmp_path / "trees.conllu", Columns("text")))
    with pytest.raises(TextError, match="not those of its text"):
        placed("Other words.", next(sentences(DOG.splitlines()))[1]["tree"])  # type: ignore[index]
