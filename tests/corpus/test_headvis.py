"""HeadVis folders: read back by our reader and by one that was written from the format's README alone."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bartviz
from bartviz.commands.cli import main
from bartviz.corpus.headvis_folder import HeadVis
from bartviz.errors import SettingError, TextError
from bartviz.models.model import Model
from bartviz.record.record import Record
from tests.support import loaded, networks

TEXTS = [*networks.SENTENCES, "A dog sees a dog and a dog.", "the cat sat on the mat and the cat sat on the dog"]


@pytest.fixture(scope="module")
def model() -> Model:
    return loaded.model("gpt2")


@pytest.fixture(scope="module")
def records(model: Model) -> list[Record]:
    return [bartviz.capture(model, text) for text in TEXTS]


@pytest.fixture(scope="module")
def written(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("exports")
    return bartviz.save_headvis(out, TEXTS, model, dataset="two/sets", model_id="gpt2-small", intervals=3, samples=2)


def independent(root: Path) -> dict[str, Any]:
    """The tree as its README describes it, without a line of ours: config, rows, and per head its sequences."""
    assert json.loads((root / "server_config.json").read_text()) == {}
    assert json.loads((root / "attributions" / "manifest.json").read_text()) == {}
    config = json.loads((root / "config.json").read_text())
    for name in ("model_name", "dataset_name", "n_sequences", "seq_len", "dtype", "attn_implementation"):
        assert name in config["pipeline_config"]
    heads = {}
    for layer, head in config["heads"]:
        whole = json.loads((root / "heads" / f"L{layer}H{head}.json").read_text())
        sequences = []
        for one in whole["sequences"]:
            length = len(one["tokens"])
            matrix = np.zeros((length, length))
            for place, value in zip(one["attention_indices"], one["attention_values"], strict=True):
                matrix[place // length, place % length] = value
            sequences.append((one["interval"], one["max_activation"], one["tokens"], matrix))
        heads[layer, head] = sequences, whole
    return {"config": config, "rows": json.loads((root / "scatter_data.json").read_text()), "heads": heads}


def test_the_tree_is_that_of_the_readme(written: Path) -> None:
    assert written.parts[-3:] == ("gpt2-small", "headvis", "two-sets")
    read = independent(written)
    assert len(read["rows"]) == len(read["heads"]) == 12
    assert {file.name for file in (written / "heads").iterdir()} == {
        f"L{layer}H{head}.json" for layer in range(3) for head in range(4)
    }
    names = {"layer", "head", "self_attention_score", "prev_token_score", "pattern_entropy", "qk_distance"}
    assert all({*row} == names | {"qk_distance_variance", "induction_score"} for row in read["rows"])
    for sequences, whole in read["heads"].values():
        assert {*whole} == {
            *("sequences", "qk_distance_histogram", "top_query_tokens", "top_key_tokens", "histogram", "statistics")
        }
        assert whole["statistics"]["n_samples"] == len(sequences)
        assert sum(whole["histogram"]["bin_values"]) == len(TEXTS)
        assert len(whole["top_key_tokens"]) <= 50


def test_the_numbers_are_those_of_every_weight(written: Path, records: list[Record]) -> None:
    rows = {(row["layer"], row["head"]): row for row in independent(written)["rows"]}
    for (layer, head), row in rows.items():
        sums, tokens, repeated = dict.fromkeys(row, 0.0), 0, 0
        for record in records:
            weights, ids = record.attention("decoder").head(layer, head), record.source.ids.tolist()
            tokens += len(ids)
            for q, now in enumerate(ids):
                sums["self_attention_score"] += float(weights[q, q])
                sums["prev_token_score"] += float(weights[q, q - 1]) if q else 0
                earlier = [p for p in range(q) if ids[p] == now]
                repeated += bool(earlier)
                sums["induction_score"] += sum(float(weights[q, p + 1]) for p in earlier if weights[q, p + 1] >= 0.01)
                for k in range(q + 1):
                    w = float(weights[q, k])
                    sums["pattern_entropy"] -= w * math.log(w) if w else 0
                    sums["qk_distance"] += w * (q - k)
                    sums["qk_distance_variance"] += w * (q - k) ** 2
        assert row["self_attention_score"] == pytest.approx(sums["self_attention_score"] / tokens, abs=2e-6)
        assert row["prev_token_score"] == pytest.approx(sums["prev_token_score"] / (tokens - len(records)), abs=2e-6)
        assert row["pattern_entropy"] == pytest.approx(sums["pattern_entropy"] / tokens, abs=2e-6)
        mean = sums["qk_distance"] / tokens
        assert row["qk_distance"] == pytest.approx(mean, abs=2e-6)
        assert row["qk_distance_variance"] == pytest.approx(sums["qk_distance_variance"] / tokens - mean**2, abs=1e-4)
        assert row["induction_score"] == pytest.approx(sums["induction_score"] / repeated, abs=2e-6)


def test_each_head_shows_its_texts_by_their_largest_weight(written: Path, records: list[Record]) -> None:
    texts = {record.source_text: record for record in records}
    for (layer, head), (sequences, whole) in independent(written)["heads"].items():
        tops = {
            text: float(record.attention("decoder").head(layer, head)[1:, 1:].max()) for text, record in texts.items()
        }
        assert [interval for interval, *_ in sequences] == sorted(interval for interval, *_ in sequences)
        assert {interval for interval, *_ in sequences} <= {1, 2, 3}
        for interval in (1, 2):
            assert sum(own == interval for own, *_ in sequences) <= 2
        highest = [top for interval, top, *_ in sequences if interval == 3]
        assert highest == sorted(highest, reverse=True)
        assert max(tops.values()) == pytest.approx(highest[0], abs=2e-6)
        for _, top, tokens, matrix in sequences:
            record = texts["".join(tokens).replace("\ufffd", "")]
            weights = record.attention("decoder").head(layer, head)
            assert top == pytest.approx(tops[record.source_text], abs=2e-6)
            assert ((matrix > 0).sum(axis=1) <= 8).all()
            np.testing.assert_allclose(matrix[matrix > 0], weights[matrix > 0], atol=2e-6)
            left = np.where(matrix > 0, 0, weights)
            eighth = np.sort(weights, axis=1)[:, -8] if len(tokens) >= 8 else np.zeros(len(tokens))
            assert (left <= np.maximum(eighth, 0.005)[:, None] + 1e-6).all()  # nothing larger was left out
        mass = sum(float(matrix.sum()) for *_, matrix in sequences)
        assert sum(whole["qk_distance_histogram"]["bin_values"]) == pytest.approx(mass, abs=1e-3)


def test_it_is_read_back(written: Path) -> None:
    read = independent(written)
    found = bartviz.open_headvis(written)
    assert isinstance(found, HeadVis)
    assert repr(found) == f"<HeadVis of {read['config']['model_name']}: 12 heads over two/sets>"
    assert bartviz.open_headvis(written.parents[2]).heads.equals(found.heads)  # the exports folder
    for row in read["rows"]:
        line = found.heads[(found.heads["layer"] == row["layer"]) & (found.heads["head"] == row["head"])].iloc[0]
        assert {name: line[name] for name in row} == row
        head = found.head(("decoder", row["layer"], row["head"]))
        sequences, whole = read["heads"][row["layer"], row["head"]]
        assert [one["token"] for one in whole["top_key_tokens"]] == list(head.key_tokens)
        assert list(head.largest.values()) == whole["histogram"]["bin_values"]
        for text, (interval, top, tokens, matrix) in zip(head.texts, sequences, strict=True):
            assert (text.interval, text.largest, list(text.tokens)) == (interval, top, tokens)
            np.testing.assert_allclose(text.weights, matrix, atol=1e-7)
            assert ((text.kept > 0) & (text.kept < 1 + 1e-5)).all()
    with pytest.raises(SettingError, match="no head decoder L9H0"):
        found.head("L9H0")


def test_records_and_texts_give_the_same_folder(written: Path, records: list[Record], tmp_path: Path) -> None:
    again = bartviz.save_headvis(tmp_path, records, dataset="two/sets", model_id="gpt2-small", intervals=3, samples=2)
    for file in sorted(written.rglob("*.json")):
        if file.name != "config.json":
            assert (again / file.relative_to(written)).read_bytes() == file.read_bytes(), file.name


def test_what_cannot_be_shown_is_refused(model: Model, records: list[Record], tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="decoder alone"):
        bartviz.save_headvis(tmp_path, ["A dog."], loaded.model("bart"))
    with pytest.raises(SettingError, match="decoder alone"):
        bartviz.save_headvis(tmp_path, [bartviz.capture(loaded.model("bert"), "A dog.")])
    with pytest.raises(SettingError, match="Texts need a model"):
        bartviz.save_headvis(tmp_path, ["A dog."])
    with pytest.raises(TextError, match=r"^Text 2 of 2: The text is empty"):
        bartviz.save_headvis(tmp_path, ["A dog.", " "], model)
    with pytest.raises(TextError, match="no text of at least two tokens"):
        bartviz.save_headvis(tmp_path, [], model)
    with pytest.raises(SettingError, match="are at least 1"):
        bartviz.save_headvis(tmp_path, records, intervals=0)
    with pytest.raises(SettingError, match="need letters or digits"):
        bartviz.save_headvis(tmp_path, records, dataset="../..")
    assert not list(tmp_path.iterdir())


Change = Callable[[dict[str, Any]], object]
DAMAGES: dict[str, tuple[Change, str]] = {
    "lengths": (lambda one: one["attention_values"].pop(), "one value for each place"),
    "outside": (lambda one: one["attention_indices"].__setitem__(0, 10**6), "outside its matrix"),
    "later": (lambda one: one["attention_indices"].__setitem__(0, 1), "looks at a later one"),
    "negative": (lambda one: one["attention_values"].__setitem__(0, -0.5), "not from 0 to 1"),
    "sum": (lambda one: one.__setitem__("attention_values", [1.0] * len(one["attention_values"])), "more than 1"),
    "tokens": (lambda one: one["tokens"].__setitem__(0, 7), "all texts"),
    "length": (lambda one: one.__setitem__("seq_len", 3), "seq_len that says otherwise"),
    "missing": (lambda one: one.pop("tokens"), "lacks its tokens"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_head_is_refused_by_name(written: Path, tmp_path: Path, name: str) -> None:
    change, said = DAMAGES[name]
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in ("config.json", "scatter_data.json"):
        (copy / file).write_bytes((written / file).read_bytes())
    (copy / "heads").mkdir()
    whole = json.loads((written / "heads" / "L0H0.json").read_text())
    change(whole["sequences"][0])
    (copy / "heads" / "L0H0.json").write_text(json.dumps(whole))
    found = bartviz.open_headvis(copy)
    with pytest.raises(SettingError, match=said) as caught:
        found.head("L0H0")
    assert "heads/L0H0.json" in str(caught.value)
    with pytest.raises(SettingError, match=r"heads/L0H1\.json: it is missing"):
        found.head("L0H1")


@pytest.mark.parametrize(
    ("file", "contents", "said"),
    [
        ("config.json", "{", "it is not JSON"),
        ("config.json", "[]", "no model_name"),
        ("scatter_data.json", "{}", "no list of heads"),
        ("scatter_data.json", '[{"layer": 0, "head": 0}, {"layer": 0, "head": 0}]', "second time"),
        ("scatter_data.json", '[{"layer": 0, "head": 0, "qk_distance": "far"}]', "qk_distance of L0H0 is no number"),
    ],
)
def test_a_damaged_folder_is_refused(written: Path, tmp_path: Path, file: str, contents: str, said: str) -> None:
    for name in ("config.json", "scatter_data.json"):
        (tmp_path / name).write_bytes((written / name).read_bytes())
    (tmp_path / file).write_text(contents)
    with pytest.raises(SettingError, match=said):
        bartviz.open_headvis(tmp_path)


def test_a_folder_without_one_says_what_writes_it(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="bartviz headvis writes one"):
        bartviz.open_headvis(tmp_path)


def test_from_the_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = tmp_path / "own.txt"
    texts.write_text("\n".join(TEXTS[:6]), "utf-8")
    model = str(loaded.folder() / "gpt2-0")
    out = str(tmp_path / "out")
    assert main(["headvis", str(texts), "--model", model, "--out", out, "--model-id", "tiny", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["texts"], said["left_out"]) == (6, 0)
    assert bartviz.open_headvis(said["saved"]).config["pipeline_config"]["n_sequences"] == 6
