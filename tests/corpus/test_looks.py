"""What heads look at, and how far: by hand, as plain loops over records find it, and however a corpus is divided."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from pandas.testing import assert_frame_equal

import bartviz
from bartviz.analysis.ratios import of_ratios
from bartviz.corpus import atlas, look_tables, run, work
from bartviz.corpus.atlas import Atlas
from bartviz.corpus.batch_looks import BatchLooks, TokenNames
from bartviz.corpus.encode import Padded, Side, encode
from bartviz.corpus.looks import BINS, LOOKS, Looks, Types, bins_of
from bartviz.corpus.measure import measure
from bartviz.corpus.read import Line
from bartviz.corpus.run_folder import Shard, jobs
from bartviz.errors import SettingError
from bartviz.record.attention import KINDS, Head, Kind
from bartviz.record.record import Record
from tests.support import loaded

ONES = ("cat", "dog", "mat", "man")
SOURCES = [f"the {one} sat, and the {two} saw it" for one in ONES for two in ONES]
SOURCES += [f"a {one} sat on the {two}. the {two} ran" for one in ONES for two in ONES]
TARGETS = [f"{source.split()[1]} it" for source in SOURCES]


def lines(model: Any) -> list[Line]:
    both = model.info.kind == "encoder-decoder"
    rows = zip(SOURCES, TARGETS, strict=True)
    return [
        Line(at, "mine", at + 1, source, None, target if both else None) for at, (source, target) in enumerate(rows)
    ]


@pytest.fixture(scope="module")
def bert() -> Atlas:
    model = loaded.model("bert")
    return run.of_lines(model, lines(model), "mine")


def side(ids: Sequence[int], special: Sequence[int], groups: Sequence[int]) -> Side:
    nothing = np.zeros(len(ids), np.int64)
    of = {"ids": ids, "special": special, "groups": groups}
    names = ("ids", "segments", "special", "punctuation", "groups", "words", "codes")
    return Side(*(np.array(of.get(name, nothing), np.int64) for name in names))


def test_three_tokens_and_one_head_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """<s> a b, where b continues the word of a; the row of <s> does not count."""
    names = TokenNames(loaded.model("bert"))
    monkeypatch.setattr(names, "_code", lambda number: number)
    monkeypatch.setattr(names, "blank", lambda ids: np.zeros(ids.shape, np.bool_))
    names.names = ["<s>", "", "a", "⋯a", "b", "⋯b"]
    tokens = Padded.of([side([0, 1, 2], [1, 0, 0], [0, 1, 1])], 0, torch.device("cpu"))
    mask = torch.ones(1, 3, 3, dtype=torch.bool)
    counts = torch.tensor([[False, True, True]])
    batch = BatchLooks("encoder", names, tokens, tokens, mask, counts)
    weights = torch.tensor([[[[1.0, 0.0, 0.0], [0.5, 0.2, 0.3], [0.1, 0.6, 0.3]]]])
    batch.layer(weights, weights @ batch.sinks[0])
    looks = batch.sums()
    assert looks.rows.tolist() == [1, 2, 4]
    # the row of a gives 0.2 to itself and 0.3 to b, one on; that of b gives 0.6 to a, one back, and 0.3 to itself
    by_bin = {-1: 0.6, 0: 0.5, 1: 0.3}
    expected = [sum(share for at, share in by_bin.items() if low <= at <= high) for low, high in BINS]
    np.testing.assert_allclose(looks.distances[0, 0], expected, atol=1e-6)
    np.testing.assert_allclose(looks.even[bins_of(np.array([-1, 0, 1]))], [1 / 3, 2 / 3, 1 / 3], atol=1e-6)
    np.testing.assert_allclose(looks.given, [0.3 + 0.6], atol=1e-6)
    keys, queries = looks.types["key"], looks.types["query"]
    assert keys.tokens.tolist() == ["<s>", "a", "⋯b"]
    np.testing.assert_allclose(keys.sums[0, :, 0], [0.6, 0.8, 0.6], atol=1e-6)
    np.testing.assert_allclose(keys.sums[1, :, 0], [0.36, 0.64, 0.36], atol=1e-6)
    np.testing.assert_allclose(keys.base, [[2 / 3] * 3, [4 / 9] * 3], atol=1e-6)
    np.testing.assert_allclose(keys.sums[2, :, 0], np.array([0.6, 0.8, 0.6]) * 2 / 3, atol=1e-6)
    assert keys.counts.tolist() == [[1, 1, 1, 1], [1, 0, 0, 1], [1, 0, 0, 1]]
    assert queries.tokens.tolist() == ["a", "⋯b"]
    np.testing.assert_allclose(queries.sums[0, :, 0], [0.3, 0.6], atol=1e-6)
    assert queries.base.tolist() == [[1, 1], [1, 1]]


def test_distances_have_one_bin_each() -> None:
    distances = np.arange(-300, 301)
    bins = BINS[bins_of(distances)]
    assert ((bins[:, 0] <= distances) & (distances <= bins[:, 1])).all()
    assert (BINS[1:, 0] == BINS[:-1, 1] + 1).all()
    assert (-BINS[::-1, ::-1] == BINS).all()


def record(model: Any, line: Line) -> Record:
    return bartviz.capture(model, line.text, target=line.target)


def rows_of(table: pd.DataFrame, kind: Kind) -> list[dict[Any, Any]]:
    return table[table["kind"] == kind].to_dict("records")


def by_loops(model: Any, kind: Kind) -> dict[str, Any]:
    """The same sums as plain loops over the records' weights, each text, head, row and key in turn."""
    x: dict[str, Any] = {side: defaultdict(lambda: defaultdict(float)) for side in ("key", "query")}
    y: dict[str, Any] = {side: defaultdict(lambda: defaultdict(float)) for side in ("key", "query")}
    number, rows = Counter[tuple[str, str]](), list[int]()
    far: dict[Any, float] = defaultdict(float)
    even: dict[float, float] = defaultdict(float)
    given: dict[Head, float] = defaultdict(float)
    for text, line in enumerate(lines(model)):
        made = record(model, line)
        attention, query = made.attention(kind), made.rows(kind)
        key, own = attention.key, kind != "cross"
        first = [int(np.argmin(one.special)) for one in (query, key)]
        kept = [at for at in range(len(query)) if not query.special[at] and attention.mask[at].sum() > 1]
        rows.append(len(kept))
        for at in kept:
            seen = attention.mask[at].sum()
            y["query"][query.labels[at]][text] += 1
            number["query", query.labels[at]] += 1
            for to in np.flatnonzero(attention.mask[at]).tolist():
                y["key"][key.labels[to]][text] += 1 / seen
                distance = to - at if own else (to - first[1]) - (at - first[0])
                if not key.special[to]:
                    even[float(BINS[bins_of(np.array(distance)), 0])] += 1 / seen
        for to in {int(to) for at in kept for to in np.flatnonzero(attention.mask[at])}:
            number["key", key.labels[to]] += 1
        for layer, head in np.ndindex(attention.shape[:2]):
            weights, name = attention.head(layer, head), Head(kind, layer, head)
            for at in kept:
                for to in np.flatnonzero(attention.mask[at]).tolist():
                    weight = float(weights[at, to])
                    x["key"][name, key.labels[to]][text] += weight
                    distance = to - at if own else (to - first[1]) - (at - first[0])
                    if key.special[to]:
                        far[name, "special"] += weight
                    else:
                        far[name, float(BINS[bins_of(np.array(distance)), 0])] += weight
                    looks = not key.special[to] and not (own and to == at) and not (kind == "decoder" and to == 0)
                    x["query"][name, query.labels[at]][text] += weight * looks
                    given[name] += weight * looks
    return {"x": x, "y": y, "n": number, "far": far, "even": even, "rows": rows, "given": given}


