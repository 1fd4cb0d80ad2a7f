"""What the run from random weights to a translator is shown: texts with gaps at first, rows to translate always."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from training import born, corpus, grammar
from training.born import GAP, REPAIRED, TAUGHT, TRANSLATED, Shown
from training.loop import Settings


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A corpus of the grammar's rows, whose teacher says "Aha." to everything."""
    folder, rng = tmp_path_factory.mktemp("corpus"), np.random.default_rng(0)
    rows = {row.en: row.de for row in (grammar.drawn(rng) for _ in range(200))}
    with gzip.open(folder / corpus.PAIRS_FILE, "wt", encoding="utf-8") as file:
        file.write("split\ten\tde\n" + "".join(f"train\t{en}\t{de}\n" for en, de in rows.items()))
    with gzip.open(folder / corpus.TALES_FILE, "wt", encoding="utf-8") as file:
        file.write("Once there was a king.\nHe had a son.\n")
    taught = folder / "taught.tsv.gz"
    with gzip.open(taught, "wt", encoding="utf-8") as file:
        file.write("".join(f"{en}\tAha.\n" for en in rows))
    return Settings(folder, folder, float("inf"), steps=1000, extra={"taught": taught})


@pytest.fixture
def task(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Shown:
    monkeypatch.setattr(born, "CHUNK", 300)
    return Shown(settings)


@pytest.mark.parametrize(("share", "repaired"), [(0.0, REPAIRED), (TRANSLATED / 2, REPAIRED / 2), (TRANSLATED, 0.0)])
def test_texts_with_gaps_grow_fewer(task: Shown, share: float, repaired: float) -> None:
    sources = task.tokenizer.batch_decode([source for source, _ in task.chunk(3, share)])
    found = sum(GAP in text for text in sources) / len(sources)
    assert found == pytest.approx(repaired, abs=0.06)


def test_a_text_with_gaps_is_to_be_made_whole(task: Shown) -> None:
    for source, target in task.with_gaps(200, np.random.default_rng(0)):
        given, wanted = task.tokenizer.batch_decode([source, target])
        assert GAP in given
        assert wanted[3:-4] in task.documents.single
        assert GAP not in wanted


def test_the_teacher_comes_in_later(task: Shown) -> None:
    early, late = (
        sum(task.tokenizer.decode(target, skip_special_tokens=True).startswith("Aha") for _, target in task.chunk(0, s))
        for s in (0.0, TAUGHT)
    )
    assert early == 0
    assert late > 60


@pytest.mark.thorough
def test_a_chunk_is_the_same_in_another_process(settings: Settings) -> None:
    """Whatever was drawn before, and whatever order sets have there."""
    program = (
        "import sys; from pathlib import Path; from training import born; from training.loop import Settings\n"
        "born.CHUNK = 40; folder = Path(sys.argv[1])\n"
        "task = born.Shown(Settings(folder, folder, 1.0, steps=9))\n"
        "[task.chunk(int(i), 0.1) for i in sys.argv[2].split()]; print(task.chunk(7, 0.1))"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", program, settings.corpus, before],
            env={"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(born.__file__).parents[1])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for before, seed in (("", "1"), ("0 3", "2"))
    ]
    assert len(found[0]) > 1000
    assert found[0] == found[1]
