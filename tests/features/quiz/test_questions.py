"""Questions of the quiz: every answer recomputed from random and shipped records, small cases by hand, the sheets."""

from __future__ import annotations

import csv
import html
import io
import math
import re
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bartviz.analysis import start
from bartviz.analysis.denoising import NOISE, Noised, NoisedWord, token_masking, words
from bartviz.analysis.parameters import parameters
from bartviz.app.controls import export
from bartviz.arrays import Floats
from bartviz.errors import SettingError
from bartviz.features.quiz import AT_LEVEL, COUNT, KINDS, OPENING, figure_sheet, noise, questions
from bartviz.features.quiz.question import Grid, Option, Question, Touch, hundredths, told_apart
from bartviz.language import _, speaking
from bartviz.record.attention import Attention
from bartviz.record.record import Record, open_record
from tests.features.test_weights import given as weights_alone
from tests.support import records, stand_in

SHIPPED = sorted((Path(__file__).parents[3] / "bartviz" / "embedded" / "records").glob("*.safetensors"))


def place(name: object) -> tuple[int, int]:
    layer, head = str(name)[1:].split("H")
    return int(layer), int(head)


def attention_of(record: Record, kind: str) -> Attention:
    return record.attention(kind)


def attention(record: Record, question: Question) -> Attention:
    return attention_of(record, str(question.about["kind"]))


def softmax(given: Attention, layer: int, head: int) -> Floats:
    """The weights of a head once more, row by row, in float64."""
    scores = given.queries[layer, head].astype(float) @ given.keys[layer, head].astype(float).T * given.scale
    if given.bias is not None:
        scores = scores + given.bias[head]
    rows = []
    for score, mask in zip(scores, given.mask, strict=True):
        powers = np.where(mask, np.exp(score - score[mask].max()), 0) if mask.any() else np.ones_like(score)
        rows.append(powers / powers.sum())
    return np.array(rows)


def counting(record: Record, given: Attention) -> list[int]:
    """The rows that tell something: words that may see two keys, and no padding."""
    query = record.output if given.kind == "cross" and record.output is not None else given.query
    own = record.decoder if given.kind != "encoder" else record.encoder
    assert own is not None
    used = np.flatnonzero(own.mask.any(axis=0)).tolist()
    return [row for row in used if not query.special[row] and given.mask[row].sum() > 1]


def shares(record: Record, question: Question, name: object) -> float:
    """The mean weight of a head on the token before, or on special tokens."""
    given = attention(record, question)
    weights = softmax(given, *place(name))
    rows = counting(record, given)
    if question.about["measure"] == "previous":
        found = [weights[row, row - 1] for row in rows if row > 0 and given.mask[row, row - 1]]
    else:
        found = [weights[row][given.key.special].sum() for row in rows if given.mask[row][given.key.special].any()]
    return float(np.mean(found))


def most_shares(record: Record, question: Question) -> None:
    values = [shares(record, question, option.fact) for option in question.options]
    assert all(values[question.answer] >= value + 0.0999 for value in others(question, values))


def others(question: Question, values: list[float]) -> list[float]:
    return [value for at, value in enumerate(values) if at != question.answer]


def look(record: Record, question: Question) -> None:
    given = attention(record, question)
    row = softmax(given, *place(question.about["head"]))[int(str(question.about["row"]))]
    columns = [int(str(option.fact)) for option in question.options]
    assert columns[question.answer] == int(row.argmax())
    assert all(row[columns[question.answer]] >= row[at] + 0.0999 for at in columns if at != row.argmax())
    assert [option.text for option in question.options] == [f"“{given.key.labels[at]}”" for at in columns]


def looked_at(record: Record, question: Question) -> None:
    given = attention(record, question)
    column = softmax(given, *place(question.about["head"]))[:, int(str(question.about["column"]))]
    rows = [int(str(option.fact)) for option in question.options]
    assert rows[question.answer] == int(column.argmax())
    assert all(column.max() >= column[at] + 0.0999 for at in rows if at != column.argmax())


