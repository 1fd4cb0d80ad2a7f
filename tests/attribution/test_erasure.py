"""Leave-one-out against the eager network, one text at a time; and what stands in place of a word."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
import torch

import bartviz
from bartviz.attribution.erasure import replacement
from bartviz.errors import SettingError
from bartviz.models.model import Model
from tests.attribution import subjects
from tests.support import loaded, networks


@pytest.mark.slow
@pytest.mark.some("bart", "t5", "gpt2", "bert", "roberta")
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_a_loss_is_that_of_a_text_with_another_token(family: str) -> None:
    model, one, module = loaded.model(family), subjects.record(family), subjects.network(family)
    rows, ids = subjects.steps(family)
    found = bartviz.attribute(model, one)
    token = replacement(model)
    sides = [("source", one.source, found.values)]
    if found.earlier_values is not None:
        sides.append(("target", one.attention("decoder").query, found.earlier_values))
    with torch.no_grad():
        own = subjects.log_p(module, subjects.given(one), rows, ids)
        for name, tokens, values in sides:
            assert not values[:, tokens.special].any()
            for place in np.flatnonzero(~tokens.special)[:4].tolist():
                changed = tokens.ids.copy()
                changed[place] = token
                lost = own - subjects.log_p(module, subjects.given(one, **{name: changed}), rows, ids)
                near = 2e-4 * max(1.0, float(lost.abs().max()))
                np.testing.assert_allclose(values[:, place], lost.numpy(), atol=near)


def pretended(**ids: int | None) -> Model:
    known: dict[str, int | None] = dict.fromkeys(("mask_token_id", "unk_token_id", "pad_token_id", "eos_token_id"))
    words = SimpleNamespace(**(known | ids))
    return cast(Model, SimpleNamespace(tokenizer=words, info=SimpleNamespace(vocabulary=10)))


def test_a_mask_stands_in_place_of_a_word_and_without_one_the_next_best() -> None:
    assert replacement(pretended(mask_token_id=4, unk_token_id=3)) == 4
    assert replacement(pretended(unk_token_id=3, pad_token_id=1)) == 3
    assert replacement(pretended(mask_token_id=10, eos_token_id=0)) == 0  # 10 is outside of the vocabulary
    with pytest.raises(SettingError, match="no token that could stand in place"):
        replacement(pretended())
