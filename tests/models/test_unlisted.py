"""Model types that nobody has listed: read as the family whose matrices they have, or refused with the reason.

That such a network is recorded exactly, ``tests/run``, ``tests/tape`` and the others show with ``ernie4_5``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM, LlamaModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES
from transformers.models.llama.modeling_llama import LlamaAttention

import bartviz
from bartviz.analysis.parameters import parameters
from bartviz.errors import ModelError, RecordError
from bartviz.families import registry
from bartviz.families.registry import FAMILIES
from bartviz.models import files, unlisted
from bartviz.record.record import ModelInfo, open_record
from tests.support import loaded, networks

LIBRARY: Any = vars(unlisted)["transformers"]  # the one that the code sees: the library replaces itself once
TYPE = "ernie4_5"
TEXT = "The cat is sleeping on the sofa."


def network(kind: str, **config: Any) -> tuple[Any, Any]:
    """A small network of a class whose configuration has Llama's words, and a tokenizer."""
    words = networks.tokenizer("llama")
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
    chosen = getattr(LIBRARY, kind).config_class(
        vocab_size=len(words),
        intermediate_size=48,
        head_dim=8,
        pad_token_id=None,
        bos_token_id=None,
        eos_token_id=None,
        **sizes,
        **config,
    )
    torch.manual_seed(0)
    made = getattr(LIBRARY, kind)(chosen)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(0, 0.3)
    return made.eval(), words


@pytest.mark.parametrize("kind", ["HeliumForCausalLM", "MinistralForCausalLM", "Ministral3ForCausalLM"])
def test_every_head_is_that_of_eager_attention(kind: str) -> None:
    made, words = network(kind)
    made.set_attn_implementation("eager")
    record = bartviz.capture(made, TEXT, tokenizer=words)
    with torch.inference_mode():
        eager = made(input_ids=torch.tensor([record.source.ids.tolist()]), output_attentions=True).attentions
    for layer, weights in enumerate(eager):
        np.testing.assert_allclose(record.attention("decoder").layer(layer), weights[0].numpy(), atol=2e-6)
    assert record.sound
    assert record.model.family not in FAMILIES
    assert record.model.like == record.model.known.like == "llama"


def test_model_and_record_say_that_nobody_has_verified_it(tmp_path: Path) -> None:
    model = loaded.model(TYPE)
    assert "nobody has verified" in model.notices[-1]
    assert "equals that of eager attention" in model.notices[-1]
    record = bartviz.capture(model, TEXT)
    assert record.provenance.notices == model.notices
    assert sum(parameters(model)["count"]) == model.info.parameters
    record.save(tmp_path / "made.safetensors")
    opened = open_record(tmp_path / "made.safetensors")
    assert opened.sound
    assert opened.model == record.model
    assert opened.model.known.kind == "decoder"


def test_a_record_opens_where_no_model_was_loaded(tmp_path: Path) -> None:
    """In a process that has never seen the type, and has no torch."""
    bartviz.capture(loaded.model(TYPE), TEXT).save(tmp_path / "made.safetensors")
    code = (
        "import sys, bartviz; record = bartviz.open(sys.argv[1]); known = record.model.known;"
        "print(known.title, known.like, known.norm, record.sound, 'torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "made.safetensors")], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [TYPE, "llama", "pre", "True", "False"]


@pytest.mark.parametrize("model_type", ["ibert", "mvp", "mpnet", "bloom", "t5gemma", "no-such-type", "../bert"])
def test_a_type_without_a_relative_is_refused_by_its_name(model_type: str, tmp_path: Path) -> None:
    """Some have the matrices of a listed family (I-BERT, MVP) and do not offer their attention."""
    folder = networks.save("llama", tmp_path)
    networks.edit(folder, model_type=model_type, architectures=...)
    with pytest.raises(ModelError, match="model_type must be"):
        bartviz.load(folder)
    assert not registry.is_known(model_type)


def test_a_checkpoint_that_is_built_otherwise_than_its_type_is_refused() -> None:
    """Biases that the type can have and the listed family has not."""
    made, words = network("Ernie4_5ForCausalLM", use_bias=True)
    with pytest.raises(ModelError, match=r"ernie4_5 are not listed\. Most have the matrices of Llama; this one"):
        bartviz.wrap(made, words)


class OtherAttention(LlamaAttention):  # type: ignore[misc]
    """Llama's matrices, and eager attention that is shared out otherwise."""

    def forward(self, hidden_states: torch.Tensor, **kwargs: Any) -> Any:
        found, weights = super().forward(hidden_states, **kwargs)
        return (found * 1.01 if self.config._attn_implementation == "eager" else found), weights


class OtherConfig(LlamaConfig):  # type: ignore[misc]
    model_type = "other"


class OtherModel(LlamaModel):  # type: ignore[misc]
    config_class = OtherConfig

    def __init__(self, config: OtherConfig) -> None:
        super().__init__(config)
        for number, layer in enumerate(self.layers):
            layer.self_attn = OtherAttention(config, number)


class OtherForCausalLM(LlamaForCausalLM):  # type: ignore[misc]
    config_class = OtherConfig

    def __init__(self, config: OtherConfig) -> None:
        super().__init__(config)
        self.model = OtherModel(config)


def test_a_type_that_computes_something_else_with_the_same_matrices_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    CONFIG_MAPPING.register("other", OtherConfig, exist_ok=True)
    monkeypatch.setitem(MODEL_MAPPING_NAMES, "other", "OtherModel")
    for kind in (OtherModel, OtherForCausalLM):
        monkeypatch.setattr(LIBRARY, kind.__name__, kind, raising=False)
    made, words = network("OtherForCausalLM")
    with pytest.raises(ModelError, match=r"other are not listed\. They have the matrices of Llama, but compute"):
        bartviz.wrap(made, words)


@pytest.mark.parametrize(
    ("family", "like"), [("bert", "llama"), ("helium", "no-family"), ("Helium!", "llama"), ("helium", "")]
)
def test_no_record_can_claim_another_relation(family: str, like: str) -> None:
    made = bartviz.capture(loaded.model(TYPE), TEXT).model
    values = {name: getattr(made, name) for name in ModelInfo.__dataclass_fields__}
    with pytest.raises(RecordError):
        ModelInfo(**values | {"family": family, "like": like})


def test_a_folder_of_the_list_is_not_refused_before_it_is_tried(tmp_path: Path) -> None:
    networks.save(TYPE, tmp_path / "mine")
    assert files.unfit("mine", (tmp_path,)) is None
    (tmp_path / "mine" / "config.json").write_text(json.dumps({"model_type": "no_such_type"}))
    assert "model_type must be" in str(files.unfit("mine", (tmp_path,)))