def ribbon(record: Record, question: Question) -> None:
    """The weights of the drawn head between words, from those between tokens: sums over columns, means over rows."""
    [grid], row, column = question.grids, int(str(question.about["row"])), int(str(question.about["column"]))
    given, found = attention(record, question), start.ribbons(record)
    weights = softmax(given, found.head.layer, found.head.head)
    below, above = ([word for word in line if not word.special] for line in (found.below, found.above))
    merged = np.array(
        [[weights[t.start : t.end, s.start : s.end].sum(axis=1).mean() for s in above] for t in below]
    )  # (words below, words above)
    np.testing.assert_allclose(np.array(grid.cells, float), merged, atol=1e-3)
    t, s = [word.start for word in below].index(row), [word.start for word in above].index(column)
    line, right = (merged[:, s], t) if question.kind == "ribbon_back" else (merged[t], s)
    assert question.right.fact == right == int(line.argmax())
    assert all(line[right] >= share + 0.0999 for at, share in enumerate(line) if at != right)
    assert question.marked == (s if question.kind == "ribbon_back" else t)


def received(record: Record, question: Question) -> None:
    sums = softmax(attention(record, question), *place(question.about["head"])).sum(axis=0)
    columns = [int(str(option.fact)) for option in question.options]
    assert columns[question.answer] == question.about["column"] == int(sums.argmax())
    assert all(sums.max() >= 1.249 * sums[at] for at in columns if at != sums.argmax())


def average(record: Record, question: Question) -> None:
    given = attention(record, question)
    layer = int(str(question.about["layer"]))
    heads = [softmax(given, layer, head) for head in range(given.shape[1])]
    mean, rows = np.mean(heads, axis=0), counting(record, given)

    def distance(p: Floats, q: Floats) -> float:
        middle = (p + q) / 2
        parts = [sum(a * math.log2(a / m) for a, m in zip(one, middle, strict=True) if a > 0) for one in (p, q)]
        return math.sqrt(max(sum(parts) / 2, 0))

    values = [
        float(np.mean([distance(heads[place(option.fact)[1]][row], mean[row]) for row in rows]))
        for option in question.options
    ]
    assert all(values[question.answer] >= value + 0.0499 for value in others(question, values))


def written(cells: tuple[float | None, ...]) -> list[float]:
    assert None not in cells
    return [cell for cell in cells if cell is not None]


def lawful(given: Attention, cells: Sequence[float], row: int) -> bool:
    """Whether a row as it is written may come from this attention."""
    return abs(sum(cells) - 1) < 0.05 and not any(
        cell > 0.001 and not given.mask[row, at] for at, cell in enumerate(cells)
    )


def impossible(record: Record, question: Question) -> None:
    [grid], given, rows = question.grids, attention(record, question), question.about["rows"]
    assert isinstance(rows, tuple)
    fine = [lawful(given, written(cells), row) for cells, row in zip(grid.cells, rows, strict=True)]
    assert fine.count(False) == 1
    assert fine.index(False) == question.answer


def missing(record: Record, question: Question) -> None:
    [grid], given = question.grids, attention(record, question)
    row, column = int(str(question.about["row"])), int(str(question.about["column"]))
    true = softmax(given, *place(question.about["head"]))[row, column]
    values = [float(option.text) for option in question.options]
    assert values[question.answer] == pytest.approx(true, abs=0.011)
    assert values[question.answer] == pytest.approx(1 - sum(cell or 0 for cell in grid.cells[0]), abs=1e-6)
    assert all(abs(value - values[question.answer]) > 0.049 for value in others(question, values))
    assert grid.cells[0][column] is None


def entropy(record: Record, question: Question) -> None:
    given, rows = attention(record, question), question.about["rows"]
    assert isinstance(rows, tuple)
    [grid] = question.grids
    for cells, (layer, head, row) in zip(grid.cells, rows, strict=True):
        np.testing.assert_allclose(written(cells), softmax(given, layer, head)[row][: len(cells)], atol=0.0101)
    bits = [-sum(p * math.log2(p) for p in written(cells) if p > 0) for cells in grid.cells]
    assert all(bits[question.answer] >= value + 0.399 for value in others(question, bits))


