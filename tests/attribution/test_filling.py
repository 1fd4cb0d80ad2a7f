"""What stands in gaps: the denoiser's words against its network run plainly, and which model is asked."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch

import bartviz
from bartviz.attribution.filling import filler_of, known
from bartviz.attribution.question import asked
from bartviz.attribution.reading import Reading
from bartviz.attribution.removal import Removal
from bartviz.corpus.shipped import NAMES
from bartviz.errors import SettingError
from bartviz.models.model import Model
from tests.support import loaded

TEXT = "You can get in touch with me tomorrow."
GIVEN: dict[str, Any] = {"token": None, "contrast": None, "cancelled": lambda: False}


def plainly(model: Model, ids: list[int], gaps: list[int]) -> list[int]:
    """The text that a denoiser writes from one with masks at these places, token by token and without a cache: its own
    tokens, and at a gap the likeliest word of letters alone that begins with a space and is not the one that was there.
    """
    network: Any = copy.deepcopy(model.network)
    network.set_attn_implementation("eager")
    words, special = model.tokenizer, set(model.tokenizer.all_special_ids)
    masked = [words.mask_token_id if place in gaps else token for place, token in enumerate(ids)]
    written = list(ids)
    for place in gaps:
        reads = [network.config.decoder_start_token_id, *written[:place]]
        with torch.no_grad():
            logits = network(torch.tensor([masked]), decoder_input_ids=torch.tensor([reads])).logits[0, -1]
        for token in logits.argsort(descending=True).tolist():
            text = words.decode([token])
            if text[:1] == " " and text.strip().isalpha() and token not in {*special, ids[place]}:
                written[place] = token
                break
    return written


@pytest.mark.slow
@pytest.mark.parametrize("gone", [[1], [3, 4], [1, 2, 5, 6, 7], [7]])
def test_the_denoiser_writes_the_words_that_fit_its_text(gone: list[int]) -> None:
    model = bartviz.load("bart-tiny-denoise")
    record = bartviz.capture(model, TEXT)
    reading = Reading.of(asked(model, record, step=3, **GIVEN))
    removal = Removal(reading, "fill-in", np.random.default_rng(0))
    sets = np.zeros((3, len(reading.words)), np.bool_)
    sets[0, gone], sets[1, 2] = True, True  # beside others in one pass, and beside a text without gaps
    gaps = [word.start for word in (reading.words[place] for place in gone)]
    assert list(removal.texts(sets)[0].ids) == plainly(model, record.source.ids.tolist(), gaps)
    assert list(removal.texts(sets)[2].ids) == record.source.ids.tolist()


@pytest.mark.slow
def test_guesses_fit_each_other() -> None:
    """Without any of its words the denoiser writes a sentence, and the translator reads it."""
    model = bartviz.load("bart-tiny-en-de")
    reading = Reading.of(asked(model, bartviz.capture(model, TEXT), step=3, **GIVEN))
    (text,) = Removal(reading, "fill-in", np.random.default_rng(0)).texts(np.ones((1, len(reading.words)), np.bool_))
    said = model.tokenizer.decode(text.ids, skip_special_tokens=True)
    assert said[0].isupper()
    assert len(set(said.split())) > len(reading.words) / 2  # and not one word again and again


@pytest.mark.slow
def test_which_model_is_asked() -> None:
    translator, denoiser, masked = (bartviz.load(name) for name in NAMES)
    assert filler_of(masked) is masked
    assert filler_of(denoiser) is denoiser
    assert filler_of(translator).info.name == denoiser.info.name
    assert filler_of(loaded.model("bert")) is loaded.model("bert")
    assert all(map(known, (translator, denoiser, masked, loaded.model("bert"))))
    assert not known(loaded.model("bart"))
    with pytest.raises(SettingError, match="fills no masks of its own"):
        filler_of(loaded.model("bart"))
