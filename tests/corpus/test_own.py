"""Measures of the caller's own over a corpus: the same numbers as for a record, in every table, and errors that say
where a function failed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bartviz
from bartviz.analysis.own_measures import BothTokens, Own
from bartviz.arrays import Floats
from bartviz.commands.cli import main
from bartviz.corpus import one_file, schema
from bartviz.corpus.atlas import Atlas
from bartviz.corpus.sums import Bins
from bartviz.errors import SettingError
from bartviz.record.attention import KINDS
from tests.support import loaded
from tests.support.own_measures import everything, last_key, lean
from tests.support.process import printed

TEXTS = ["the cat sat on the mat", "the dog", "a man sat on the cat, and the dog sat", "the mat", "the cat and the dog"]
PAIRS = [("the cat sat", "the mat"), ("the dog sat on the mat", "the cat sat on"), ("a man", "the dog and the man sat")]
MINE: dict[str, Own] = {"last key": last_key, "lean": lean, "everything": everything}
STUDENT_4 = 2.7764  # the quantile for 97.5% of Student's t with 4 degrees of freedom


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    file.write_text("\n".join(TEXTS), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def whole(model: str, path: Path, tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    out = tmp_path_factory.mktemp("whole") / "atlas"
    return bartviz.corpus(path, model, out, size=2, measures=MINE, values=True)


def test_the_values_of_each_text_are_those_of_its_record(whole: Atlas, model: str) -> None:
    net = bartviz.load(model)
    for row, text in enumerate(TEXTS):
        found = bartviz.measures(bartviz.capture(net, text), "encoder", measures=MINE)
        for name in MINE:
            np.testing.assert_allclose(whole.values("encoder", name)[row], found.values[name], rtol=1e-4, atol=1e-5)


def test_so_are_those_of_all_kinds_of_attention_with_given_outputs() -> None:
    net = loaded.model("bart")
    atlas = bartviz.corpus(PAIRS, net, measures=MINE, values=True)
    for row, (text, target) in enumerate(PAIRS):
        record = bartviz.capture(net, text, target=target)
        for kind in KINDS:
            found = bartviz.measures(record, kind, measures=MINE)
            for name in MINE:
                np.testing.assert_allclose(atlas.values(kind, name)[row], found.values[name], rtol=1e-4, atol=1e-5)
    records = [bartviz.capture(net, text, target=target) for text, target in PAIRS]
    evens = [bartviz.measures(record, "cross", measures=MINE).even["lean"] for record in records]
    rows = atlas.heads[(atlas.heads["kind"] == "cross") & (atlas.heads["measure"] == "lean")]
    assert rows["even"].unique() == pytest.approx([np.mean(evens)], abs=1e-5)


def test_a_line_has_mean_and_interval_and_a_mean_may_be_below_0(whole: Atlas) -> None:
    for name in MINE:
        values = whole.values("encoder", name).astype(np.float64)  # (N, L, H)
        rows = whole.heads[whole.heads["measure"] == name]
        np.testing.assert_allclose(rows["mean"], values.mean(axis=0).ravel(), rtol=1e-6)
        half = STUDENT_4 * values.std(axis=0, ddof=1).ravel() / np.sqrt(len(TEXTS))
        np.testing.assert_allclose(rows["high"], values.mean(axis=0).ravel() + half, rtol=1e-4)
        np.testing.assert_allclose(rows["low"], values.mean(axis=0).ravel() - half, rtol=1e-4, atol=1e-6)
    lean_ = whole.heads[whole.heads["measure"] == "lean"]
    assert (lean_["mean"] < 0).any()
    histogram = whole.histograms[whole.histograms["measure"] == "lean"]
    assert (histogram["bin"] < 0).any()
    assert histogram.groupby(["layer", "head"])["texts"].sum().eq(len(TEXTS)).all()


READ = """
import json, sys
from bartviz import open_atlas
atlas = open_atlas(sys.argv[1])
atlas.check()
rows = atlas.heads[atlas.heads["measure"] == "lean"]
print(json.dumps([rows["mean"].tolist(), "torch" in sys.modules, "tests.support.own_measures" in sys.modules]))
"""


def test_it_is_opened_again_without_the_functions_and_without_torch(whole: Atlas) -> None:
    done = subprocess.run([sys.executable, "-c", READ, str(whole.path)], capture_output=True, text=True, check=True)
    means, torch, functions = json.loads(done.stdout)
    assert means == pytest.approx(whole.heads[whole.heads["measure"] == "lean"]["mean"].tolist())
    assert not torch
    assert not functions
    about = whole.description["settings"]["own"]["lean"]
    assert about["function"] == "tests.support.own_measures:lean"


def test_figures_profiles_and_files_have_it(whole: Atlas, tmp_path: Path) -> None:
    for dark in (False, True):
        mosaic = bartviz.figures.atlas(whole.heads, measure="lean", kind="encoder", dark=dark)
        assert mosaic.data[0].zmin < 0
    head = bartviz.Head("encoder", 1, 0)
    bars = bartviz.figures.distribution(whole.histograms, measure="lean", head=head, width=whole.bins("lean").width)
    assert sum(bars.data[0].y) == len(TEXTS)
    page = whole.passport(head, measure="lean")
    assert "lean, own measure" in page
    (tmp_path / "atlas.zip").write_bytes(one_file.pack(whole))
    again = bartviz.open_atlas(tmp_path / "atlas.zip")
    np.testing.assert_array_equal(again.values("encoder", "lean"), whole.values("encoder", "lean"))


def test_two_atlases_are_compared_by_it_text_by_text(whole: Atlas, path: Path) -> None:
    other = bartviz.corpus(path, loaded.model("bert", 1), measures={"lean": lean}, values=True)
    table = whole.against(other, paired=True).query("measure == 'lean'")
    moved = other.values("encoder", "lean").astype(np.float64) - whole.values("encoder", "lean")
    places = table["layer"].to_numpy(), table["head"].to_numpy()
    np.testing.assert_allclose(table["difference"], moved.mean(axis=0)[places], atol=1e-6)
    np.testing.assert_allclose(table["difference_median"], np.median(moved, axis=0)[places], atol=1e-6)
    assert len(table) == moved[0].size
    assert len(whole.against(other).query("measure == 'lean'")) == len(table)
    drawn = bartviz.figures.atlas_pair(whole.heads, other.heads, measure="lean", kind="encoder")
    assert len(drawn.data[0].x) == len(table)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.usefixtures("ready_workers")
def test_several_workers_measure_the_same(model: str, path: Path, whole: Atlas, tmp_path: Path) -> None:
    found = bartviz.corpus(path, model, tmp_path / "atlas", size=2, measures=MINE, values=True, workers=2)
    assert found.description["files"] == whole.description["files"]


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: bartviz[ray]")
def test_workers_of_ray_measure_the_same(model: str, path: Path, whole: Atlas, tmp_path: Path) -> None:
    printed(
        "import bartviz\nfrom tests.corpus.test_own import MINE\nif __name__ == '__main__':\n"
        f"    bartviz.corpus({str(path)!r}, {model!r}, {str(tmp_path / 'atlas')!r}, size=2, measures=MINE, values=True,"
        " ray='local')"
    )
    assert bartviz.open_atlas(tmp_path / "atlas").description["files"] == whole.description["files"]


def test_a_run_goes_on_with_the_same_functions_alone(model: str, path: Path, tmp_path: Path, whole: Atlas) -> None:
    def stop(progress: Any) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "atlas"
    with pytest.raises(KeyboardInterrupt):
        bartviz.corpus(path, model, out, size=2, measures=MINE, values=True, report=stop)
    for other in ({}, MINE | {"lean": last_key}, dict(list(MINE.items())[:2])):
        with pytest.raises(SettingError, match=r"contains another run: its .*settings differ"):
            bartviz.corpus(path, model, out, size=2, measures=other, values=True, resume=True)
    found = bartviz.corpus(path, model, out, size=2, measures=MINE, values=True, resume=True)
    assert found.description["files"] == whole.description["files"]


def _raises(weights: Floats, tokens: BothTokens) -> Floats:
    if len(tokens.query) > 12:
        raise ZeroDivisionError("nothing to divide by")
    return weights[:, 0, 0]


def _infinite(weights: Floats, tokens: BothTokens) -> Floats:
    found = weights[:, 0, 0].copy()
    found[1] = np.inf
    return found


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_raises, r"'mine' raised ZeroDivisionError for layer 0 of encoder attention: nothing to divide by.*line 3"),
        (_infinite, r"'mine' is infinite for encoder L0H1: it must be finite.*The text: .*line 1"),
        (lambda weights, tokens: weights, r"'mine' returned float32 of shape .*for layer 0 of encoder.*line 1"),
    ],
    ids=["raises", "infinite", "shape"],
)
def test_an_error_names_the_measure_the_text_and_where_it_failed(function: Own, message: str) -> None:
    with pytest.raises(SettingError, match=f"(?s){message}"):
        bartviz.corpus(TEXTS, loaded.model("bert"), measures={"mine": function})


def test_a_weight_cannot_be_changed_and_what_is_not_defined_is_left_out() -> None:
    def changes(weights: Floats, tokens: BothTokens) -> Floats:
        weights[:] = 0
        return weights[:, 0, 0]

    def rarely(weights: Floats, tokens: BothTokens) -> Floats:
        return np.full(len(weights), 1.0 if len(tokens.key) > 6 else np.nan)

    with pytest.raises(SettingError, match="read-only"):
        bartviz.corpus(TEXTS, loaded.model("bert"), measures={"mine": changes})
    heads = bartviz.corpus(TEXTS, loaded.model("bert"), measures={"mine": rarely, "never": _never}).heads
    defined = sum(len(bartviz.capture(loaded.model("bert"), text).source) > 6 for text in TEXTS)
    assert 0 < defined < len(TEXTS)
    assert heads[heads["measure"] == "mine"]["n"].eq(defined).all()
    assert heads[heads["measure"] == "never"]["mean"].isna().all()


def _never(weights: Floats, tokens: BothTokens) -> Floats:
    return np.full(len(weights), np.nan)


def test_a_function_without_a_name_of_its_own_is_for_one_process(model: str, path: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"'mine' is .*lambda.*, which other processes cannot import"):
        bartviz.corpus(
            path, model, tmp_path / "a", workers=2, measures={"mine": lambda weights, tokens: weights[:, 0, 0]}
        )


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("lean", "is written as package.module:function"),
        ("not.there:lean", "cannot be imported: ModuleNotFoundError"),
        ("tests.support.own_measures:thin", "has no thin"),
        ("tests.support.own_measures:np.nan", "is no function, but float"),
    ],
)
def test_the_command_refuses_what_is_no_measure(
    named: str, message: str, model: str, path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["corpus", str(path), "--model", model, "--out", str(tmp_path / "a"), "--measure", named]) != 0
    assert message in capsys.readouterr().err


def test_the_command_measures_it(model: str, path: Path, tmp_path: Path, whole: Atlas) -> None:
    given = [one for name in ("last_key", "lean") for one in ("--measure", f"tests.support.own_measures:{name}")]
    assert main(["corpus", str(path), "--model", model, "--out", str(tmp_path / "a"), *given]) == 0
    heads = bartviz.open_atlas(tmp_path / "a").heads
    for name, known in (("last_key", "last key"), ("lean", "lean")):
        one, other = (table[table["measure"] == of]["mean"] for table, of in ((heads, name), (whole.heads, known)))
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "change",
    [
        lambda own: own["lean"].update(width=0),
        lambda own: own["lean"].update(start="left"),
        lambda own: own["lean"].pop("function"),
        lambda own: own.update({"entropy": own["lean"]}),
        lambda own: own.update({"<b>": own["lean"]}),
        lambda own: own.update({"lean": None}),
    ],
)
def test_an_atlas_that_says_nonsense_of_a_measure_is_refused(whole: Atlas, change: Callable[[Any], Any]) -> None:
    said = json.loads((whole.path / "atlas.json").read_text("utf-8"))
    change(said["settings"]["own"])
    with pytest.raises(SettingError, match="incomplete"):
        schema.check_description(schema.sealed(said, {}), "atlas")


def test_an_atlas_with_a_measure_that_it_does_not_describe_is_refused(whole: Atlas) -> None:
    data = (whole.path / "heads.parquet").read_bytes()
    assert len(schema.read("heads", data, "heads.parquet", "atlas", MINE)) == len(whole.heads)
    with pytest.raises(SettingError, match="contradict each other"):
        schema.read("heads", data, "heads.parquet", "atlas", ["lean"])


@pytest.mark.parametrize(
    ("values", "bins"),
    [
        ([], Bins(0.0, 0.05)),
        ([0.0, 1.0, np.nan], Bins(0.0, 0.05)),
        ([3.0], Bins(2.6, 0.2)),
        ([0.0, 40.0], Bins(0.0, 5.0)),
        ([-2.0, 2.0], Bins(-2.5, 0.5)),
        ([1000.0, 1000.5], Bins(999.95, 0.05)),
    ],
)
def test_bins_are_round_and_hold_what_was_seen(values: list[float], bins: Bins) -> None:
    found = Bins.around(np.array(values, np.float32))
    assert (found.start, found.width) == pytest.approx((bins.start, bins.width))
    known = [value for value in values if np.isfinite(value)]
    assert all(found.start <= value <= found.start + 20 * found.width for value in known)