def whose(record: Record, question: Question) -> None:
    [grid], right = question.grids, question.right.fact
    fits = []
    for option in question.options:
        given = record.attention(str(option.fact))
        named = given.query if given.kind == "encoder" or record.output is None else record.output
        labels = (named.labels[: len(grid.rows)], given.key.labels[: len(grid.columns)])
        seen = np.array([written(cells) for cells in grid.cells]) > 0.001
        fits.append(labels == (grid.rows, grid.columns) and not (seen & ~given.mask[:12, :12]).any())
    assert question.options[fits.index(True)].fact == right
    assert grid.rows != grid.columns or right == "encoder"


def last(record: Record, question: Question) -> None:
    given, row = attention(record, question), int(str(question.about["row"]))
    assert question.right.fact == max(at for at, open_ in enumerate(given.mask[row]) if open_)


def shift(record: Record, question: Question) -> None:
    assert record.output is not None
    row = int(str(question.about["row"]))
    right = record.output.labels[row]
    assert question.right.fact == right
    on_paper = [str(option.fact).strip().casefold() for option in question.on_paper.options]
    assert on_paper.count(right.strip().casefold()) == 1
    assert record.attention("decoder").query.labels[row].strip().casefold() in on_paper


def unsure(record: Record, question: Question) -> None:
    chances = [record.steps[int(str(option.fact))].chosen.probability for option in question.options]
    assert all(chances[question.answer] <= chance - 0.0299 for chance in others(question, chances))


def temperature(record: Record, question: Question) -> None:
    first, second = record.steps[int(str(question.about["step"]))].candidates[:2]
    scores = np.array([first.probability, second.probability])
    heated = np.exp(np.log(scores) / 2)
    values = [float(str(option.fact)) for option in question.options]
    assert values[question.answer] == pytest.approx(heated[0] / heated[1], rel=0.03)
    assert all(
        abs(value - values[question.answer]) > 0.149 * values[question.answer] for value in others(question, values)
    )


def scores(record: Record, question: Question) -> None:
    given, row = attention(record, question), int(str(question.about["row"]))
    layer, head = place(question.about["head"])
    columns = question.about["columns"]
    assert isinstance(columns, tuple)
    high, low = columns
    products = given.queries[layer, head, row].astype(float) @ given.keys[layer, head].astype(float).T * given.scale
    if given.bias is not None:
        products = products + given.bias[head][row]
    values = [float(str(option.fact)) for option in question.options]
    assert values[question.answer] == pytest.approx(products[high] - products[low], abs=0.12)
    assert all(abs(value - values[question.answer]) > 0.199 for value in others(question, values))


def scale(record: Record, question: Question) -> None:
    given = attention_of(record, str(question.query["kind"]))
    values = [float(str(option.fact)) for option in question.options]
    assert values[question.answer] == pytest.approx(1 / given.scale, rel=1e-3)
    assert values[question.answer] ** 2 == pytest.approx(given.queries.shape[3])


def product(record: Record, question: Question) -> None:
    places = question.about["positions"]
    assert isinstance(places, tuple)
    right = math.exp(sum(record.steps[at].log_probability for at in places))
    values = [float(str(option.fact)) for option in question.options]
    assert values[question.answer] == pytest.approx(right, rel=1e-4)
    assert all(abs(value - right) > 0.0299 for value in others(question, values))


def rule(record: Record, question: Question) -> None:
    ruled = [record.steps[int(str(option.fact))].rule is not None for option in question.options]
    assert ruled.count(True) == 1
    assert ruled.index(True) == question.answer


def noised(record: Record, question: Question) -> None:
    clean, left = (
        [word.text for word in words(str(question.about[name]).replace("<mask>", " MASKED "))]
        for name in ("text", "noised")
    )
    right = {str(question.right.fact)}
    masks, kept = left.count("MASKED"), [word for word in left if word != "MASKED"]
    if masks:
        assert right < {"token masking", "text infilling"} or right in ({"token masking"}, {"text infilling"})
        if right == {"text infilling"}:
            pairs = zip(clean, left, strict=False)
            same = len(left) == len(clean) and all(b in (a, "MASKED") for a, b in pairs)
            assert not same or "token masking" not in facts(question)
        else:
            assert "text infilling" not in facts(question)
    elif len(kept) < len(clean):
        assert right == {"token deletion"}
    else:
        assert sorted(kept) == sorted(clean)
        turned = any(kept == clean[at:] + clean[:at] for at in range(1, len(clean)))
        assert (right == {"document rotation"}) <= turned
        assert right == {"document rotation"} or not turned or "document rotation" not in facts(question)


