"""The command ``align``, as somebody types it, on saved records."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from bartviz.analysis import aligners, alignment, gold_alignment
from bartviz.commands.cli import main
from bartviz.record.record import Record
from tests.support import stand_in
from tests.support.process import printed

GOLD = "0-0 1-1 2?1 3-4 4-2 5-3 6-5"


def test_one_line_a_record_of_the_head_that_agrees_most(
    saved: str, record: Record, capsys: pytest.CaptureFixture[str]
) -> None:
    best = aligners.best(aligners.aligners(record), "predicts")
    assert main(["align", saved, saved]) == 0
    out = capsys.readouterr()
    assert out.out == f"{gold_alignment.write(alignment.links(best.table.weights))}\n" * 2
    assert f"{best.table.name}, rows named by what they predict" in out.err


def test_a_record_from_a_pipe(saved: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["align", saved]) == 0
    expected = capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(saved).read_bytes())))
    assert main(["align", "-"]) == 0
    assert capsys.readouterr().out == expected
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"I want to buy a car.")))
    assert main(["align", "-"]) == 2


def test_chosen_heads_reading_and_method(saved: str, record: Record, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["align", saved, "--layer", "2", "--reading", "reads", "--method", "target", "--possible"]) == 0
    shown = alignment.table(record, alignment.heads_of(record, 2), reading="reads")
    target, union = alignment.links(shown.weights, "target"), alignment.links(shown.weights, "union")
    assert capsys.readouterr().out.strip() == gold_alignment.write(target, union)
    assert main(["align", saved, "--heads", "L0H1,L2H3"]) == 0
    assert "the mean of 2 cross heads (L0H1, L2H3)" in capsys.readouterr().err


def test_gold_is_judged_over_all_records_together(
    saved: str, record: Record, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = tmp_path / "gold.txt"
    lines.write_text(f"{GOLD}\n0-0\n", encoding="utf-8")
    assert main(["align", saved, saved, "--heads", "L1H1", "--gold", str(lines)]) == 0
    links = alignment.links(alignment.table(record, [alignment.heads_of(record, 1)[1]]).weights)
    each = [gold_alignment.score(links, gold_alignment.read(text, 7, 6)) for text in (GOLD, "0-0")]
    rate = 1 - sum(one.right + one.right_sure for one in each) / sum(one.found + one.sure for one in each)
    assert f"error rate {rate:.3f}" in capsys.readouterr().err


def test_the_ranking_is_a_table(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["align", saved, "--rank"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["heads", "named", "by", "looks", "agreement", "links", "special"]
    assert len(lines) == 1 + 2 * (12 + 3)


def test_records_without_cross_attention_and_gold_of_another_length(
    saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in.record(kind="encoder").save(tmp_path / "bert.safetensors")
    assert main(["align", str(tmp_path / "bert.safetensors")]) == 2
    assert "choose an encoder-decoder model" in capsys.readouterr().err
    (tmp_path / "gold.txt").write_text("0-0\n0-0\n", encoding="utf-8")
    assert main(["align", saved, "--gold", str(tmp_path / "gold.txt")]) == 2
    assert "2 lines for 1 records" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("family", ["marian", "t5", "mbart", "pegasus"])
def test_other_families_are_aligned_by_what_rows_predict_and_read(
    family: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import bartviz
    from tests.support import networks

    model = bartviz.load(str(networks.save(family, tmp_path / family, spread=0.3)))
    record = bartviz.capture(model, "What time is it?", target="How late is it?")
    assert record.cross is not None
    assert record.output is not None
    np.testing.assert_array_equal(record.cross.query.ids[1:], record.output.ids[:-1])  # row t reads what t - 1 predicts
    source, target = alignment.lines(record)
    assert source.labels[-1] == "?"
    assert "<" not in "".join(target.labels)
    record.save(tmp_path / "run.safetensors")
    assert main(["align", str(tmp_path / "run.safetensors"), "--method", "target"]) == 0
    assert len(capsys.readouterr().out.split()) == len(target)


@pytest.mark.slow
def test_it_runs_as_a_module_without_torch(saved: str) -> None:
    code = f"import sys; sys.argv = ['bartviz', 'align', {saved!r}]; import runpy\n"
    code += "try: runpy.run_module('bartviz', run_name='__main__')\nexcept SystemExit as end: assert end.code == 0\n"
    code += "assert not {'torch', 'transformers', 'streamlit'} & set(sys.modules)"
    assert "-" in printed(code)


@pytest.mark.parametrize("start", [b"", (80).to_bytes(8, "little") + b"[", (1 << 62).to_bytes(8, "little") + b"{"])
def test_a_large_file_is_refused_by_its_header(
    start: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with (tmp_path / "zeros.safetensors").open("wb") as file:
        file.write(start)
        file.truncate(4 << 30)  # of a file system that keeps no zeros
    monkeypatch.setattr(Path, "read_bytes", lambda _path: pytest.fail("it was read"))
    assert main(["align", str(tmp_path / "zeros.safetensors")]) == 2
    assert "This is not a bartviz record" in capsys.readouterr().err


def test_a_pipe_and_a_device_are_refused_and_not_waited_for(
    saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    page = str(tmp_path / "out.html")
    for file in (str(tmp_path / "pipe"), "/dev/zero"):
        for command in (["align", file], ["open", file], ["export", file, page], ["align", saved, "--gold", file]):
            assert main(command) == 2
            printed = capsys.readouterr().err
            assert printed.count("\n") == 1
            assert "pipe or a device" in printed or "cannot be read" in printed
