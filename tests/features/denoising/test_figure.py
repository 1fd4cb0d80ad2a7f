"""The figures of a repair."""

from __future__ import annotations

import numpy as np
import pytest

import bartviz
from bartviz import figures
from bartviz.analysis import repairs
from bartviz.analysis.repairs import Repair
from bartviz.errors import SettingError
from bartviz.experiments.repair import repair
from bartviz.features.denoising.figure import attention, denoising, pair
from tests.support import loaded


@pytest.fixture(scope="module")
def found() -> Repair:
    return repair(loaded.model("bart"), "The <b>cat</b> is on the sofa, 100 %{x}.", "text infilling", seed=2)


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
def test_every_token_has_one_bar_of_its_probability(found: Repair, dark: bool) -> None:
    right, wrong, lost = denoising(found, dark=dark).data
    places = np.concatenate([right.x, wrong.x])
    assert sorted(places.tolist()) == list(range(len(found.score.labels)))
    heights = np.concatenate([right.y, wrong.y])[places.argsort()]
    np.testing.assert_allclose(heights, np.exp(found.score.log_probability), atol=1e-6)
    assert right.x.tolist() == np.flatnonzero(found.score.right).tolist()
    assert lost.x.tolist() == np.flatnonzero(found.score.lost).tolist()
    assert wrong.marker.pattern.shape == "/"
    assert right.marker.pattern.shape is None


@pytest.mark.slow
def test_labels_are_escaped_and_the_word_is_public(found: Repair) -> None:
    text = figures.denoising(found).to_json()
    assert "<b>cat</b>" not in text
    assert "%{x}" not in text


def test_clean_and_corrupted_maps_are_side_by_side(found: Repair) -> None:
    shown = pair(found, "cross", 1, 0)
    assert [len(view.query_labels) for view in shown] == [len(found.given.attention("cross").query)] * 2
    assert len(shown[0].key_labels) == len(found.plain.source)
    assert len(shown[1].key_labels) == len(found.given.source)
    assert shown[0].query_labels == shown[1].query_labels
    titles = [note.text for note in attention(found, "cross", 1, 0).layout.annotations]
    assert titles == ["cross L1H0, the clean text", "cross L1H0, the corrupted text"]


def test_only_what_the_corruption_changes_is_compared(found: Repair) -> None:
    with pytest.raises(SettingError, match="Encoder and cross"):
        attention(found, "decoder")


@pytest.mark.slow
def test_attention_on_masks_is_a_share() -> None:
    made = repair(bartviz.load("bart-tiny-denoise"), "The cat is sleeping on the sofa.", "token masking", seed=1)
    clean, corrupted = pair(made, "encoder", 1, 2)
    assert repairs.mask_share(clean) is None
    share = repairs.mask_share(corrupted)
    assert share is not None
    rows = ~corrupted.query_special
    at = [i for i, label in enumerate(corrupted.key_labels) if label == "<mask>"]
    assert share[0] == pytest.approx(float(corrupted.weights[rows][:, at].sum(1).mean()), abs=1e-6)
    assert share[1] == pytest.approx(len(at) / len(corrupted.key_labels), abs=1e-6)