def facts(question: Question) -> list[object]:
    return [option.fact for option in question.options]


def shared(record: Record, question: Question) -> None:
    table = parameters(record.model.name, architecture=record.model.architecture)
    tokens = table[table["role"] == "token embedding"]
    ids = set(tokens["name"])
    if question.about["asked"] == "places":
        own = table[table["shared_with"].isin(ids) | table["name"].isin(ids)]
        uses = own[own["component"] != "shared"]["name"].nunique()
        assert question.right.fact == uses
        return
    tied = set(table[table["shared_with"].notna()]["role"]) & {str(fact) for fact in facts(question)}
    assert tied == {question.right.fact}


def feed_forward(record: Record, question: Question) -> None:
    table = parameters(record.model.name, architecture=record.model.architecture)
    layer = table[(table["component"] == question.about["side"]) & (table["layer"] == 0)]

    def size(part: str) -> int:
        return int(layer[layer["role"].str.startswith(part)]["elements"].sum())

    ratio = size("feed-forward") / (size("self-attention") + size("cross-attention"))
    values = [float(option.text) for option in question.options]
    assert values[question.answer] == pytest.approx(ratio, abs=0.051)
    assert all(abs(value - ratio) >= 0.29 * ratio for value in others(question, values))


def memory(record: Record, question: Question) -> None:
    given = attention(record, question)
    layers, heads, n, _keys = given.shape

    def size(n: int) -> int:
        return 4 * layers * heads * (n * n if question.about["squared"] else 2 * n * given.queries.shape[3])

    assert question.about["bytes"] == size(n)
    assert question.right.fact == size(2 * n) / size(n)


CHECKS: dict[str, Callable[[Record, Question], None]] = {
    "ribbon": ribbon,
    "ribbon_back": ribbon,
    "look": look,
    "shift": shift,
    "whose": whose,
    "looked_at": looked_at,
    "last": last,
    "unsure": unsure,
    "missing": missing,
    "impossible": impossible,
    "received": received,
    "previous": most_shares,
    "rest": most_shares,
    "product": product,
    "rule": rule,
    "entropy": entropy,
    "average": average,
    "noise": noised,
    "shared": shared,
    "feed_forward": feed_forward,
    "memory": memory,
    "scale": scale,
    "scores": scores,
    "temperature": temperature,
}


def check(record: Record, question: Question) -> None:
    """One right answer, told apart from the others, and everything can be said."""
    paper = question.on_paper
    assert 2 <= len(paper.options) <= 4
    assert paper.right == question.right
    texts = [_(option.text) for option in paper.options]
    assert len(set(texts)) == len(texts)
    assert len({str(fact) for fact in facts(paper)}) == len(texts)
    assert all(_(said) for said in (question.prompt, question.why, *(option.says for option in question.options)))
    CHECKS[question.kind](record, question)
    if question.touch is not None:
        touched(question, question.touch)


@pytest.mark.slow
def test_a_beginner_is_asked_about_words_and_not_about_rows_or_short_names() -> None:
    record = open_record(next(file for file in SHIPPED if file.stem == "start"))
    asked = [one for seed in range(6) for one in questions(record, seed, 20)]
    assert not [_(one.prompt) for one in asked if re.search(r"L\d+H\d|the row (of|that)", _(one.prompt))]
    lines = [one for one in asked if one.kind in ("last", "shift")]
    assert {one.kind for one in lines} == {"last", "shift"}
    for one in lines:
        assert one.line[0] == "Ich"  # without the tokens that begin every output
        assert not any(re.search(r"\(\d+\)", word) for word in one.line)
        assert one.marked is not None
        assert f"“{one.line[one.marked]}”" in _(one.prompt)
        assert one.answer == one.marked + (1 if one.kind == "shift" else -1)


