"""Heads that follow a pattern by construction are found, replicated and nobody else is; random networks have few."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bartviz
from bartviz.analysis import head_names
from bartviz.analysis.verdicts import adjusted
from bartviz.corpus import pattern_shares
from bartviz.corpus.found_heads import FoundHeads
from bartviz.corpus.pattern_shares import ABOVE, SHARE, SHUFFLED, Weighing
from bartviz.corpus.read import Line
from bartviz.corpus.run import of_lines
from bartviz.corpus.workers import Progress, Report
from bartviz.errors import PatternError, SettingError, TextError
from bartviz.models.model import Model
from bartviz.patterns.named import NAMED
from bartviz.record.attention import Kind
from bartviz.record.record import Record
from benchmarks.corpus import lines
from tests.corpus import planted_heads
from tests.support import loaded


@pytest.mark.some("0", "1", "2")
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(planted_heads.NETWORKS))
def test_every_planted_head_is_found_and_no_other(seed: int) -> None:
    for name, wanted, found in planted_heads.of_planted(seed):
        assert found == wanted, name


@pytest.mark.some("0", "1")
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(planted_heads.NETWORKS))
def test_no_random_head_is_found(seed: int) -> None:
    assert not [(name, found) for name, found in planted_heads.of_random(seed) if found]


def test_what_is_measured_is_what_one_adds_up_by_hand() -> None:
    marks = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], np.bool_)  # the next token, and from the last the first
    visible = np.ones((3, 3), np.bool_)
    weighing = Weighing.of(marks, visible)
    weights = np.array([[0.1, 0.8, 0.1], [0.2, 0.3, 0.5], [0.6, 0.2, 0.2]], np.float32)
    found = (weighing.factors * weights).sum(axis=(1, 2))
    share = (0.8 + 0.5 + 0.6) / 3
    shuffled = ((0.1 + 0.1) / 2 + (0.3 + 0.2) / 2 + (0.2 + 0.2) / 2) / 3  # each row with the marks of the two others
    assert found.tolist() == pytest.approx([share, shuffled, share - shuffled])
    assert weighing.even == pytest.approx(1 / 3)


def test_rows_that_have_no_choice_do_not_count() -> None:
    marks = np.array([[1, 0, 0], [1, 0, 0], [0, 0, 0]], np.bool_)  # to the first token
    weighing = Weighing.of(marks, np.tril(np.ones((3, 3), np.bool_)))
    assert weighing.rows.tolist() == [False, True, False]
    assert weighing.even == 0.5
    weights = np.array([[1, 0, 0], [0.7, 0.3, 0], [0, 0, 1]], np.float32)
    assert (weighing.factors[SHARE] * weights).sum() == pytest.approx(0.7)
    assert np.isnan(weighing.factors[[SHUFFLED, ABOVE]]).all()  # no other row has other marks


def sentences() -> list[tuple[str, str]]:
    words = ["we", "buy", "a", "red", "car", "and", "the", "cat", "sleeps", "in", "this", "old", "house", "garden"]
    generator = np.random.default_rng(0)
    pairs = [" ".join(generator.permutation(words)[: generator.integers(4, 9)]) for _ in range(24)]
    return [(text, f"Wir sehen {number}") for number, text in enumerate(pairs)]


@pytest.fixture(scope="module")
def model() -> Model:
    return loaded.model("bart")


@pytest.fixture(scope="module")
def table(model: Model) -> FoundHeads:
    return bartviz.find_heads(model, sentences(), "from word to same position", least=0)


def row_of(found: FoundHeads, kind: str, layer: int, head: int) -> pd.Series[float]:
    whole = found.table
    return whole[(whole["kind"] == kind) & (whole["layer"] == layer) & (whole["head"] == head)].iloc[0]


def test_the_numbers_are_those_of_records(model: Model, table: FoundHeads) -> None:
    """Against the weights of single captures, one text after the other."""
    for kind in ("encoder", "cross"):
        shares = []
        for text, target in sentences():
            record = bartviz.capture(model, text, target=target)
            marks = bartviz.pattern_mask(record, kind, "from word to same position")
            rows = (marks.sum(axis=1) > 0) & (marks.sum(axis=1) < record.attention(kind).mask.sum(axis=1))
            weights = record.attention(kind).layer(1)  # (H, Q, K)
            shares.append((weights * marks).sum(axis=-1)[:, rows].mean(axis=-1))
        mine = np.mean(shares, axis=0)
        for head, share in enumerate(mine):
            row = row_of(table, kind, 1, head)
            both = (row["n"] * row["share"] + row["held_out_n"] * row["held_out_share"]) / len(shares)
            assert both == pytest.approx(share, abs=2e-6)


def test_a_function_finds_what_its_pattern_finds(model: Model, table: FoundHeads) -> None:
    def same_position(record: Record, kind: Kind) -> np.ndarray:
        return bartviz.pattern_mask(record, kind, "from word to same position")

    again = bartviz.find_heads(model, sentences(), same_position, least=0)
    assert again.pattern == "function same_position"
    numbers = table.table.columns[3:]
    assert np.allclose(
        again.table[numbers].astype(float), table.table[numbers].astype(float), atol=1e-5, equal_nan=True
    )


@pytest.mark.parametrize("name", ["previous", "first", "diagonal", "punctuation"])
def test_a_role_is_measured_as_an_atlas_measures_it(model: Model, name: str) -> None:
    texts = [(f"{text}, {text[:5]}.", target) for text, target in sentences()]
    lines = [Line(number, "texts", number + 1, text, None, target) for number, (text, target) in enumerate(texts)]
    atlas = of_lines(model, lines, "mine").heads
    rows = atlas[atlas["measure"] == name].to_dict("records")
    known = {(row["kind"], row["layer"], row["head"]): (row["n"], row["mean"]) for row in rows}
    found = bartviz.find_heads(model, texts, name, least=0)
    assert found.pattern == NAMED[name]
    tried = [row for row in found.rows() if row["n"]]
    assert len(tried) >= len(found.table) / 3  # not all kinds have a full stop
    for row in tried:
        both = np.average([row["share"], row["held_out_share"]], weights=[row["n"], row["held_out_n"]])
        wanted = row["n"] + row["held_out_n"], pytest.approx(both, abs=2e-6)
        assert known[row["kind"], row["layer"], row["head"]] == wanted


PATTERNS = {"place": "from word to same position", "before": "from any to previous token"}


def test_several_patterns_are_tested_in_one_pass(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each number is that of a run of its own, but the rate of false discoveries, which is over all of them."""
    passes: list[object] = []
    measured = pattern_shares.shares

    def counted(*given: Any) -> dict[pattern_shares.Slot, pattern_shares.Shares]:
        passes.append(given)
        return measured(*given)

    monkeypatch.setattr(pattern_shares, "shares", counted)
    alone = {name: bartviz.find_heads(model, sentences(), pattern, least=0) for name, pattern in PATTERNS.items()}
    each = len(passes) // 2
    passes.clear()
    both = bartviz.find_heads(model, sentences(), PATTERNS, least=0)
    assert len(passes) == each > 0
    assert both.patterns == PATTERNS
    cell, moved = ["kind", "layer", "head"], ["q", "held_out_q", "found", "replicated"]
    for name, single in alone.items():
        one, part = (
            table.sort_values(cell).drop(columns=moved).reset_index(drop=True)
            for table in (single.table, both.table[both.table["pattern"] == name].drop(columns="pattern"))
        )
        pd.testing.assert_frame_equal(part, one, atol=1e-6)
    assert both.table["pattern"].drop_duplicates().tolist() == list(PATTERNS)
    for half in ("", "held_out_"):
        assert np.allclose(both.table[f"{half}q"], adjusted(both.table[f"{half}p"].to_numpy()), equal_nan=True)
    tried = sum(len(single.table) for single in alone.values())
    assert f"{len(both.found)} of {tried} heads of {model.info.name} for 2 patterns" in repr(both)
    listed = bartviz.find_heads(model, sentences(), list(PATTERNS.values()), least=0)
    assert listed.patterns == {pattern: pattern for pattern in PATTERNS.values()}
    assert np.allclose(listed.table["share"], both.table["share"], equal_nan=True)


