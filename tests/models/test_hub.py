"""The hub, on loopback and misbehaving: files arrive as promised, or an error says in time what to do."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from huggingface_hub import constants, try_to_load_from_cache

from bartviz.errors import BudgetError, Cancelled, ModelError
from bartviz.language import Later
from bartviz.models import deadline, hub
from bartviz.models.load import load
from bartviz.models.location import embedded
from tests.support import hub_server, networks, process
from tests.support.hub_server import Hub

NAME = "owner/small-bart"
LONG = 15  # seconds: what is said at once is said sooner, also on a busy machine; who waits for the hub takes longer


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model as it lies on the hub, beside files that nobody needs."""
    place = networks.save("bart", tmp_path_factory.mktemp("served") / "bart", trained=True)
    (place / "README.md").write_text("# A model")
    (place / "pytorch_model.bin").write_bytes(b"pickle" * 1000)
    (place / "modeling_evil.py").write_text("raise SystemExit")
    return place


@pytest.fixture
def server(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub with one model, and an empty cache."""
    with hub_server.running() as running:
        running.add(NAME, folder)
        for name, value in hub_server.settings(running, tmp_path / "cache").items():
            monkeypatch.setenv(name, value)
        for variable in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.delenv(variable, raising=False)
        monkeypatch.setattr(hub, "PAUSE", 0.01)
        yield running


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address at which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))


def refused(name: str = NAME, **options: object) -> str:
    with pytest.raises(ModelError) as caught:
        load(name, **options)  # type: ignore[arg-type]
    assert isinstance(caught.value.args[0], Later)  # told in the language of whoever reads it
    said = str(caught.value)
    assert name not in said or "cannot be reached" in said  # an id, whose signs are checked, where a slip is likely
    assert "127.0.0.1" not in said
    return said


# What goes well -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_model_of_the_hub_is_the_model_that_was_put_there(server: Hub, folder: Path) -> None:
    model, there = load(NAME), load(folder)
    assert model.info.source == "hub"
    assert model.info.name == NAME
    assert model.info.fingerprint == there.info.fingerprint
    assert model.revision == server.find(NAME, "main")[0]  # type: ignore[index]


@pytest.mark.slow
def test_only_the_files_that_are_needed_are_asked_for(server: Hub) -> None:
    load(NAME)
    asked = {path.rsplit("/", 1)[-1] for path in server.paths("/resolve/")}
    assert asked == {
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }


@pytest.mark.slow
def test_a_second_load_fetches_nothing(server: Hub) -> None:
    load(NAME)
    before = len(server.paths("/resolve/"))
    load(NAME)
    assert len(server.paths("/resolve/")) == before


@pytest.mark.slow
def test_a_stored_commit_needs_no_hub(server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = load(NAME).revision
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert load(NAME, revision=commit).revision == commit


@pytest.mark.slow
def test_other_programs_find_it_in_the_cache(server: Hub, tmp_path: Path) -> None:
    load(NAME)
    for name in ("config.json", "model.safetensors"):
        found = try_to_load_from_cache(NAME, name, cache_dir=tmp_path / "cache", revision="main")
        assert isinstance(found, str)
        assert Path(found).is_file()


def test_what_the_library_has_downloaded_is_used(server: Hub, folder: Path, tmp_path: Path) -> None:
    """The library's own layout, written as it writes it: blobs, a snapshot of links, a ref."""
    commit, _ = server.find(NAME, "main") or ("", folder)
    root = tmp_path / "cache" / "models--owner--small-bart"
    snapshot = root / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (root / "blobs").mkdir()
    for path in folder.iterdir():
        shutil.copy(path, root / "blobs" / path.name)
        (snapshot / path.name).symlink_to(f"../../blobs/{path.name}")
    load(NAME)
    assert not server.paths("/resolve/")


def test_progress_ends_at_the_whole(server: Hub) -> None:
    seen: list[tuple[int, int]] = []
    thread: list[int] = []

    def progress(done: int, total: int) -> None:
        seen.append((done, total))
        thread.append(threading.get_ident())

    server.fault("model.safetensors", rate=2_000_000)
    load(NAME, progress=progress)
    assert seen[-1][0] == seen[-1][1] > 250_000
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert set(thread) == {threading.get_ident()}


@pytest.mark.slow
def test_a_revision_is_pinned(server: Hub, tmp_path: Path) -> None:
    other = networks.save("bart", tmp_path / "other", seed=5, trained=True)
    commit = server.add(NAME, other, "v2")
    model = load(NAME, revision="v2")
    assert model.revision == commit
    assert model.info.fingerprint != load(NAME).info.fingerprint
    assert all(f"/resolve/{commit}/" in path for path in server.paths("/resolve/")[:5])


@pytest.mark.slow
def test_a_branch_that_moves_is_followed(server: Hub, tmp_path: Path) -> None:
    before = load(NAME)
    server.add(NAME, networks.save("bart", tmp_path / "other", seed=5, trained=True))
    assert load(NAME).info.fingerprint != before.info.fingerprint


@pytest.mark.slow
def test_sharded_weights_arrive_whole(server: Hub, tmp_path: Path) -> None:
    server.add("owner/shards", networks.save("bart", tmp_path / "shards", shard="100KB"))
    assert load("owner/shards").info.parameters == 66_944


@pytest.mark.slow
def test_a_token_goes_to_the_hub(server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    load(NAME)
    assert {request.token for request in server.requests} == {"Bearer hf_secret"}


def test_an_old_name_leads_to_the_new_one(server: Hub) -> None:
    """The hub answers for bert-base-uncased with the address of google-bert/bert-base-uncased."""
    server.fault("/old-bart/", redirect=("/old-bart/", f"/{NAME}/"))
    assert load("old-bart").info.source == "hub"


@pytest.mark.slow
def test_a_token_stays_with_the_hub(server: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large files come from elsewhere; a broken connection is resumed there too."""
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with hub_server.running() as elsewhere:
        elsewhere.add(NAME, folder)
        elsewhere.fault("model.safetensors", cut=100_000, times=1)
        server.fault("model.safetensors", redirect=("/owner/", f"{elsewhere.url}/owner/"))
        load(NAME)
    assert [(request.token, request.range) for request in elsewhere.requests] == [(None, None), (None, "bytes=100000-")]


# Before the weights ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["unsupported", "over the budget", "no tokenizer"])
def test_a_model_that_would_be_refused_is_not_downloaded(case: str, server: Hub, folder: Path, tmp_path: Path) -> None:
    place = Path(shutil.copytree(folder, tmp_path / "bad"))
    if case == "unsupported":
        networks.edit(place, model_type="bloom")
    if case == "no tokenizer":
        (place / "tokenizer.json").unlink()
    server.add("owner/bad", place)
    with pytest.raises(BudgetError if case == "over the budget" else ModelError):
        load("owner/bad", budget=1000)
    assert not server.paths("model.safetensors")


BOT = {
    "num": 7,
    "title": "Adding `safetensors` variant of this model",
    "author": {"name": "SFconvertbot"},
    "isPullRequest": True,
}


def pickled(server: Hub, folder: Path, tmp_path: Path) -> None:
    place = Path(shutil.copytree(folder, tmp_path / "pickled"))
    (place / "model.safetensors").unlink()
    server.add("owner/pickled", place)
    server.add("owner/pickled", folder, "refs/pr/7")


def test_only_pickles_are_refused_and_nothing_is_fetched(server: Hub, folder: Path, tmp_path: Path) -> None:
    pickled(server, folder, tmp_path)  # nobody says that its other revision is a conversion
    assert "pytorch_model.bin" in refused("owner/pickled")
    assert not server.paths("/resolve/")


@pytest.mark.slow
def test_the_hubs_own_conversion_is_found(
    server: Hub, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several models of the catalogue have pickles on their main branch and the converter's pull request beside it."""
    pickled(server, folder, tmp_path)
    server.discussions["owner/pickled"] = [{**BOT, "num": 3, "title": "Hello"}, BOT]
    model = load("owner/pickled")
    assert "refs/pr/7" in " ".join(model.notices)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert load("owner/pickled").revision == model.revision


@pytest.mark.parametrize(
    "change", [{"author": {"name": "mallory"}}, {"isPullRequest": False}, {"num": "7/../.."}, {"author": 3}]
)
def test_a_conversion_by_another_account_is_rejected(
    change: dict[str, object], server: Hub, folder: Path, tmp_path: Path
) -> None:
    pickled(server, folder, tmp_path)
    server.discussions["owner/pickled"] = [{**BOT, **change}]
    assert "pytorch_model.bin" in refused("owner/pickled")


# What goes wrong ------------------------------------------------------------------------------------------------------


def test_no_such_model(server: Hub) -> None:
    assert "no model of that name" in refused("owner/nothing")


def test_no_such_revision(server: Hub) -> None:
    assert "no such revision" in refused(revision="v9")


@pytest.mark.parametrize(("status", "code"), [(401, "GatedRepo"), (403, "GatedRepo"), (403, None)])
@pytest.mark.parametrize("path", ["/api/", "/resolve/"])
def test_gated(status: int, code: str | None, path: str, server: Hub) -> None:
    server.fault(path, status=status, code=code)
    said = refused()
    assert "conditions" in said
    assert "HF_TOKEN" in said


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/api/", "config.json", "model.safetensors"])
@pytest.mark.parametrize("status", [500, 502, 503])
def test_an_error_of_the_hub_is_reported_at_once(path: str, status: int, server: Hub) -> None:
    server.fault(path, status=status)
    start = time.monotonic()
    assert str(status) in refused()
    assert time.monotonic() - start < LONG


@pytest.mark.slow
def test_a_passing_fault_is_waited_out(server: Hub) -> None:
    server.fault("/api/", status=503, times=2)
    server.fault("model.safetensors", status=500, times=2)
    assert load(NAME).info.source == "hub"


def test_too_many_requests(server: Hub) -> None:
    server.fault("/api/", status=429, retry_after=3600)
    start = time.monotonic()
    assert "3600 seconds" in refused()
    assert time.monotonic() - start < LONG


@pytest.mark.slow
def test_a_short_pause_is_kept(server: Hub) -> None:
    server.fault("/api/", status=429, retry_after=1, times=1)
    start = time.monotonic()
    load(NAME)
    assert time.monotonic() - start >= 1


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/api/", "config.json", "model.safetensors"])
def test_a_hub_that_hangs(path: str, server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "TIMEOUT", 0.4)
    server.fault(path, hang=True)
    start = time.monotonic()
    refused()
    assert time.monotonic() - start < 2 * LONG


@pytest.mark.parametrize("path", ["/api/", "config.json", "model.safetensors"])
def test_the_deadline_holds_however_the_hub_behaves(path: str, server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "TIMEOUT", 60)
    server.fault(path, hang=True)
    start = time.monotonic()
    assert "0.5 seconds" in refused(deadline=0.5)
    assert time.monotonic() - start < LONG


@pytest.mark.slow
def test_a_slow_hub_keeps_what_has_arrived(server: Hub) -> None:
    slow = server.fault("model.safetensors", rate=20_000)  # a quarter of a minute for the whole
    said = refused(deadline=4)
    assert "are kept" in said
    slow.rate = 10_000_000
    load(NAME)
    assert server.requests[-1].range is not None


@pytest.mark.parametrize("path", ["/api/", "config.json", "model.safetensors"])
def test_cancel_is_heard_while_the_hub_is_silent(path: str, server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "TIMEOUT", 60)
    server.fault(path, hang=True)
    cancel = threading.Event()
    asked: list[float] = []

    def soon() -> None:
        hub_server.wait_for(lambda: server.paths(path))
        asked.append(time.monotonic())
        cancel.set()

    thread = threading.Thread(target=soon)
    thread.start()
    with pytest.raises(Cancelled):
        load(NAME, cancel=cancel)
    assert time.monotonic() - asked[0] < LONG
    thread.join()


@pytest.mark.slow
def test_a_broken_connection_is_resumed(server: Hub) -> None:
    server.fault("model.safetensors", cut=100_000, times=1)
    load(NAME)
    asked = [request.range for request in server.requests if "safetensors" in request.path]
    assert asked == [None, "bytes=100000-"]


@pytest.mark.slow
def test_a_connection_that_always_breaks_at_once(server: Hub) -> None:
    server.fault("model.safetensors", cut=0)
    assert "connection" in refused()


@pytest.mark.slow
def test_a_damaged_body_is_never_accepted(server: Hub, tmp_path: Path) -> None:
    """Its length is right and its format too; only the hash tells."""
    server.fault("model.safetensors", flip=True)
    said = refused()
    assert "model.safetensors" in said
    assert "damaged" in said
    assert not list((tmp_path / "cache").rglob("model.safetensors"))
    server.heal()
    assert load(NAME).info.source == "hub"


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_small_files_are_checked_too(name: str, server: Hub) -> None:
    server.fault(name, flip=True)
    assert name in refused()


@pytest.mark.slow
def test_damage_that_passes_is_repaired(server: Hub, folder: Path) -> None:
    server.fault("model.safetensors", flip=True, times=1)
    assert load(NAME).info.fingerprint == load(folder).info.fingerprint


def test_a_body_longer_than_promised(server: Hub, folder: Path) -> None:
    server.fault("model.safetensors", body=(folder / "model.safetensors").read_bytes() + b"x" * 5000)
    assert "more of model.safetensors" in refused()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"sha": "../../x", "siblings": []}',
        b'{"sha": 3, "siblings": []}',
        b'{"sha": "' + b"a" * 40 + b'", "siblings": {}}',
        b"\xff\xfe",
        b"{" * 200_000,
    ],
)
def test_a_hub_with_invalid_answers(answer: bytes, server: Hub) -> None:
    server.fault("/api/", body=answer)
    assert "cannot be understood" in refused()