@pytest.mark.slow
@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_the_model_wrote_what_it_is_said_to_have_written(file: Path) -> None:
    record = open_record(file)
    asked = [one for seed in range(6) for one in questions(record, seed, 20)]
    said = [_(one.prompt) for one in asked if one.kind in ("look", "shift") and "wr" in _(one.prompt)]
    assert bool(said) == (record.output is not None and file.stem != "given")


def test_a_number_of_a_row_has_its_token_for_a_small_screen() -> None:
    question = next(one for seed in range(8) for one in questions(stand_in.record(), seed, 1, kinds=("missing",)))
    drawn, [grid] = figure_sheet.picture(question, {}), question.grids
    assert [html.unescape(one) for one in re.findall(r"data-column='([^']*)'", drawn)] == list(grid.columns)
    assert "data-column" not in figure_sheet.picture(question)  # on paper


def test_labels_that_look_alike_are_numbered() -> None:
    assert told_apart(("</s>", "the", "The", " the", "</s>")) == ("</s>", "the", "The", " the (2)", "</s> (2)")


def test_a_question_without_a_wrong_answer_for_paper_is_not_asked() -> None:
    record = records.decoder_only(("x", " ", "x", "</s>"))  # before the last row: "x" again, and a space
    asked = [one for seed in range(6) for one in questions(record, seed, 8, kinds=("last",))]
    assert all(len(one.on_paper.options) > 1 for one in asked)


def touched(question: Question, touch: Touch) -> None:
    """Every option has a place of its own in the picture, and looks like no other."""
    texts = [_(option.text) for option in question.options]
    assert len(set(texts)) == len(texts)
    parts = {
        "row": len(question.grids[0].rows) if question.grids else 0,
        "column": len(question.grids[0].columns) if question.grids else 0,
        "cell": len(question.grids[0].columns) if question.grids else 0,
        "map": len(question.grids),
        "word": len(question.line),
    }[touch.what]
    assert len(set(touch.places)) == len(question.options) <= parts
    assert all(0 <= at < parts for at in touch.places)
    if touch.what == "word":
        said = [f"“{question.line[at]}”" for at in touch.places]
        assert [_(option.text) for option in question.options] == said
    if touch.what == "map":
        assert [question.grids[at].title for at in touch.places] == [option.text for option in question.options]


@pytest.mark.thorough
@pytest.mark.slow
@settings(max_examples=150, report_multiple_bugs=False)
@given(records.records(), st.integers(0, 999_999))
def test_every_answer_is_the_only_right_one(record: Record, seed: int) -> None:
    for level in AT_LEVEL:
        for question in questions(record, seed, 16, level=level):
            check(record, question)


@pytest.mark.some("start")
@pytest.mark.slow
@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_the_shipped_records_have_full_rounds_with_right_answers(file: Path) -> None:
    record = open_record(file)
    for seed in range(12):
        for level in AT_LEVEL:
            asked = questions(record, seed, COUNT, level=level)
            assert len(asked) == COUNT
            for question in asked:
                check(record, question)


@pytest.mark.slow
def test_one_record_is_asked_for_every_kind() -> None:
    record = open_record(next(file for file in SHIPPED if file.stem == "start"))
    asked = {
        level: {question.kind for seed in range(4) for question in questions(record, seed, 20, level=level)}
        for level in AT_LEVEL
    }
    assert all(set(kinds) <= asked[level] for level, kinds in AT_LEVEL.items())
    assert set(CHECKS) == set(KINDS) == {kind for kinds in AT_LEVEL.values() for kind in kinds}


@pytest.mark.some("start")
@pytest.mark.slow
@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_rows_are_named_by_what_they_predict_and_a_link_shows_weights_where_a_sum_is_wrong(file: Path) -> None:
    record = open_record(file)
    asked = [one for level in AT_LEVEL for seed in range(6) for one in questions(record, seed, 20, level=level)]
    assert not [one for one in asked if "reading" in one.query]
    for one in asked:
        kind = one.about.get("kind")
        if kind in record.kinds and one.kind in ("look", "looked_at", "received"):
            assert one.grids[0].rows == record.rows(str(kind), "predicts").labels  # type: ignore[arg-type]
    for question in (one for one in asked if one.kind == "impossible"):
        assert ("sum to" in _(question.why)) == (question.query["view"] == "weights")
        assert ({"layer", "head"} <= set(question.query)) == (question.query["view"] == "weights")