def test_heads_of_several_patterns_are_silenced_where_each_applies(lenient: None, model: Model) -> None:
    texts = sentences()[:8]
    given: dict[str, Any] = {"silence": True, "least": 0, "rate": 0.9}
    both = bartviz.find_heads(model, texts, PATTERNS, **given).table
    cell = ["kind", "layer", "head"]
    for name, pattern in PATTERNS.items():
        single = bartviz.find_heads(model, texts, pattern, **given).table.set_index(cell)
        mine = both[both["pattern"] == name].set_index(cell)
        shared = mine.index[mine["found"]].intersection(single.index[single["found"]])
        assert len(shared)
        for column in ("effect", "elsewhere", "effect_rows", "apart_p"):
            assert np.allclose(mine.loc[shared, column], single.loc[shared, column], atol=1e-6, equal_nan=True)


def test_patterns_have_one_name_each(model: Model) -> None:
    with pytest.raises(SettingError, match="1 to 32 patterns, and these are 0"):
        bartviz.find_heads(model, sentences(), [])
    with pytest.raises(SettingError, match="Two patterns have the name 'from any to first'"):
        bartviz.find_heads(model, sentences(), ["from any to first"] * 2)
    with pytest.raises(SettingError, match="'from any to its head' has a meaning for"):
        bartviz.find_heads(model, [("a", "b")], ["from any to first", "from any to its head"], kinds=["decoder"])