def test_a_listing_cannot_write_outside_the_cache(server: Hub, tmp_path: Path) -> None:
    """Names with slashes, hashes that are paths, sizes that are none: those entries do not exist for us."""
    entry = {"rfilename": "config.json", "size": 3, "blobId": "a" * 40}
    evil = [
        {**entry, "rfilename": "../../../evil"},
        {**entry, "rfilename": "sub/config.json"},
        {**entry, "rfilename": 3},
        {**entry, "blobId": "../../../evil"},
        {**entry, "size": "3"},
        {**entry, "lfs": {"sha256": "../x"}},
        "text",
        None,
    ]
    server.fault("/api/", body=json.dumps({"sha": "a" * 40, "siblings": evil}).encode())
    refused()
    assert not list(tmp_path.rglob("*evil*"))
    assert not server.paths("/resolve/")


def test_what_is_listed_but_not_there(server: Hub) -> None:
    server.fault("tokenizer_config.json", status=404, code="EntryNotFound")
    assert "does not have" in refused()


# No network -----------------------------------------------------------------------------------------------------------


def test_offline_says_how_to_add_a_model(offline: None) -> None:
    start = time.monotonic()
    said = refused()
    assert time.monotonic() - start < LONG
    assert all(word in said for word in ("folder", "BARTVIZ_MODEL_ROOTS", *embedded()))


