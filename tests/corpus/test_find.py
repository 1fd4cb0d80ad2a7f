"""Edges that are found are those of the records, by brute force; a run that is resumed has each once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import unicodedata
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest
from pandas.testing import assert_frame_equal

import bartviz
from bartviz.commands.cli import main
from bartviz.corpus.atlas import Atlas
from bartviz.corpus.read import Columns
from bartviz.corpus.run import corpus
from bartviz.corpus.run_folder import Shard, sealed
from bartviz.corpus.workers import Progress
from bartviz.errors import SettingError
from bartviz.record.record import Record
from tests.support.process import ROOT

LEAST = 0.2
NEAR = 1e-4  # float32: a weight this near to a threshold may be on either side
HOSTILE = "'; DROP TABLE edges; -- \" ? $1 %"
SOURCES = [
    "I want to buy a car.",
    "It is late, and I am tired.",
    "The red car is new.",
    "In 2019 we had 3 dogs.",
    "The man, the woman and the dog.",
    "Where is the house?",
    "I see the cat and the dog.",
    "She has 12 books.",
    "We go home today.",
    "The house is old, but the garden is new.",
    "It's " + HOSTILE,
    "A dog is a dog.",
]
TARGETS = ["Ich will ein Auto kaufen.", "Es ist spät, und ich bin müde.", "Das rote Auto ist neu."] * 4
QUERIES: list[dict[str, Any]] = [
    {},
    {"kind": "encoder", "layer": 0, "head": 1},
    {"key": ",", "where": "earlier", "least": 0.5},
    {"query": "capitalised", "where": "later"},
    {"key": "number"},
    {"key": "punctuation", "query": "special"},
    {"where": -1, "least": 0.3},
    {"where": "same"},
    {"same": True, "least": 0.4},
    {"query": "'"},
    {"query": HOSTILE},
    {"key": "=special"},
    {"kind": "decoder", "key": "capitalised"},
    {"kind": "cross", "same": True},
    {"least": 0.9, "same": False},
]
MODEL_KINDS = {"bert-tiny-en": {"encoder"}, "bart-tiny-en-de": {"encoder", "decoder", "cross"}}


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    folder = tmp_path_factory.mktemp("edges")
    return run("bert-tiny-en", written(folder), folder / "atlas")


def written(folder: Path) -> Path:
    path = folder / "pairs.jsonl"
    rows = [{"en": source, "de": target} for source, target in zip(SOURCES, TARGETS, strict=True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def run(model: str, path: Path, out: Path, **settings: Any) -> Atlas:
    columns = Columns("en", target="de" if model == "bart-tiny-en-de" else None)
    return corpus(path, model, out, columns=columns, size=5, edges=LEAST, **settings)


def every(record: Record, text: str) -> list[dict[str, Any]]:
    """The edges of a record with what the queries ask of them, one by one."""
    found = []
    for kind in record.kinds:
        attention, queries = record.attention(kind), record.rows(kind)
        keys = attention.key
        for layer in range(attention.shape[0]):
            for head in range(attention.shape[1]):
                weights = attention.head(layer, head)
                found += [
                    {
                        "text": text,
                        "kind": kind,
                        "layer": layer,
                        "head": head,
                        "query": row,
                        "key": column,
                        "query_token": queries.labels[row],
                        "key_token": keys.labels[column],
                        "query_special": bool(queries.special[row]),
                        "key_special": bool(keys.special[column]),
                        "weight": float(weights[row, column]),
                    }
                    for row in range(len(queries.labels))
                    for column in range(len(keys.labels))
                ]
    return found


def in_class(token: str, name: str, special: bool) -> bool:
    bare = token.strip(" ⋯")
    if name == "special":
        return special
    if special:
        return False
    if name == "number":
        return bare.replace(",", "").replace(".", "").isdecimal()
    if name == "capitalised":
        return bare[:1].isupper()
    return bool(bare) and all(unicodedata.category(sign).startswith("P") for sign in bare)


def matches(edge: dict[str, Any], query: dict[str, Any]) -> bool:
    for name, value in query.items():
        distance = edge["key"] - edge["query"]
        if name in {"kind", "layer", "head"}:
            right = edge[name] == value
        elif name in {"query", "key"} and value in {"number", "punctuation", "capitalised", "special"}:
            right = in_class(edge[f"{name}_token"], value, edge[f"{name}_special"])
        elif name in {"query", "key"}:
            right = edge[f"{name}_token"] == value.removeprefix("=")
        elif name == "where":
            known = {"earlier": distance < 0, "later": distance > 0, "same": distance == 0}
            right = edge["kind"] != "cross" and known.get(value, distance == value)
        elif name == "same":
            right = (edge["query_token"] == edge["key_token"]) == value
        else:
            right = True  # the weight is compared by the caller
        if not right:
            return False
    return True


PLACES = ["text", "kind", "layer", "head", "query", "key", "query_token", "key_token"]


@pytest.mark.some(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["bert-tiny-en", "bart-tiny-en-de"])
def test_what_is_found_is_what_brute_force_finds_in_the_records(name: str, tmp_path: Path) -> None:
    atlas = run(name, written(tmp_path), tmp_path / "a[1]*")
    model = bartviz.load(name)
    edges: list[dict[str, Any]] = []
    for source, target in zip(SOURCES, TARGETS, strict=True):
        edges += every(bartviz.capture(model, source, target=target if name.startswith("bart") else None), source)
    some = 0
    for query in QUERIES:
        if query.get("kind", "encoder") not in MODEL_KINDS[name]:
            continue
        least = max(LEAST, query.get("least", 0))
        right = {tuple(edge[key] for key in PLACES): edge["weight"] for edge in edges if matches(edge, query)}
        found = atlas.find(limit=10**6, **query)
        got = {tuple(row[key] for key in PLACES): row["weight"] for row in found.edges.to_dict("records")}
        assert found.count == len(found.edges) == len(got)
        assert {key for key, weight in right.items() if weight > least + NEAR} <= got.keys() <= right.keys(), query
        assert all(abs(weight - right[key]) < NEAR and weight >= least for key, weight in got.items())
        for limit in (1, 7):
            best = atlas.find(limit=limit, **query)
            assert best.count == found.count
            assert_frame_equal(best.edges, found.edges.head(limit))
        assert atlas.find(limit=0, **query).edges.empty
        apart = atlas.find(limit=10**6, unique=True, **query)
        assert apart.count == found.count
        assert_frame_equal(apart.edges, found.edges.drop_duplicates(["text", "pair", "target"], ignore_index=True))
        assert_frame_equal(atlas.find(limit=2, unique=True, **query).edges, apart.edges.head(2))
        some += found.count > 0
    assert some >= 8


def test_a_run_that_was_stopped_has_every_edge_once(tmp_path: Path) -> None:
    path = written(tmp_path)
    whole = run("bert-tiny-en", path, tmp_path / "whole").find(limit=10**6)

    def stop(_progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run("bert-tiny-en", path, tmp_path / "stopped", report=stop)
    resumed = run("bert-tiny-en", path, tmp_path / "stopped", resume=True).find(limit=10**6)
    assert resumed.count == whole.count > 0
    assert_frame_equal(resumed.edges, whole.edges)
    assert not resumed.edges.duplicated().any()


STOPPED = """
import ctypes, os, signal, sys
import psutil
from bartviz.corpus.read import Columns
from bartviz.corpus.run import corpus
from bartviz.errors import Cancelled
path, out, which = sys.argv[1:]
killed = []
def report(progress):
    if not killed:
        children = psutil.Process().children(recursive=True)
        killed.extend(child.pid for child in children if "spawn_main" in " ".join(child.cmdline()))
        open(out + ".workers", "w").write(" ".join(map(str, killed)))
        sys.setswitchinterval(60)
        ctypes.PyDLL(None).sleep(3)  # nobody else runs in this process: a worker that replies waits in its reply
        os.kill(killed[0] if which == "worker" else os.getpid(), signal.SIGKILL)
        sys.setswitchinterval(0.005)