def test_repeated_texts_count_once(model: Model, table: FoundHeads) -> None:
    twice = bartviz.find_heads(model, [*sentences(), *sentences()], "from word to same position", least=0)
    assert (twice.texts, twice.repeated) == (24, 24)
    assert (table.texts, table.repeated) == (24, 0)
    assert twice.table["share"].tolist() == pytest.approx(table.table["share"].tolist(), abs=1e-6)


def test_the_seed_draws_the_halves(model: Model, table: FoundHeads) -> None:
    other = bartviz.find_heads(model, sentences(), "from word to same position", seed=1, least=0)
    row, again = (row_of(one, "encoder", 0, 0) for one in (table, other))
    assert row["n"] + row["held_out_n"] == again["n"] + again["held_out_n"]
    assert row["share"] != again["share"]


DOG = """# text = The dog sees a cat.
1\tThe\t_\tDET\t_\t_\t2\tdet\t_\t_
2\tdog\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_
3\tsees\t_\tVERB\t_\t_\t0\troot\t_\t_
4\ta\t_\tDET\t_\t_\t5\tdet\t_\t_
5\tcat\t_\tNOUN\t_\t_\t3\tobj\t_\tSpaceAfter=No
6\t.\t_\tPUNCT\t_\t_\t3\tpunct\t_\t_

"""


@pytest.mark.parametrize("seed", range(4))
def test_a_single_text_leaves_a_half_empty_and_finds_nothing(model: Model, seed: int) -> None:
    """One of these seeds at least draws the text into the half that is held out, one into the other."""
    table = bartviz.find_heads(model, [("we buy a car", "Wir sehen")], "from any to first", seed=seed).table
    assert not table["found"].any()
    assert {int(table["n"].iloc[0]), int(table["held_out_n"].iloc[0])} == {0, 1}


def test_trees_and_parts_of_speech_of_a_corpus(tmp_path: Path) -> None:
    file = tmp_path / "dogs.conllu"
    words = ("pig", "ant", "fox", "hen", "cow", "rat")
    file.write_text("".join(DOG.replace("dog", one).replace("cat", two) for one in words for two in words), "utf-8")
    bert = loaded.model("bert")
    found = bartviz.find_heads(bert, file, "from verb to its nsubj")
    one = bartviz.capture(bert, "The dog sees a cat.")
    assert found.texts == 36
    assert found.corpus["name"] == "dogs.conllu"
    assert len(found.table) == one.attention("encoder").shape[0] * one.attention("encoder").shape[1]
    with pytest.raises(SettingError, match="has no column 'pos': choose upos, xpos or lemma"):
        bartviz.find_heads(bert, file, 'from pos="V" to any')
    with pytest.raises(TextError, match="applies in none of the texts"):
        bartviz.find_heads(bert, file, "from verb to its vocative")


def test_what_cannot_be_tried_is_refused(model: Model) -> None:
    with pytest.raises(PatternError):
        bartviz.find_heads(model, ["a"], "from any")
    with pytest.raises(SettingError, match="alignments by hand"):
        bartviz.find_heads(model, [("a", "b")], "from word to link")
    with pytest.raises(SettingError, match="has no column pos"):
        bartviz.find_heads(model, [("a", "b")], 'from pos="V" to any')
    with pytest.raises(SettingError, match="encoder attention of this model alone"):
        bartviz.find_heads(model, [("a", "b")], "from any to its head", kinds=["decoder"])
    with pytest.raises(SettingError, match="Text 1 is not a string"):
        bartviz.find_heads(model, ["a", 5], "from any to first")  # type: ignore[list-item]
    with pytest.raises(TextError, match="no file at that path"):
        bartviz.find_heads(model, "nowhere.txt", "from any to first")
    with pytest.raises(SettingError, match="rate"):
        bartviz.find_heads(model, ["a"], "from any to first", rate=0)


