"""Totals by part, shared matrices, the sentence that a page shows, and the comparison with a build."""

from __future__ import annotations

import pytest

from bartviz.analysis import parameter_totals
from bartviz.analysis.parameters import Parameter, configuration, rows, total
from bartviz.families.catalogue import CATALOGUE


def found(name: str, architecture: str | None = None) -> tuple[Parameter, ...]:
    return rows(configuration(name), architecture)


@pytest.mark.parametrize("name", [known.name for known in CATALOGUE])
def test_parts_and_components_add_up_to_the_model(name: str) -> None:
    mine = found(name)
    assert sum(parameter_totals.parts(mine).values()) == total(name)
    table = parameter_totals.by_component(mine)
    assert table["counted"].sum() == parameter_totals.total(mine) == total(name)
    assert table["used"].sum() == parameter_totals.naive(mine) >= total(name)


def test_bart_base_in_parts() -> None:
    mine = found("facebook/bart-base")
    positions, norm = 1026 * 768, 2 * 768
    assert parameter_totals.parts(mine) == {
        "embeddings": 50_265 * 768 + 2 * (positions + norm),
        "encoder layers": 6 * 7_087_872,
        "decoder layers": 6 * 9_451_776,
        "head": 0,
    }
    (matrix,) = parameter_totals.shared(mine)
    assert (matrix.name, matrix.shape) == ("model.shared.weight", (50_265, 768))
    assert matrix.uses == ("encoder input", "decoder input", "output layer")
    assert parameter_totals.naive(mine) == 139_420_416 + 3 * 50_265 * 768


def test_a_matrix_kept_in_its_first_place_is_used_there_too() -> None:
    (matrix,) = parameter_totals.shared(found("gpt2"))
    assert matrix.uses == ("decoder input", "output layer")
    weight, bias = parameter_totals.shared(found("bert-base-uncased", "BertForMaskedLM"))
    assert weight.uses == ("encoder input", "output layer")
    assert (bias.name, bias.elements) == ("cls.predictions.bias", 30_522)
    assert parameter_totals.shared(found("bert-base-uncased")) == ()
    assert parameter_totals.shared(found("albert-base-v2")) == ()


def test_shares_of_a_layer() -> None:
    mine = found("facebook/bart-base")
    attention, feed_forward, norm = 4 * (768 * 768 + 768), 2 * 768 * 3072 + 3072 + 768, 2 * 768
    assert parameter_totals.layer_share(mine, "encoder", "feed-forward") == pytest.approx(
        (feed_forward + norm) / (attention + feed_forward + 2 * norm)
    )
    shares = [parameter_totals.layer_share(mine, "decoder", name) for name in parameter_totals.SUBLAYERS]
    assert sum(shares) == pytest.approx(1)
    assert parameter_totals.layer_share(mine, "head", "feed-forward") == 0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("facebook/bart-base", "× 768, serves as encoder input, decoder input and output layer: 28%, counted"),
        ("gpt2", "Of 124,439,808 parameters 68% are in the decoder layers. One matrix, 50,257 tokens"),
        ("t5-large", "decoder input and output layer: 4.5%, counted once."),
        ("bert-base-uncased", "Of 109,482,240 parameters 78% are in the encoder layers; no matrix is used twice."),
        ("albert-base-v2", "12 layers share one set of weights: 11,683,584 parameters do the work of 89,650,176."),
    ],
)
def test_the_one_thing_to_notice(name: str, said: str) -> None:
    assert said in parameter_totals.notice(found(name))


def test_compare_names_what_differs() -> None:
    mine = found("gpt2")
    same = {row.name: (row.shape, row.shared_with, True) for row in mine}
    result = parameter_totals.compare(mine, same)
    assert result.passed
    assert (result.equal, result.closed, result.built) == (len(mine), 124_439_808, 124_439_808)
    changed = dict(same) | {"transformer.wpe.weight": ((1, 768), None, True), "extra.weight": ((2,), None, True)}
    changed |= {"lm_head.weight": ((50_257, 768), None, True)}
    del changed["transformer.ln_f.bias"]
    result = parameter_totals.compare(mine, changed)
    assert not result.passed
    assert result.different == ("transformer.wpe.weight", "lm_head.weight")
    assert (result.missing, result.unexpected) == (("transformer.ln_f.bias",), ("extra.weight",))
    assert result.built == 124_439_808 - 1023 * 768 - 768 + 2 + 50_257 * 768


def test_two_models_differ_most_in_one_part() -> None:
    bart, bert = found("facebook/bart-base"), found("bert-base-uncased")
    names = ("bart", "bert")
    said = parameter_totals.difference(bart, bert, names)
    times = parameter_totals.total(bart) / parameter_totals.total(bert)
    most = parameter_totals.parts(bart)["decoder layers"]
    assert said == (
        f"bart has {times:.2f} times as many parameters as bert; they differ most in the decoder layers: {most:,} "
        "against 0."
    )
    assert parameter_totals.difference(bert, bart, names[::-1]) == said
    assert parameter_totals.difference(bart, bart, ("a", "b")) == (
        "a and b have equally many parameters in every part."
    )


def test_the_parts_of_two_models_stand_side_by_side() -> None:
    bart, bert = found("facebook/bart-base"), found("bert-base-uncased")
    table = parameter_totals.beside(bart, bert, ("bart", "bert"))
    assert list(table.columns) == ["part", "bart", "bert"]
    assert list(table.iloc[-1])[1:] == [parameter_totals.total(bart), parameter_totals.total(bert)]
    assert (table.iloc[:-1][["bart", "bert"]].sum() == table.iloc[-1][["bart", "bert"]]).all()
    assert list(parameter_totals.beside(bart, bart, ("x", "x")).columns) == ["part", "x (1)", "x (2)"]