if __name__ == "__main__":
    try:
        corpus(path, "bert-tiny-en", out, columns=Columns("en"), size=1, edges=0.2, workers=2, report=report)
    except Cancelled:
        sys.exit(9)
"""


def lives(process: int) -> bool:
    try:
        return bool(psutil.Process(process).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize(("which", "status"), [("worker", 9), ("driver", -signal.SIGKILL)])
def test_every_edge_is_there_once_after_a_worker_or_the_run_was_killed(which: str, status: int, tmp_path: Path) -> None:
    path, out = written(tmp_path), tmp_path / "stopped"
    script = tmp_path / "stopped.py"  # a file, for workers are started by spawning
    script.write_text(STOPPED, encoding="utf-8")
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(script), str(path), str(out), which], check=False, env=environment, timeout=300
    )
    assert done.returncode == status
    workers = [int(word) for word in out.with_suffix(".workers").read_text("utf-8").split()]
    patience = time.monotonic() + 60
    while any(lives(worker) for worker in workers):  # none waits for a run that is gone
        assert time.monotonic() < patience
        time.sleep(0.1)
    finished = {file.name[:6] for file in (out / "shards").glob("0*.shard")}
    assert 0 < len(finished) < len(SOURCES)
    assert finished <= {file.stem for file in (out / "edges").glob("*.parquet")}
    (out / "edges" / "000011.parquet").write_bytes(b"of a part that has no shard")
    (out / "edges" / "000010.parquet.1.part").write_bytes(b"half a file")
    columns = Columns("en")
    corpus(path, "bert-tiny-en", out, columns=columns, size=1, edges=LEAST, resume=True)
    right = corpus(path, "bert-tiny-en", tmp_path / "whole", columns=columns, size=1, edges=LEAST)
    resumed, whole = bartviz.open_atlas(out).find(limit=10**6), right.find(limit=10**6)
    assert resumed.count == whole.count > 0
    order = ["line", "layer", "head", "query", "key"]  # that of the weights may differ where two are almost equal
    first, second = (found.edges.sort_values(order, ignore_index=True) for found in (resumed, whole))
    assert_frame_equal(first, second, rtol=1e-5)
    assert not resumed.edges.duplicated(["text", "kind", "layer", "head", "query", "key"]).any()
    assert not list(out.rglob("*.part"))


def test_parts_without_edges_do_not_disturb_those_that_have_some(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("A dog is a dog.\nI see the cat and the dog.\nYes.\n", encoding="utf-8")
    atlas = corpus(path, "bert-tiny-en", tmp_path / "atlas", size=1, edges=0.9999)
    kept = [len(pd.read_parquet(file)) for file in sorted((atlas.path / "edges").iterdir())]
    assert kept[0] == 0 < sum(kept)  # the first file is the one whose columns are read for all
    for query in ({}, {"same": False}, {"query": "no such token"}):
        edges = atlas.find(limit=10**6, **query).edges
        assert len(edges) == (0 if "query" in query else sum(kept))


def test_without_the_option_nothing_is_kept(tmp_path: Path) -> None:
    atlas = corpus(written(tmp_path), "bert-tiny-en", tmp_path / "atlas", columns=Columns("en"))
    assert not any(path.is_dir() for path in atlas.path.iterdir() if path.name != "shards")
    with pytest.raises(SettingError, match="--edges"):
        atlas.find(layer=0)


def test_the_command_prints_the_edges_and_names_the_fields(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    atlas = run("bert-tiny-en", written(tmp_path), tmp_path / "atlas")
    capsys.readouterr()
    assert main(["find", str(atlas.path), "layer=0", "where=earlier", "--limit", "3", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["count"] == atlas.find(layer=0, where="earlier").count
    assert len(printed["edges"]) == 3
    assert main(["find", str(atlas.path), "colour=red"]) == 2
    assert "kind, layer, head, query, key, where, least, same" in capsys.readouterr().err
    for word in ("layer=first", "where=nowhere", "same=maybe", "kind=other"):
        assert main(["find", str(atlas.path), word]) == 2
    for fields in ({"layer": 1.7}, {"head": True}, {"where": 0.5}):
        with pytest.raises(SettingError, match="whole number"):
            atlas.find(**fields)
    assert isinstance(atlas.find(layer=0).edges, pd.DataFrame)


def test_a_sentence_that_is_repeated_is_shown_once_where_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("It is late.\n" * 4 + "We go home today.\n", "utf-8")
    atlas = corpus(path, "bert-tiny-en", tmp_path / "atlas", edges=LEAST)
    every, once = atlas.find(layer=0, limit=10**6), atlas.find(layer=0, unique=True)
    assert every.count == once.count
    assert once.edges["line"].tolist() in ([1, 5], [5, 1])
    assert once.edges["weight"].tolist() == every.edges.groupby("text")["weight"].max().loc[once.edges["text"]].tolist()
    capsys.readouterr()
    assert main(["find", str(atlas.path), "layer=0", "--unique"]) == 0
    assert "2 shown, each of another text" in capsys.readouterr().out
    assert main(["find", str(atlas.path), "unique=true"]) == 2
    assert "--unique" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"limit": -1}, "from 0 to 1,000,000"),
        ({"limit": 10**30}, "from 0 to 1,000,000"),
        ({"limit": 1.5}, "from 0 to 1,000,000"),
        ({"colour": "red"}, "There is no field colour. The fields are kind, layer"),
        ({"kind": []}, "The kind is one of encoder, decoder, cross"),
        ({"kind": "cross"}, "The field kind of this model is encoder"),
        ({"layer": 99}, "The field layer of this model is 0 to"),
        ({"layer": 10**30}, "whole number"),
        ({"head": -1}, "The field head of this model is 0 to"),
        ({"head": []}, "whole number"),
        ({"key": []}, "one of number, punctuation, capitalised, special"),
        ({"query": ""}, "one of number, punctuation, capitalised, special"),
        ({"where": []}, "or one of earlier, later, same"),
        ({"where": 10**30}, "or one of earlier, later, same"),
        ({"least": float("nan")}, "from 0 to 1"),
        ({"least": []}, "The field least is a number"),
        ({"least": -0.1}, "from 0 to 1"),
        ({"same": []}, "true or false"),
    ],
)
def test_what_cannot_be_searched_is_refused_with_the_choices(atlas: Atlas, fields: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingError, match=said):
        atlas.find(**fields)


def test_a_least_weight_below_that_of_the_run_warns(atlas: Atlas, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.warns(UserWarning, match="stores edges above 0.2: weaker ones are not counted"):
        found = atlas.find(least=0.1)
    assert found.count == atlas.find().count == atlas.find(least=LEAST).count
    assert main(["find", str(atlas.path), "least=0.1", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["count"] == found.count
    assert printed.err == "This atlas stores edges above 0.2: weaker ones are not counted.\n"


def test_a_token_that_is_an_equals_sign_can_be_searched(atlas: Atlas) -> None:
    assert atlas.find(key="=").count == atlas.find(key="==").count == 0


def test_edges_are_kept_once_and_sorted_so_that_heads_are_apart(atlas: Atlas) -> None:
    for file in (atlas.path / "shards").iterdir():
        assert not Shard.unpack(file.read_bytes()[len(sealed("", b"")) :]).tables
        assert b"edges" not in file.read_bytes()
    for file in (atlas.path / "edges").iterdir():
        table = pd.read_parquet(file, columns=["kind", "layer", "head", "weight"]).astype({"kind": str})
        right = table.sort_values(["kind", "layer", "head", "weight"], ascending=[True, True, True, False])
        assert_frame_equal(table, right, check_like=False)
