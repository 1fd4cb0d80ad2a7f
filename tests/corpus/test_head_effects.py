"""What silencing a head changes: against networks whose head is silenced by hand, and against ``bartviz.ablate``."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import bartviz
from bartviz.analysis import head_names
from bartviz.corpus import head_effects
from bartviz.corpus.encode import Encoded, encode
from bartviz.corpus.head_effects import APPLIES, ELSEWHERE
from bartviz.corpus.pattern_shares import Marks
from bartviz.corpus.read import Line
from bartviz.errors import SettingError
from bartviz.models.model import Model
from bartviz.record.attention import Head, Kind
from tests.support import loaded, networks

TEXTS = ("the cat sat on the mat", "a dog and a man", "the man sat")


def encoded(model: Model, target: str | None = None) -> list[Encoded]:
    return [encode(model, Line(at, "texts", at + 1, text, None, target)) for at, text in enumerate(TEXTS)]


def marks(shape: tuple[int, int], rows: list[int]) -> Marks:
    """The first token is marked in these rows, and nothing in the others."""
    found = np.zeros(shape, np.bool_)
    found[rows, 0] = True
    return Marks(found, np.ones(shape, np.bool_))


def changes(
    model: Model, rows: list[Encoded], head: Head, silenced: list[int], *, side: str = "source"
) -> tuple[np.ndarray, np.ndarray]:
    """(N, 2) changes and numbers of rows of a head."""
    sizes = [len(getattr(row, side)) for row in rows]
    given: list[dict[Kind, Marks]] = [{head.kind: marks((size, size), silenced)} for size in sizes]
    lots = np.arange(32 * len(rows), dtype=np.uint8).reshape(len(rows), 32)
    found = head_effects.effects(model, rows, given, [head], lots)
    return found.changes[:, 0], found.rows[:, 0]


def test_all_rows_of_a_decoder_head_are_what_ablate_silences() -> None:
    """The mean over an output's tokens, where ``ablate`` has the log probabilities of each."""
    model, head = loaded.model("bart"), Head("decoder", 1, 1)
    rows = encoded(model, "the dog sat on a mat")
    every = list(range(len(rows[0].inputs or ())))
    found, counts = changes(model, rows, head, every, side="inputs")
    assert counts.tolist() == [[len(every), 0]] * len(rows)
    assert np.isnan(found[:, ELSEWHERE]).all()
    for text, change in zip(TEXTS, found[:, APPLIES], strict=True):
        record = bartviz.capture(model, text, target="the dog sat on a mat")
        known = bartviz.ablate(model, record, [head], write=False)
        assert known.before is not None
        assert known.after is not None
        each = known.after.log_probability - known.before.log_probability
        assert len(each) == len(every)
        assert change == pytest.approx(each.mean(), abs=2e-6)
        assert abs(change) > 1e-4


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Model:
    options: dict[str, Any] = {"architecture": "BertForSequenceClassification", "id2label": {0: "a", 1: "b", 2: "c"}}
    folder = tmp_path_factory.mktemp("classifier")
    return bartviz.load(networks.save("bert-pretraining", folder, spread=0.3, trained=True, **options))


def test_rows_are_silenced_alone_and_padding_changes_nothing(classifier: Model) -> None:
    """Of an encoder that says a label, by a hook on the projection of its heads."""
    model, head = classifier, Head("encoder", 0, 1)
    rows = encoded(model)
    found, counts = changes(model, rows, head, [1, 2])
    network = copy.deepcopy(model.network)
    network.set_attn_implementation("eager")
    width = network.config.hidden_size // network.config.num_attention_heads
    for row, change, count in zip(rows, found, counts, strict=True):
        others = [at for at in range(len(row.source)) if at not in (1, 2)]
        assert count.tolist() == [2, len(others)]
        for place, silenced in ((APPLIES, [1, 2]), (ELSEWHERE, others)):

            def without(_module: nn.Module, inputs: tuple[Tensor], silenced: list[int] = silenced) -> tuple[Tensor]:
                states = inputs[0].clone()
                states[:, silenced, width : 2 * width] = 0
                return (states,)

            ids = torch.from_numpy(row.source.ids)[None]
            with torch.inference_mode():
                before = network(input_ids=ids).logits.log_softmax(-1)[0]
                projection = network.get_submodule("bert.encoder.layer.0.attention.output.dense")
                hook = projection.register_forward_pre_hook(without)
                after = network(input_ids=ids).logits.log_softmax(-1)[0]
                hook.remove()
            said = before.argmax()
            assert change[place] == pytest.approx(float(after[said] - before[said]), abs=2e-6)
            assert change[place] != 0


@pytest.mark.parametrize(
    ("family", "outcome"),
    [("bart", "the output"), ("gpt2", "the next tokens"), ("bert", "masked words"), ("classifier", "the label")],
)
def test_each_kind_of_model_has_its_outcome(
    family: str, outcome: str, classifier: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head_names, "MARGIN", 0.01)  # more weight than even attention is enough
    model = classifier if family == "classifier" else loaded.model(family)
    assert head_effects.outcome(model) == outcome
    texts = [f"{one} {other}" for one in TEXTS for other in TEXTS]
    for pattern in ("from any to earlier", "from any to not earlier"):  # a head has more than even attention on one
        found = bartviz.find_heads(model, texts, pattern, silence=True, least=0, rate=0.9)
        assert found.outcome == outcome
        assert found.content()["settings"]["silence"] == outcome
        known = found.table["effect"].notna()
        assert known.tolist() == found.table["found"].tolist()
        if known.any():
            break
    assert known.any()


def test_a_model_that_predicts_nothing_is_refused(tmp_path: Path) -> None:
    bare = bartviz.load(networks.save("bert-pretraining", tmp_path, architecture="BertModel"))
    with pytest.raises(SettingError, match="predicts neither"):
        bartviz.find_heads(bare, list(TEXTS), "from any to first token", silence=True)