@pytest.mark.slow
def test_the_layer_that_is_asked_about_is_named() -> None:
    for file in SHIPPED:
        record = open_record(file)
        asked = [one for seed in range(2) for one in questions(record, seed, kinds=("feed_forward",))]
        for question in asked:
            side = str(question.about["side"])
            assert f"{side} layer of {record.model.name}" in _(question.prompt)
            assert ("two attentions" in _(question.prompt)) == (side == "decoder" and record.cross is not None)


def test_the_same_seed_asks_the_same_and_another_one_asks_something_else() -> None:
    record = stand_in.record()
    assert questions(record, 7) == questions(stand_in.record(), 7)
    assert questions(record, 7) != questions(record, 8)


@pytest.mark.slow
@given(records.records(), st.integers(0, 999_999), st.sampled_from(list(AT_LEVEL)), st.integers(1, 40))
@settings(max_examples=30, deadline=None)
def test_a_round_has_no_doubles(record: Record, seed: int, level: str, count: int) -> None:
    asked = questions(record, seed, count, level=level)
    assert len({one.fact for one in asked}) == len(asked) <= count
    assert len({(_(one.prompt), one.grids, one.line, _(one.right.text)) for one in asked}) == len(asked)
    rows = [(one.about["kind"], one.about["row"]) for one in asked if "row" in one.about]
    assert len(set(rows)) == len(rows)


@pytest.mark.some("start", "words")
@pytest.mark.slow
@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_new_questions_are_new_and_levels_differ(file: Path) -> None:
    record = open_record(file)
    rounds = {level: [questions(record, seed, level=level) for seed in range(5)] for level in AT_LEVEL}
    for level, every in rounds.items():
        for one, other in pairwise(every):
            assert not {question.fact for question in one} & {question.fact for question in other}, level
    for seed in range(5):
        asked = [{(question.kind, question.fact) for question in every[seed]} for every in rounds.values()]
        assert all(len(one & other) <= 2 for one, other in combinations(asked, 2))


def test_easier_kinds_of_a_level_come_first_in_each_lap() -> None:
    asked = [list(KINDS).index(one.kind) for one in questions(stand_in.record(), 1, 5)]
    assert asked == sorted(asked)


def test_a_round_of_a_beginner_begins_with_the_picture_and_the_words_of_the_start_page() -> None:
    record = open_record(next(file for file in SHIPPED if file.stem == "start"))
    for seed in range(6):
        first, second = questions(record, seed, 4)[:2]
        assert (first.kind, second.kind) == OPENING
        assert _(first.prompt).startswith("Before the model wrote")
        drawn, answered = figure_sheet.picture(first, {}), figure_sheet.picture(first, {str(first.answer): "right"})
        assert answered.count("clip-path") == len(start.ribbons(record).edges()) - outside(record)
        assert drawn.count("<button") == len(first.options)
        assert "bv-pale" not in drawn
        assert "bv-pale" in answered


def test_the_ribbons_of_a_translated_word_come_with_the_answer() -> None:
    record = open_record(next(file for file in SHIPPED if file.stem == "start"))
    (first,) = (one for one in questions(record, 7, 1) if one.kind == "ribbon")
    assert first.hidden
    assert first.marked is not None
    asked, wrong = first.grids[0].rows[first.marked], next(at for at in range(9) if at != first.answer)
    told = f"The widest ribbon of “{asked}” goes up to {first.right.text}"
    own = sum(weight is not None and weight >= start.FAINTEST for weight in first.grids[0].cells[first.marked])
    whole = figure_sheet.picture(first, {str(first.answer): "right"})
    for marks in ({}, {str(wrong): "wrong"}):
        drawn = figure_sheet.picture(first, marks)
        assert drawn.count("clip-path") == whole.count("clip-path") - own < whole.count("clip-path")
        assert told not in drawn
        assert "The widest ribbon of" in drawn  # of the others
    assert told in whole
    assert told in figure_sheet.picture(first.on_paper)  # where none can come later
    back = next(one for one in questions(record, 7, 2) if one.kind == "ribbon_back")
    assert figure_sheet.picture(back, {}).count("clip-path") == whole.count("clip-path")