class Stop(Exception):
    pass


@pytest.fixture
def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A head of a random network passes if it has more weight on a pattern than even attention."""
    monkeypatch.setattr(head_names, "MARGIN", 0.01)


def numbers(found: FoundHeads) -> np.ndarray:
    return found.table.drop(columns=["kind"]).to_numpy(np.float64)


def test_a_run_that_was_stopped_goes_on_and_gives_the_same_numbers(lenient: None, model: Model, tmp_path: Path) -> None:
    seen: list[Progress] = []

    def stop(progress: Progress) -> None:
        raise Stop

    def ask(parts: Path | None, report: Report, texts: list[tuple[str, str]]) -> FoundHeads:
        return bartviz.find_heads(
            model,
            texts,
            "from word to same position",
            least=0,
            rate=0.9,
            silence=True,
            parts=parts,
            size=8,
            report=report,
        )

    parts, whole = tmp_path / "parts", [*sentences(), *sentences()[:4]]
    for _ in range(2):
        with pytest.raises(Stop):
            ask(parts, stop, whole)
    assert len(list(parts.glob("shards/*.shard"))) == 2
    found = ask(parts, seen.append, whole)
    assert [(one.rows, one.fresh) for one in seen[:2]] == [(24, 8), (28, 12)]
    assert [one.rows for one in seen[2:]] == [8, 16, 24, 28]  # once more, with heads silenced
    assert found.table["effect"].notna().sum() == found.table["found"].sum() > 0
    assert (found.texts, found.repeated) == (24, 4)
    seen.clear()
    again = ask(parts, seen.append, whole)
    assert seen == []
    at_once = ask(None, seen.append, whole)
    assert np.array_equal(numbers(found), numbers(again), equal_nan=True)
    assert np.array_equal(numbers(found), numbers(at_once), equal_nan=True)
    with pytest.raises(SettingError, match="another run: its corpus differ"):
        ask(parts, seen.append, whole[:9])
    shard = next(parts.glob("shards/*.shard"))
    shard.write_bytes(shard.read_bytes()[:-1] + b"?")
    with pytest.raises(SettingError, match="damaged"):
        ask(parts, seen.append, whole)


def test_effects_are_of_the_texts_where_the_pattern_applies(lenient: None, model: Model) -> None:
    texts = [("we buy a red car", "Wir sehen 5"), ("the cat sleeps", "Wir sehen die Katze")] * 3
    texts = [(text, f"{target} {number}") for number, (text, target) in enumerate(texts)]
    found = bartviz.find_heads(
        model, texts, 'from any to "car"', kinds=["encoder", "cross"], silence=True, least=0, rate=0.9
    )
    assert found.outcome == "the output"
    for row in found.found.to_dict("records"):
        assert row["effect_n"] == 3
        assert row["elsewhere_n"] == 3  # where every row looks for the car there is no row elsewhere
        assert row["elsewhere_rows"] > 3
        assert row["effect_low"] <= row["effect"] <= row["effect_high"]
        assert 0 <= row["apart_p"] <= 1 or np.isnan(row["apart_p"])
    assert len(found.found)


def test_what_several_workers_cannot_do_is_refused(model: Model, tmp_path: Path) -> None:
    texts = ["a car", "a cat"]
    with pytest.raises(SettingError, match="Several workers each load the model"):
        bartviz.find_heads(model, texts, "from any to first", workers=2)
    with pytest.raises(SettingError, match="known in this process alone"):
        bartviz.find_heads(model, texts, lambda record, kind: np.ones((1, 1)), parts=tmp_path)
    with pytest.raises(SettingError, match="at least 1"):
        bartviz.find_heads(model, texts, "from any to first", workers=0)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["from any to special", "from any to first token", "from any to next token"])
def test_two_halves_of_a_corpus_name_the_same_heads(pattern: str) -> None:
    """As with sentences (docs/patterns.md), here with texts of random words."""
    translator = bartviz.load("bart-tiny-en-de")
    pairs = [(line.text, str(line.target)) for line in lines(translator, 1_200)]
    one, other = (set(bartviz.find_heads(translator, half, pattern).replicated) for half in (pairs[::2], pairs[1::2]))
    assert one
    assert len(one & other) >= 0.9 * len(one | other)
