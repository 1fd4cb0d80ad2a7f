"""Ranking heads by how they align, and the search for a set of them."""

import numpy as np
import pytest

from bartviz.analysis import aligners as analysis
from bartviz.analysis.aligners import aligners, best, best_set, ranking
from bartviz.analysis.alignment import heads_of, links, table
from bartviz.analysis.gold_alignment import Gold, read, score
from bartviz.errors import BudgetError, SettingError
from bartviz.record.attention import Head
from bartviz.record.record import Record
from tests.support import stand_in

GOLD = "0-0 1-1 2?1 3-4 4-2 5-3 6-5"


def test_every_head_and_layer_is_ranked_by_both_readings(record: Record) -> None:
    ranked = aligners(record)
    assert len(ranked) == 2 * (3 * 4 + 3)
    assert [one.agreement for one in ranked] == sorted((one.agreement for one in ranked), reverse=True)
    for one in ranked:
        again = table(record, one.heads, reading=one.table.reading)
        np.testing.assert_allclose(one.table.weights, again.weights, atol=1e-6)
        assert one.table.name == again.name
    assert best(ranked, "reads").table.reading == "reads"
    assert len(best(ranked).heads) == 1


def test_a_layer_of_one_head_is_not_ranked_twice() -> None:
    assert len(aligners(stand_in.record(layers=2, heads=1))) == 4


def test_the_ranking_by_gold_is_the_error_rate_of_each(record: Record) -> None:
    ranked, gold = aligners(record), read(GOLD, 7, 6)
    frame = ranking(ranked, method="target", gold=gold)
    assert frame["error rate"].is_monotonic_increasing
    first = frame.iloc[0]
    one = next(a for a in ranked if (a.name, a.table.reading) == (first["heads"], first["named by"]))
    judged = score(links(one.table.weights, "target"), gold)
    assert first["error rate"] == judged.error_rate
    assert "error rate" not in ranking(ranked)


def test_the_set_is_never_worse_than_its_best_head(record: Record) -> None:
    ranked, gold = aligners(record), read(GOLD, 7, 6)
    found = best_set(ranked, gold, reading="predicts")
    alone = min(
        rate
        for one in ranked
        if len(one.heads) == 1 and one.table.reading == "predicts"
        if (rate := score(links(one.table.weights), gold).error_rate) is not None
    )
    assert found.error_rate <= alone
    assert found.error_rate == score(links(table(record, found.heads).weights), gold).error_rate
    assert 1 <= len(found.heads) == len(set(found.heads)) <= 6


def test_a_perfect_head_is_chosen_alone(record: Record) -> None:
    ranked = aligners(record)
    wanted = table(record, [Head("cross", 1, 2)])
    gold = Gold(links(wanted.weights, "target"), frozenset())
    assert best_set(ranked, gold, method="target") == analysis.Found((Head("cross", 1, 2),), 0.0)


def test_gold_without_a_link_and_texts_without_end_are_refused(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingError, match="nothing to agree with"):
        best_set(aligners(record), Gold(frozenset(), frozenset()))
    monkeypatch.setattr(analysis, "LIMIT", 1000)
    with pytest.raises(BudgetError, match="name a head"):
        aligners(record)


def test_all_heads_of_a_record_are_counted_from_0(record: Record) -> None:
    assert [head.short for head in heads_of(record, 2)] == ["L2H0", "L2H1", "L2H2", "L2H3"]


def test_a_head_that_looks_back_is_better_named_by_what_rows_read(record: Record) -> None:
    head = [Head("cross", 1, 2)]
    shown, turned = (table(record, head, reading=reading) for reading in ("predicts", "reads"))
    gold = Gold(links(turned.weights), frozenset())
    here = score(links(shown.weights), gold)
    said = analysis.hint(record, shown, head, gold)
    right = len(gold.sure)
    assert here.error_rate is not None
    assert here.error_rate >= 0.2
    assert f"a row reads, {right} of {right} links would be right (error rate 0.00 instead of" in said
    assert "look back" in said
    assert analysis.hint(record, turned, head, gold) == ""


def test_a_head_that_links_nothing_is_never_the_best_one(record: Record) -> None:
    """Without sure links the error rate of no links is 0 / 0: such heads stand last, and no set is made of them."""
    ranked, gold = aligners(record), Gold(frozenset(), frozenset({(0, 0), (1, 1)}))
    strongest = max(float(one.table.weights.max()) for one in ranked)
    frame = ranking(ranked, method="threshold", threshold=strongest * 0.9, gold=gold)
    linked = frame["links"] > 0
    assert 0 < linked.sum() < len(frame)
    assert linked.tolist() == sorted(linked, reverse=True)
    assert frame["error rate"].notna().tolist() == linked.tolist()
    with pytest.raises(SettingError, match="nothing to judge"):
        best_set(ranked, gold, method="threshold", threshold=1.0)