def test_ribbons_that_follow_no_translation_are_not_hidden() -> None:
    for file in SHIPPED:
        for question in questions(open_record(file), 7, 6, kinds=OPENING):
            assert question.about["kind"] == "cross" or not question.hidden
            assert question.kind == "ribbon" or not question.hidden


def outside(record: Record) -> int:
    """The ribbons at special tokens, which beginners are not shown."""
    found = start.ribbons(record)
    return sum(found.below[t].special or found.above[s].special for t, s, _weight in found.edges())


def test_the_map_whose_kind_is_asked_has_the_colour_of_none() -> None:
    record = open_record(next(file for file in SHIPPED if file.stem == "start"))
    asked = [*questions(record, 4, 3, kinds=("whose",)), *questions(record, 4, 10)]
    assert {one.about["kind"] for one in asked if one.kind == "whose"} == {"encoder", "decoder", "cross"}
    for question in asked:
        kinds = {grid.kind for grid in question.grids}
        assert kinds <= ({None} if question.kind == "whose" else {question.about.get("kind")})
        shown = figure_sheet.picture(question)
        colours = {name for name in ("encoder", "decoder", "cross", "any") if f"bv-{name}" in shown}
        assert colours == {name or "any" for name in kinds}


def test_a_seed_or_count_out_of_range_is_refused() -> None:
    for seed, count in ((-1, 5), (1_000_000, 5), (1, 0), (1, 41)):
        with pytest.raises(SettingError, match="999,999"):
            questions(stand_in.record(), seed, count)


def test_a_text_of_one_token_is_asked_little_and_breaks_nothing() -> None:
    record = records.encoder_only(("<s>",))
    for level in AT_LEVEL:
        assert {question.kind for question in questions(record, 3, level=level)} <= {"memory", "scale", "average"}


def test_by_hand_a_causal_row_with_weight_ahead_is_the_impossible_one() -> None:
    tokens = stand_in.tokens(("a", " b", " c"))
    given = Attention(
        "decoder",
        np.zeros((1, 1, 3, 2), np.float32),
        np.zeros((1, 1, 3, 2), np.float32),
        1.0,
        np.tri(3, dtype=bool),
        tokens,
        tokens,
    )  # even rows: 1 | 0.5 0.5 | 0.33 0.33 0.33
    assert lawful(given, (0.5, 0.5, 0.0), 1)
    assert not lawful(given, (0.5, 0.0, 0.5), 1)
    assert not lawful(given, (0.5, 0.3, 0.0), 1)


def test_hundredths_sum_to_one_as_they_are_written() -> None:
    assert hundredths(np.array([1 / 3, 1 / 3, 1 / 3])) == [0.34, 0.33, 0.33]
    assert hundredths(np.array([0.126, 0.874])) == [0.13, 0.87]


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=16))
def test_hundredths_always_sum_to_one_and_stay_near(values: list[float]) -> None:
    weights = np.array(values) / sum(values)
    found = hundredths(weights)
    assert sum(found) == pytest.approx(1, abs=1e-9)
    assert np.abs(np.array(found) - weights).max() <= 0.0101


def made(name: str, text: str, left: str) -> Noised:
    kept = tuple(NoisedWord(word, (at,), word == "<mask>") for at, word in enumerate(left.split()))
    return Noised(name, text, left, words(text), kept, ())


@pytest.mark.parametrize(
    ("left", "possible"),
    [
        ("a <mask> c .", {"token masking", "text infilling"}),
        ("a <mask> .", {"text infilling"}),
        ("a c .", {"token deletion"}),
        ("c . a b", {"document rotation"}),
        ("b a c .", set()),
        ("a b c .", set()),
    ],
)
def test_which_noise_could_have_made_a_text(left: str, possible: set[str]) -> None:
    assert {name for name in NOISE if noise.could(name, made("", "a b c.", left))} == possible