def test_a_name_server_that_never_answers(offline: None, monkeypatch: pytest.MonkeyPatch) -> None:
    awake = threading.Event()

    def hang(*_: object, **__: object) -> None:
        awake.wait(60)

    assert hub.REACH_SECONDS < 1
    monkeypatch.setattr(hub, "REACH_SECONDS", 0.3)
    monkeypatch.setattr(socket, "getaddrinfo", hang)
    start = time.monotonic()
    try:
        assert "cannot be reached" in refused()
    finally:
        awake.set()
    assert time.monotonic() - start < LONG


def test_a_name_server_without_an_answer(offline: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.invalid")
    start = time.monotonic()
    assert "cannot be reached" in refused()
    assert time.monotonic() - start < LONG


def test_the_offline_setting_is_obeyed(server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert "cannot be reached" in refused()
    assert not server.requests


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["offline", "500", "hang", "429"])
def test_an_earlier_download_serves_when_the_hub_is_away(
    fault: str, server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = load(NAME)
    if fault == "offline":
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    else:
        monkeypatch.setattr(hub, "TIMEOUT", 0.4)
        server.fault("/api/", hang=fault == "hang", status=None if fault == "hang" else int(fault), retry_after=99)
    again = load(NAME)
    assert again.info == before.info
    assert "earlier download" in " ".join(again.notices)
    assert before.revision is not None
    assert before.revision[:7] in " ".join(again.notices)


def test_what_is_looked_for_is_named_and_a_slip_is_answered_with_a_guess(
    server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match=r"bart-tiny-en-dee is neither a folder.*Do you mean bart-tiny-en-de\?"):
        load("bart-tiny-en-dee")
    with pytest.raises(ModelError, match="me/clf is neither a folder") as refusal:
        load("me/clf")
    assert "Do you mean" not in str(refusal.value)


def test_half_a_download_does_not_serve(server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    server.fault("model.safetensors", status=500)
    refused()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert "cannot be reached" in refused()


@pytest.mark.parametrize(
    "value",
    ["", "ftp://x", "localhost:80", "file:///etc", "http://hub:99999", "http://[::1", "http://hub:port", "http://"],
)
def test_a_bad_endpoint_is_refused_by_name(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", value)
    assert "HF_ENDPOINT" in refused()


@pytest.mark.some(1)
@pytest.mark.slow
@pytest.mark.parametrize("value", ["http://hub:99999", "http://[::1"])
def test_an_endpoint_with_which_the_hubs_library_cannot_be_imported_is_refused_by_name(value: str) -> None:
    script = """
import bartviz
from bartviz.commands.cli import main
from bartviz.errors import ModelError

for name in ("load", "capture", "verify", "edit"):
    try:
        getattr(bartviz, name)
    except ModelError as error:
        assert "HF_ENDPOINT" in str(error), error
    else:
        raise AssertionError(name)
assert bartviz.open("bartviz/embedded/records/start.safetensors").sound
assert main(["capture", "A text.", "--model", "bert-tiny-en"]) == 2
"""
    process.printed(script, os.environ | {"HF_ENDPOINT": value})


def test_the_proxy_is_what_must_be_reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.example")
    assert hub.address({}, lambda _: False) == ("hub.example", 443)
    assert hub.address({"https": "http://proxy:3128"}, lambda _: False) == ("proxy", 3128)
    assert hub.address({"https": "http://proxy:3128"}, lambda _: True) == ("hub.example", 443)
    assert hub.address({"https": "proxy"}, lambda _: False) == ("proxy", 80)


@pytest.mark.parametrize("proxy", ["http://proxy:99999", "http://[::1", "http://"])
def test_an_invalid_proxy_is_reported(proxy: str, server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "getproxies", lambda: {"http": proxy})
    monkeypatch.setattr(hub, "proxy_bypass", lambda _: False)
    assert "HTTPS_PROXY" in refused()


# The disk -------------------------------------------------------------------------------------------------------------


def test_too_little_space_is_reported_before_anything_is_written(server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    full = shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    said = refused()
    assert "not enough disk space" in said
    assert "HF_HUB_CACHE" in said


def test_a_disk_that_becomes_full_during_the_download(server: Hub, folder: Path, tmp_path: Path) -> None:
    digest = hub_server.describe(folder / "model.safetensors")["lfs"]["sha256"]
    blobs = tmp_path / "cache" / "models--owner--small-bart" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / f"{digest}.bartviz.incomplete").symlink_to("/dev/full")  # every write says that the disk is full
    assert "it is full" in refused()


def test_a_cache_that_cannot_be_written(server: Hub, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    said = refused()
    assert "cannot be written" in said
    assert "HF_HUB_CACHE" in said


@pytest.mark.slow
def test_a_killed_download_goes_on_where_it_was(server: Hub, tmp_path: Path) -> None:
    """Another process downloads and is killed half way, without a chance to tidy up."""
    slow = server.fault("model.safetensors", rate=60_000)
    code = f"""
from bartviz.models import deadline, hub
from bartviz.models.location import locate
deadline.run(lambda job: hub.snapshot(locate({NAME!r}), job, inspect=lambda _: None), seconds=60)
"""
    process = subprocess.Popen([sys.executable, "-c", code], env=dict(os.environ), stderr=subprocess.DEVNULL)
    try:
        parts = tmp_path / "cache" / "models--owner--small-bart" / "blobs"
        assert hub_server.wait_for(lambda: _arrived(parts) > 20_000, seconds=90)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    server.faults.remove(slow)
    model = load(NAME)
    last = server.requests[-1].range
    assert last is not None
    assert int(last.removeprefix("bytes=").removesuffix("-")) > 20_000
    assert model.info.source == "hub"


def _arrived(parts: Path) -> int:
    """The bytes of the download that is under way; 0 between two of them."""
    with suppress(FileNotFoundError):
        return max((path.stat().st_size for path in parts.glob("*.incomplete")), default=0)
    return 0


@pytest.mark.slow
def test_two_at_once_download_once(server: Hub) -> None:
    server.fault("model.safetensors", rate=1_000_000)
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(load(NAME).info.fingerprint)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    assert len(set(found)) == 1
    assert len(server.paths("model.safetensors")) == 1


@pytest.mark.slow
def test_a_file_cut_short_in_the_cache_is_fetched_again(server: Hub, tmp_path: Path) -> None:
    load(NAME)
    kept = next((tmp_path / "cache").rglob("model.safetensors")).resolve()
    kept.write_bytes(kept.read_bytes()[:1000])
    assert load(NAME).info.source == "hub"


def flip(path: Path) -> None:
    """One bit of the last byte is another; size and time stay."""
    content, about = bytearray(path.read_bytes()), path.stat()
    content[-1] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns - 10**9))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_flipped_bit_in_the_cache_is_found_and_the_file_fetched_again(name: str, server: Hub, tmp_path: Path) -> None:
    fingerprint = load(NAME).info.fingerprint
    kept = next((tmp_path / "cache").rglob(name)).resolve()
    flip(kept)
    server.requests.clear()
    assert load(NAME).info.fingerprint == fingerprint
    assert len(server.paths("/resolve/")) == 1


def test_a_flipped_bit_is_no_model_when_the_hub_is_away(
    server: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = load(NAME).revision
    flip(next((tmp_path / "cache").rglob("model.safetensors")).resolve())
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    for revision in (None, commit):
        said = refused(revision=revision)
        assert "model.safetensors is damaged" in said


def test_a_file_that_was_checked_is_read_again_only_when_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / ("0" * 64)
    file.write_bytes(b"a model")
    asked: list[int] = []

    class Counting(deadline.Job):
        def check(self) -> None:
            asked.append(1)

    digest = hashlib.sha256(b"a model").hexdigest()
    assert [hub.holds(file, digest, Counting(9)) for _ in range(3)] == [True] * 3
    assert len(asked) == 1
    flip(file)
    assert not hub.holds(file, digest, Counting(9))
    assert not hub.holds(tmp_path / "none", digest, Counting(9))


@pytest.mark.parametrize("size", [-1, "3", None, True])
def test_a_size_that_is_none_is_the_hubs_fault(size: object, server: Hub, folder: Path) -> None:
    files = [hub_server.describe(path) for path in sorted(folder.iterdir()) if path.is_file()]
    files = [file | {"size": size} if file["rfilename"] == "model.safetensors" else file for file in files]
    server.fault("/revision/", body=json.dumps({"sha": "a" * 40, "siblings": files}).encode())
    assert "does not give the size and hash of model.safetensors" in refused()


def test_the_cache_folder_follows_the_hubs_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert hub.cache_folder() == Path(constants.HF_HUB_CACHE)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    assert hub.cache_folder() == tmp_path / "hub"
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "there"))
    assert hub.cache_folder() == tmp_path / "there"