@pytest.mark.some("bart", "gpt2")  # an encoder by itself is read as that of a BART
@pytest.mark.parametrize("family", ["bert", "bart", "gpt2", "marian"])
def test_an_atlas_has_what_loops_over_its_records_find(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_tables, "LEAST_TEXTS", 3)
    model = loaded.model(family)
    made = run.of_lines(model, lines(model), "mine", size=10)
    assert set(made.looks()["kind"]) == set(made.distances()["kind"]) == set(made.kinds)
    for kind in made.kinds:
        found = by_loops(model, kind)
        total = sum(found["rows"])
        for row in rows_of(made.looks(), kind):
            head = Head(kind, int(row["layer"]), int(row["head"]))
            x, y = found["x"][row["side"]][head, row["token"]], found["y"][row["side"]][row["token"]]
            scale = found["given"][head] / total if row["side"] == "query" else 1.0
            texts = sorted(y)
            a, b = (np.array([one[text] for text in texts]) for one in (x, y))
            lift, low, high = (
                float(one) / scale for one in of_ratios(a.sum(), (a * a).sum(), (a * b).sum(), b.sum(), (b * b).sum())
            )
            assert (row["n"], row["texts"]) == (found["n"][row["side"], row["token"]], len(texts))
            np.testing.assert_allclose(row["even"], b.sum() / total, rtol=1e-5)
            np.testing.assert_allclose(row["lift"], lift, rtol=1e-4)
            np.testing.assert_allclose([row["low"], row["high"]], [low, high], rtol=2e-2)  # sums of squares in 32 bits
        for row in rows_of(made.distances(), kind):
            head = Head(kind, int(row["layer"]), int(row["head"]))
            expected = found["far"][head, "special" if row["special"] else row["nearest"]] / total
            np.testing.assert_allclose(row["share"], expected, atol=2e-6)
            if not row["special"]:
                np.testing.assert_allclose(row["even"], found["even"][row["nearest"]] / total, atol=1e-6)
                assert not row["share"] or row["low"] <= row["share"] + 1e-9 <= row["high"] + 2e-9


