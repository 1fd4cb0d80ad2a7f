"""A mask drawn by hand, against eager attention that was given the same mask."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutput

import bartviz
from bartviz.analysis import drawn_mask
from bartviz.arrays import Bools
from bartviz.errors import SettingError
from bartviz.experiments.drawn_mask import with_mask
from bartviz.models.model import Model
from bartviz.record.attention import Kind
from bartviz.record.checks import MASK
from bartviz.record.record import Record
from tests.support import loaded

TEXT, TARGET = "The cat is sleeping on the sofa.", "Die Katze schläft auf dem Sofa."
EVERY: tuple[tuple[str, Kind], ...] = (
    ("bert", "encoder"),
    ("gpt2", "decoder"),
    ("bart", "encoder"),
    ("bart", "decoder"),
    ("t5", "encoder"),
    ("t5", "decoder"),
)


def record(family: str) -> Record:
    return bartviz.capture(loaded.model(family), TEXT, target=TARGET if family in ("bart", "t5") else None)


def painted(shape: tuple[int, ...]) -> Bools:
    """Cells drawn by lot, with one open in each row; the last column is closed to all."""
    cells = np.random.default_rng(0).random(shape) < 0.5
    cells[:, 0], cells[:, -1] = True, False
    return cells


def eager(family: str, one: Record, kind: Kind, cells: Bools) -> Tensor:
    """(rows, V) logits of transformers' own eager attention, which gets the mask as the network's argument."""
    network = loaded.reference(family)
    closed = torch.from_numpy(np.where(cells, 0.0, -np.inf).astype(np.float32))[None, None]
    ids = torch.from_numpy(one.source.ids.copy())[None]
    given: dict[str, Any] = {"input_ids": ids}
    if one.cross is not None:
        states = network.get_encoder()(ids, attention_mask=closed if kind == "encoder" else None).last_hidden_state
        read = torch.from_numpy(one.attention("decoder").query.ids.copy())[None]
        given = {"encoder_outputs": BaseModelOutput(last_hidden_state=states), "decoder_input_ids": read}
        if kind == "encoder":
            given["attention_mask"] = torch.from_numpy(cells.any(axis=0).astype(np.int64))[None]
        else:
            given["decoder_attention_mask"] = closed
    else:
        given["attention_mask"] = closed
    with torch.inference_mode():
        logits: Tensor = network(**given, use_cache=False).logits[0] if family != "bert" else network(**given).logits[0]
    return logits


@pytest.mark.parametrize(("family", "kind"), EVERY)
def test_drawn_mask_is_the_mask_given_to_eager_attention(family: str, kind: Kind) -> None:
    one, model = record(family), loaded.model(family)
    cells = painted(one.attention(kind).mask.shape)
    found = with_mask(model, one, kind, cells, write=False)
    assert found.before is not None
    assert found.after is not None
    expected = eager(family, one, kind, cells)[torch.from_numpy(found.rows.copy())].double().log_softmax(-1)
    targets = found.before.best if one.output is None else one.output.ids[found.rows]
    picked = expected.gather(1, torch.from_numpy(targets.copy())[:, None])[:, 0]
    np.testing.assert_allclose(found.after.log_probability, picked.numpy(), atol=4e-4)
    np.testing.assert_array_equal(found.after.best, expected.argmax(-1).numpy())
    assert np.array_equal(found.changed.attention(kind).mask, cells)
    # all that is checked of a record holds, but that its mask is the family's
    assert {check.name for check in found.changed.checked if check.failed} == {MASK}
    assert np.abs(found.before.log_probability - found.after.log_probability).max() > 1e-3


@pytest.fixture(scope="module")
def translator() -> Model:
    return bartviz.load("bart-tiny-en-de")


@pytest.fixture(scope="module")
def written(translator: Model) -> Record:
    return bartviz.decode(translator, "I want to buy a car.")


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_own_mask_changes_nothing(translator: Model, written: Record, kind: Kind) -> None:
    found = with_mask(translator, written, kind, written.attention(kind).mask)
    assert not found.turned.size
    assert found.divergence.max() < 1e-6
    assert found.written is not None
    assert [one.target_text for one in found.written] == [written.target_text] * 2


def test_text_that_is_written_under_a_mask_is_what_eager_attention_writes(translator: Model, written: Record) -> None:
    """Each next token is the best of a pass over all before it, with the mask's first rows and columns."""
    cells = drawn_mask.start("window", written.attention("decoder"))
    found = with_mask(translator, written, "decoder", cells)
    assert found.written is not None
    made = found.written[1]
    network = copy.deepcopy(translator.network)
    network.set_attn_implementation("eager")
    source = torch.from_numpy(made.source.ids.copy())[None]
    read = made.attention("decoder").query.ids.copy()
    many = len(read)
    whole = np.tri(many, dtype=np.bool_)
    side = min(many, len(cells))
    whole[:side, :side] &= cells[:side, :side]
    closed = torch.from_numpy(np.where(whole, 0.0, -np.inf).astype(np.float32))[None, None]
    with torch.inference_mode():
        logits = network(source, decoder_input_ids=torch.from_numpy(read)[None], decoder_attention_mask=closed).logits
    probabilities = logits[0].softmax(-1)
    for step in made.steps:
        assert probabilities[step.row, step.chosen.token_id].item() == pytest.approx(step.chosen.probability, abs=1e-4)
    assert made.target_text != written.target_text


def test_future_that_is_open_is_not_there_while_the_model_writes(translator: Model, written: Record) -> None:
    causal = written.attention("decoder").mask
    whole = np.ones_like(causal)
    found = with_mask(translator, written, "decoder", whole)
    assert found.written is not None
    assert found.written[1].target_text == found.written[0].target_text
    assert found.divergence.max() > 0.01  # with the output given, the rows do see what comes


def test_closed_column_of_the_encoder_is_closed_to_cross_attention(translator: Model, written: Record) -> None:
    cells = drawn_mask.start("padding", written.attention("encoder"))
    found = with_mask(translator, written, "encoder", cells)
    assert not found.changed.attention("cross").mask[:, ~cells.any(axis=0)].any()


def test_row_that_sees_nothing_and_a_kind_that_is_not_there_are_refused(translator: Model, written: Record) -> None:
    cells = written.attention("decoder").mask.copy()
    cells[2] = False
    with pytest.raises(SettingError, match="Row 2 sees nothing"):
        with_mask(translator, written, "decoder", cells)
    bert = record("bert")
    with pytest.raises(SettingError, match="kinds encoder"):
        with_mask(loaded.model("bert"), bert, "decoder", np.ones((2, 2), np.bool_))