def test_sentences_in_another_order_may_also_be_a_rotation() -> None:
    text = "a b. c d. e f."
    swapped, turned = made("", text, "c d . a b . e f ."), made("", text, "c d . e f . a b .")
    assert noise.could("sentence permutation", swapped)
    assert not noise.could("document rotation", swapped)
    assert noise.could("sentence permutation", turned)
    assert noise.could("document rotation", turned)


@given(st.integers(0, 10_000), st.sampled_from(list(NOISE)))
def test_what_a_noise_function_made_it_could_have_made(seed: int, name: str) -> None:
    found = NOISE[name]("One two three four. Five six seven! Eight nine ten?", np.random.default_rng(seed))
    assert found.text == found.source or noise.could(name, found)


@pytest.mark.slow
def test_a_text_with_a_mask_in_it_is_not_damaged_again() -> None:
    assert token_masking("a <mask> b c d", np.random.default_rng(0), 1.0)
    record = records.encoder_only(("<s>", "a", " <mask>", " b", " c", " d", "</s>"))
    assert not [question for seed in range(5) for question in questions(record, seed, kinds=("noise",))]


GRID = Grid(("0 <b>",), ("0 a|b", "1 =x"), ((0.25, None),), "cross")
HAND = Question(
    "missing",
    "How large is <it> | #1?",
    (Option("=0.75", "x", 1), Option("0.5*", "y", 2)),
    0,
    "1 − 0.25 wherefore",
    "heads",
    {"row": "0"},
    (GRID,),
)


def test_the_sheet_with_answers_and_the_one_without() -> None:
    record = stand_in.record()
    for write in (figure_sheet.markdown, figure_sheet.page):
        told, asked = write([HAND], record, 7, answers=True), write([HAND], record, 7, answers=False)
        assert "wherefore" in told
        assert "wherefore" not in asked
        assert record.source_text.split()[-1].strip(".") in asked
        assert "7" in asked


def test_the_html_sheet_escapes_what_is_not_ours_and_hides_what_is_asked() -> None:
    page = figure_sheet.page([HAND], stand_in.record(), 7, answers=True)
    assert "&lt;it&gt;" in page
    assert "0 &lt;b&gt;" in page
    assert "<b>" not in page.replace("<b>1.", "").replace("<b>A.", "")
    assert ">?</td>" in page
    assert ">0.25</td>" in page
    assert "script" not in page


def test_the_markdown_sheet_escapes_signs() -> None:
    text = figure_sheet.markdown([HAND], stand_in.record(), 7, answers=False)
    assert r"0 a\|b" in text
    assert r"\<it\>" in text
    assert "- A: =0.75" in text
    assert "- B: 0.5\\*" in text


def test_the_csv_has_a_line_for_each_question_and_no_formula() -> None:
    table = figure_sheet.table([HAND, HAND])
    assert isinstance(table, pd.DataFrame)
    lines = list(csv.DictReader(io.StringIO(export.csv(table).decode("utf-8-sig"))))
    assert [line["answer"] for line in lines] == ["A", "A"]
    assert lines[0]["A"] == "'=0.75"
    assert lines[0]["link"] == "/heads?row=0"
    assert "quiz" not in lines[0]


def test_the_links_of_the_csv_name_the_model_the_text_and_the_question() -> None:
    made = {"model": "bart", "text": "a & b"}
    table = figure_sheet.table(
        [HAND, HAND],
        address=lambda page, query: figure_sheet.path(page, {**query, **made}),
        asked=lambda number: {"quiz_question": str(number)},
    )
    assert table["link"].tolist() == ["/heads?row=0&model=bart&text=a+%26+b"] * 2
    assert table["quiz"][1] == "/quiz?quiz_question=2&model=bart&text=a+%26+b"


def test_a_question_is_said_in_the_language_of_the_moment() -> None:
    question = questions(stand_in.record(), 7, 1, kinds=("entropy",))[0]
    with speaking("pseudo"):
        assert _(question.prompt).startswith("⟦")
        assert _(question.options[0].text) == "⟦Row A⟧"
    assert _(question.options[0].text) == "Row A"


def test_quiz_asks_about_weights_and_not_about_queries_and_keys() -> None:
    asked = [question for seed in range(9) for question in questions(weights_alone(), seed, 1, kinds=["memory"])]
    assert asked
    assert all(question.about["squared"] for question in asked)