def test_a_text_gives_the_same_sums_alone_as_in_a_batch() -> None:
    model = loaded.model("bart")
    rows = [encode(model, line) for line in lines(model)[::5]]
    together = measure(model, rows)
    for kind in KINDS:
        parts = [measure(model, [row])[kind].looks for row in rows]
        apart = parts[0]
        for part in parts[1:]:
            apart = apart + part
        for name in ("rows", "distances", "even", "given"):
            np.testing.assert_allclose(getattr(apart, name), getattr(together[kind].looks, name), atol=1e-4)
        for one in LOOKS:
            alone, batch = apart.types[one], together[kind].looks.types[one]
            assert alone.tokens.tolist() == batch.tokens.tolist()
            assert alone.counts.tolist() == batch.counts.tolist()
            np.testing.assert_allclose(alone.sums, batch.sums, atol=1e-4)


def test_a_shard_keeps_the_looks(bert: Atlas) -> None:
    model = loaded.model("bert")
    (job,) = jobs(iter(lines(model)), 100)
    shard = work.measured(model, job)
    again = Shard.unpack(shard.pack())
    for side_ in LOOKS:
        one, two = (of.looks["encoder"].types[side_] for of in (shard, again))
        for name in ("tokens", "counts", "base", "sums"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    for name in ("rows", "distances", "even", "given"):
        np.testing.assert_array_equal(getattr(shard.looks["encoder"], name), getattr(again.looks["encoder"], name))


def test_rare_tokens_are_left_out_and_the_surest_lead(bert: Atlas) -> None:
    looks = bert.looks()
    assert looks["texts"].min() >= look_tables.LEAST_TEXTS
    for _, rows in looks.groupby(["kind", "layer", "head", "side"]):
        assert rows["low"].is_monotonic_decreasing
        assert len(rows[~rows["special"]]) <= look_tables.KEPT
    assert (looks["low"] <= looks["lift"] + 1e-9).all()
    assert (looks["lift"] <= looks["high"] + 1e-9).all()
    one = Line(0, "mine", 1, SOURCES[0])
    assert run.of_lines(loaded.model("bert"), [one], "mine").looks().empty


def test_without_special_tokens_their_weight_is_left_out_too(bert: Atlas) -> None:
    whole, words = bert.looks("encoder L1H0"), bert.looks("encoder L1H0", special=False)
    far = bert.distances("encoder L1H0")
    share, even = (1 - far.loc[far["special"], name].item() for name in ("share", "even"))
    assert whole["special"].any()
    assert not words["special"].any()
    for one in ("key", "query"):
        rows = whole[~whole["special"] & (whole["side"] == one)].reset_index(drop=True)
        scaled = words[words["side"] == one].reset_index(drop=True)
        factor = even / share if one == "key" else 1.0
        assert scaled["token"].tolist() == rows["token"].tolist()
        for name in ("lift", "low", "high"):
            np.testing.assert_allclose(scaled[name], rows[name] * factor, rtol=1e-6)
    np.testing.assert_allclose(whole["lift"], whole["share"] / whole["even"])


def test_shares_by_distance_sum_to_one(bert: Atlas) -> None:
    sums = bert.distances().groupby(["layer", "head"])[["share", "even"]].sum()
    np.testing.assert_allclose(sums, 1, atol=1e-5)


def test_what_is_saved_opens_the_same(bert: Atlas, tmp_path: Path) -> None:
    again = bartviz.open_atlas(bert.save(tmp_path / "saved").path)
    again.check()
    assert_frame_equal(again.looks(), bert.looks())
    assert_frame_equal(again.distances("encoder L0H1"), bert.distances(Head("encoder", 0, 1)))
    mine = again.looks()
    mine["n"] = 0
    assert (again.looks()["n"] > 0).all()  # what is returned is the caller's


def test_a_head_that_is_not_there_is_refused(bert: Atlas) -> None:
    for ask in (bert.looks, bert.distances):
        with pytest.raises(SettingError, match="no head encoder L9H0 in this atlas"):
            ask("encoder L9H0")


def test_an_atlas_of_an_earlier_version_opens_and_says_what_it_lacks(bert: Atlas, tmp_path: Path) -> None:
    held = {name: table for name, table in bert.held.items() if name not in ("looks", "distances")}
    old = bartviz.open_atlas(replace(bert, held=held).save(tmp_path / "old").path)
    old.check()
    assert not old.has_looks
    assert len(old.heads)
    with pytest.raises(SettingError, match=r"an earlier version made it\. Create it again"):
        old.looks()


def test_a_run_with_a_part_of_an_earlier_version_has_no_looks() -> None:
    model = loaded.model("bert")
    made = [work.measured(model, job) for job in jobs(iter(lines(model)), 20)]
    manifest = {"model": {"name": "b"}, "corpus": {"name": "c"}, "settings": {}}
    mixed = [made[0], Shard(made[1].sums, made[1].texts)]
    rows = lines(model)
    assert atlas.added(manifest, made, work.random(model), rows).has_looks
    assert not atlas.added(manifest, mixed, work.random(model), rows).has_looks


def test_a_part_keeps_the_types_that_are_in_most_texts() -> None:
    names = ["a", "b", "c"]
    codes = np.array([[0, 1, 2], [1, 2, 2], [2, 1, 1]])
    flags = np.ones((3, 3, 3), np.bool_)
    types = Types.of(codes, names, flags, np.ones((3, 3, 1), np.float32), np.ones((3, 3), np.float32))
    assert types.counts[:, [0, 3]].tolist() == [[1, 1], [4, 3], [4, 3]]
    assert types.kept(2).tokens.tolist() == ["b", "c"]
    assert types.kept(2).sums[0, :, 0].tolist() == [4, 4]
    looks = Looks(np.zeros(3), np.zeros((3, 1, 21)), np.zeros(21), np.zeros(1), {"key": types, "query": types})
    assert pd.Index((looks + looks).types["key"].tokens).is_monotonic_increasing
