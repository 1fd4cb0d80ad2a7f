"""The command ``compare``: two models over one file, and two atlases that are there."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import bartviz
from bartviz.commands.cli import main
from bartviz.corpus import shipped
from tests.support import loaded

TEXTS = "".join(
    f"the {one} sat on the {two}\n" for one in ("cat", "dog", "mat", "man") for two in ("mat", "cat, and it", "dog")
)


@pytest.fixture(scope="module")
def models() -> tuple[str, str]:
    for seed in (0, 1):
        loaded.model("bert", seed)
    return str(loaded.folder() / "bert-0"), str(loaded.folder() / "bert-1")


def test_two_models_over_one_file_in_one_command(
    models: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "texts.txt").write_text(TEXTS, encoding="utf-8")
    out, table = tmp_path / "out", tmp_path / "all.csv"
    arguments = ["compare", *models, "--texts", str(tmp_path / "texts.txt"), "--out", str(out), "--table", str(table)]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert "paired, text by text" in shown
    expected = bartviz.open_atlas(out / "a").against(out / "b", paired=True)
    apart = int((expected["p_bh"] <= 0.05).sum())
    assert f"{apart} of {len(expected)} lines (a head by a measure) differ" in shown
    assert len(pd.read_csv(table)) == len(expected)
    assert pd.read_csv(table)["difference"].to_numpy() == pytest.approx(expected["difference"].to_numpy())
    assert main([*arguments, "--measure", "entropy", "--json"]) == 0  # the runs that are there are not repeated
    found = json.loads(capsys.readouterr().out)
    rows = expected[expected["measure"] == "entropy"]
    assert (found["compared"], found["paired"]) == (len(rows), True)
    assert found["differ"] == len(found["heads"]) >= (rows["p_bh"] <= 0.05).sum() > 0
    assert found["heads"][0]["p_bh"] >= found["heads"][0]["p"]
    assert main(["compare", str(out / "a"), str(out / "b"), "--measure", "nothing"]) == 2
    assert "do not share the measure nothing: choose entropy" in capsys.readouterr().err


def test_models_are_compared_by_mean_ablation_over_texts_that_count_once(
    models: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "texts.txt").write_text(TEXTS * 2, encoding="utf-8")
    arguments = ["compare", *models, "--texts", str(tmp_path / "texts.txt"), "--silence", "12", "--measure", "silenced"]
    changes = []
    for more in ([], ["--mean"]):
        out = tmp_path / f"out{len(more)}"
        assert main([*arguments, "--out", str(out), "--unique", "--table", str(out.with_suffix(".csv")), *more]) == 0
        assert bartviz.open_atlas(out / "a").description["corpus"]["repeated"] == 12
        changes.append(pd.read_csv(out.with_suffix(".csv")).sort_values(["kind", "layer", "head"])["mean"].to_numpy())
    capsys.readouterr()
    right = bartviz.corpus(TEXTS.splitlines(), models[0], silence=12, mean=True).heads.query("measure == 'silenced'")
    assert changes[1] == pytest.approx(right["mean"].to_numpy(), rel=1e-3)
    assert abs(changes[0] - changes[1]).max() > 1e-4


def test_atlases_without_values_are_taken_as_independent_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    folders = [str(shipped.FOLDER / name) for name in ("bart-tiny-en-de", "bart-tiny-denoise")]
    assert main(["compare", *folders]) == 0
    shown = capsys.readouterr().out
    assert "taken as independent: bart-tiny-en-de has no values of each text" in shown
    assert "more: --table CSV writes all" in shown
    assert main(["compare", *folders, "--texts", "texts.txt"]) == 2
    assert "belong together" in capsys.readouterr().err
