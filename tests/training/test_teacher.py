"""What a teacher's translations become: the beam most like the corpus, and half of the rows that have one."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from training import mix, teacher
from training.corpus import Pair
from training.mix import Mix


def test_the_beam_most_like_a_translation_of_the_corpus_is_kept() -> None:
    beams = ["Schau ihn an.", "Sieh sie dir an.", "Sieh ihn dir an."]
    assert teacher.likest(beams, ["Seht sie euch an!", "Sieh ihn dir an."]) == "Sieh ihn dir an."
    assert teacher.likest(["Gut.", "Gut."], ["Gut."]) == "Gut."


def test_none_is_kept_where_all_are_far_from_the_corpus() -> None:
    assert teacher.likest(["Habe ich hier etwas getroffen?"], ["Ist mir hier etwas entgangen?"]) is None


def test_a_file_is_read_as_pairs(tmp_path: Path) -> None:
    file = tmp_path / "taught.tsv.gz"
    with gzip.open(file, "wt", encoding="utf-8") as out:
        out.write("Look at him.\tSchau ihn an.\nHow?\tWie?\n")
    assert teacher.read(file) == [Pair("Look at him.", "Schau ihn an."), Pair("How?", "Wie?")]


def test_half_of_the_rows_that_have_one_take_the_teachers_german() -> None:
    """Of 2,000 rows 1,000 are expected, with a standard deviation of 22."""
    rows = [Pair("We see the sea.", "Wir sehen das Meer."), Pair("It is late.", "Es ist spät.")]
    made = Mix(rows, np.random.default_rng(0), [Pair("We see the sea.", "Das Meer sehen wir.")])
    found = [made.of_corpus(0).de for _ in range(2000)]
    assert set(found) == {"Wir sehen das Meer.", "Das Meer sehen wir."}
    assert abs(found.count("Das Meer sehen wir.") - mix.TAUGHT * 2000) < 90
    assert {made.of_corpus(1).de for _ in range(50)} == {"Es ist spät."}
