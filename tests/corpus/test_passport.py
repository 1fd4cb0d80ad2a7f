"""The passport of a head: the numbers and examples of the atlas, on a page that loads nothing."""

from __future__ import annotations

import dataclasses
import html
import json
import re
from pathlib import Path

import pandas as pd
import pytest

from bartviz.analysis import corpus as analysis
from bartviz.commands.cli import main
from bartviz.corpus import shipped
from bartviz.errors import SettingError
from bartviz.language import speaking
from bartviz.record.attention import Head

HEAD = Head("cross", 1, 4)


def test_it_has_every_measure_with_its_rank_and_the_examples_of_one() -> None:
    atlas = shipped.atlas("bart-tiny-en-de")
    page = html.unescape(atlas.passport("cross L1H4", measure="diagonal"))
    for row in analysis.passport(atlas.heads, HEAD).itertuples():
        cells = f"<td>{row.measure}</td><td>{row.unit}</td><td>{row.mean:.3f}</td><td>{row.low:.3f}</td>"
        assert cells in page
    examples = analysis.of_head(atlas.examples, HEAD).query("measure == 'diagonal'")
    assert set(examples["which"]) == {"highest", "lowest", "typical", "random"}
    assert all(f"<b>{row.value:.2f}</b> {row.text}<br>{row.target}" in page for row in examples.itertuples())
    assert analysis.notice(analysis.evidence(atlas.heads, atlas.histograms, HEAD), HEAD) in page
    assert "CC BY 2.0 FR" in page


def test_it_says_how_far_the_head_looks_and_at_what() -> None:
    atlas = shipped.atlas("bart-tiny-en-de")
    page = html.unescape(atlas.passport(str(HEAD)))
    for row in atlas.looks(HEAD).to_dict("records"):
        assert f"<td>{row['token']}</td><td>{row['lift']:.3f}</td><td>{row['low']:.3f}</td>" in page
    far = atlas.distances(HEAD)
    before = far[far["nearest"] == -1]["share"].item()
    assert f"<td>−1</td><td>{before:.3f}</td>" in page
    old = {name: atlas._table(name) for name in atlas.description["files"] if name not in ("looks", "distances")}
    assert "How far it looks" in page
    assert "How far it looks" not in dataclasses.replace(atlas, held=old).passport(str(HEAD))


def test_the_bars_are_as_high_as_their_counts() -> None:
    atlas = shipped.atlas("bert-tiny-en")
    bars = analysis.of_head(atlas.histograms, Head("encoder", 0, 0)).query("measure == 'previous'").sort_values("bin")
    page = atlas.passport("encoder L0H0", measure="previous")
    drawn = [float(high) for high in re.findall(r'height="([\d.]+)" fill="#(?!ffffff)', page)]
    counts = bars["texts"].to_numpy()
    assert drawn == pytest.approx(110 * counts / counts.max(), abs=0.01)


def test_what_silencing_changes_is_said_with_its_rank() -> None:
    atlas = shipped.atlas("bart-tiny-en-de")
    rows = atlas.heads.query("kind == 'cross' and measure == 'silenced'").sort_values("mean", ascending=False)
    for rank, row in enumerate(rows.itertuples(), 1):
        said = analysis.effect(atlas.heads, Head("cross", int(str(row.layer)), int(str(row.head))))
        assert said.startswith(f"Silencing it moves the predictions by {row.mean:.3f} nats")
        assert said.endswith(f"rank {rank} of 32 among the heads of its kind.")
    assert analysis.effect(atlas.heads[atlas.heads["measure"] != "silenced"], HEAD) == ""


def test_it_loads_nothing_and_escapes_what_it_quotes() -> None:
    atlas = dataclasses.replace(shipped.atlas("bert-tiny-en"))
    examples = shipped.atlas("bert-tiny-en").examples.assign(text="<script>alert(1)</script>", pair="", target=None)
    atlas.__dict__["examples"] = examples
    page = atlas.passport("encoder L0H0")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_it_speaks_the_language_of_its_reader() -> None:
    with speaking("ko"):
        page = shipped.atlas("bert-tiny-en").passport("encoder L0H0")
    assert '<html lang="ko">' in page
    assert "가장 비슷한 헤드" in page


def test_a_head_or_measure_that_is_not_there_is_refused_with_the_choices() -> None:
    atlas = shipped.atlas("bert-tiny-en")
    with pytest.raises(SettingError, match="choose encoder L0H0 to L3H5"):
        atlas.passport("encoder L9H0")
    with pytest.raises(SettingError, match="choose entropy"):
        atlas.passport("encoder L0H0", measure="alignment")
    with pytest.raises(SettingError, match="written as"):
        atlas.passport("L0")
    assert atlas.passport("L0H0") == atlas.passport("encoder L0H0")  # it has heads of one kind


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "head.html"
    assert main(["passport", str(shipped.FOLDER / "bert-tiny-en"), "encoder L1H2", str(out)]) == 0
    assert out.read_text("utf-8") == shipped.atlas("bert-tiny-en").passport("encoder L1H2")
    capsys.readouterr()
    assert main(["passport", str(shipped.FOLDER / "bert-tiny-en"), "encoder L1H2", str(out), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["saved"], said["bytes"]) == (str(out), out.stat().st_size)
    assert main(["passport", str(shipped.FOLDER / "bert-tiny-en"), "encoder L9H2", str(out)]) == 2
    assert "choose encoder" in capsys.readouterr().err


def test_typical_texts_are_nearer_to_the_mean_than_the_others_that_were_drawn() -> None:
    atlas = shipped.atlas("bert-tiny-en")
    examples = atlas.examples.merge(atlas.heads[["kind", "layer", "head", "measure", "mean"]])
    away = (examples["value"] - examples["mean"]).abs().groupby(examples["which"]).mean()
    assert away["typical"] < 0.5 * away["random"] < 0.5 * away[["highest", "lowest"]].min()
    assert isinstance(examples, pd.DataFrame)
