"""The sizes in the table of files are those of the files that readers get."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bartviz.explorer.file import page
from benchmarks import files
from tests.support import records


@pytest.mark.slow
def test_a_record_is_measured_as_a_file_of_ours_and_of_each_peer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = records.encoder_only(layers=2, heads=3)
    record.save(tmp_path / "record.safetensors")
    files.against_peers(record, 0.0)
    lines = capsys.readouterr().out
    n = record.attention("encoder").shape[2]
    assert f"  2 x 3 heads, n = {n}\n" in lines
    sizes = {name: float(size) for name, size in re.findall(r"^    (\S.*?) +(\d+\.\d{3}) MB ", lines, re.M)}
    assert sizes["ours: the explorer"] == round(len(page(record)) / 1e6, 3)
    assert sizes["ours: the record, opens again"] == round((tmp_path / "record.safetensors").stat().st_size / 1e6, 3)
    assert sizes["plotly, float32"] > 4  # its script alone
    assert {"bertviz head view", "bertviz model view"} <= sizes.keys()
    assert re.search(r"^    attnview +(\d+\.\d{3} MB|not installed)", lines, re.M)


@pytest.mark.slow
def test_peers_get_no_more_weights_than_they_finish(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST", 100)
    files.against_peers(records.encoder_only(layers=2, heads=3), 0.0)
    lines = capsys.readouterr().out
    assert re.findall(r"^    (bertviz .*?) +not run: 0 million weights$", lines, re.M) == [
        "bertviz head view",
        "bertviz model view",
    ]
    assert re.search(r"plotly, float32 +\d", lines)
