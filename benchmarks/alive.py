"""A model alive in one file: its size, and how soon a browser on one core shows what it computes.

The page is opened from the disk by a browser that is offline, and a larger network from a host. A time is what all
threads of the browser take of one core, from what a visitor does to the second frame after the pictures are there: what
a visitor waits for where that core has nothing else to do. How long it took on this machine, as busy as it was, stands
beside it.
"""

from __future__ import annotations

import functools
import json
import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import torch
import transformers
from playwright.sync_api import Browser, Page, Request, sync_playwright

import bartviz
from bartviz.explorer import live
from bartviz.families.catalogue import entry
from bartviz.models.model import Model
from bartviz.text import tokenize
from scripts.serving import CHROMIUM, QUIET

TRANSLATOR = "bart-tiny-en-de"
SHIPPED = (TRANSLATOR, "bert-tiny-en", "bart-tiny-denoise")
LARGE = "facebook/bart-base"
LARGE_TOKENS = 64
FURTHER = 8  # steps after the first one
TOKEN = 500  # what each of them writes
PATIENCE = 300_000  # milliseconds
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"

# 50 texts of 12 words.
_WHO = ("teacher", "woman", "boy", "doctor", "farmer")
_WHAT = ("car", "house", "book", "table", "dog")
TEXTS = [
    f"The {who} wants to buy a {size} {what} for his old friend."
    for who, what, size in product(_WHO, _WHAT, ("new", "small"))
]

# What the page notes of itself: shifts of its layout, and whether its picture is there.
_WATCH = """(patience) => {
    const seen = (window.seen = { shift: 0 });
    const watch = (type, each) => new PerformanceObserver((list) => list.getEntries().forEach(each)).observe(
        { type, buffered: true });
    watch("layout-shift", ({ value }) => (seen.shift += value));
    window.frames2 = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    window.until = (node, options, holds) => new Promise((done, fail) => {
        const observer = new MutationObserver(() => { if (holds()) { observer.disconnect(); done(); } });
        observer.observe(node, options);
        setTimeout(() => fail(new Error(`nothing came in ${patience} ms`)), patience);
    });
    window.part = (name) => document.querySelector(`[data-is=${name}]`);
    seen.shown = until(document, { subtree: true, attributes: true, attributeFilter: ["data-ready"] },
        () => document.documentElement.dataset.ready).then(frames2);
}"""
# The model has been read.
_READ = "async () => { await bartviz.model; await frames2(); }"
# A press of a button, to the second frame after canvas and player show the record that follows.
_REDRAWN = """async ([button, text]) => {
    if (text) part("text").value = text;
    const pictures = ["canvas", "player"].map((name) =>
        until(part(name).shadowRoot, { childList: true, subtree: true }, () => true));
    part(button).click();
    await Promise.all(pictures);
    await frames2(); }"""
# All heads, one after the other; a list of places to be filled is no ranking.
_RANKED = """async () => {
    part("ranking").replaceChildren();
    const list = part("ranking"), ranked = until(list, { childList: true }, () => list.querySelector("button"));
    part("rank").click();
    await ranked;
    await frames2(); }"""
# A text through the engine, and the weights of every head.
_HEADS = """async (text) => {
    const record = await (await bartviz.model).capture(text);
    let heads = 0;
    for (const [kind, [layers, each]] of Object.entries(record.found.shapes))
        for (let i = 0; i < layers * each; i++, heads++) await record.head(kind, Math.floor(i / each), i % each);
    record.forget();
    return heads; }"""
# A text through the engine, and so many steps; their tokens are chosen, or random weights might end the text at once.
_STEPS = """async ([text, most, token]) => {
    const { engine, number: model } = await bartviz.model;
    const forced = Array.from({ length: most }, (_, step) => [step, token]);
    const { serial: record, steps } = await engine.ask("capture", { model, text, options: { most, forced } });
    await engine.ask("forget", { record });
    return steps.length; }"""


@dataclass
class _Times:
    """Milliseconds of one core that the browser took for something, and how long that was on a clock."""

    core: list[float] = field(default_factory=list)
    clock: list[float] = field(default_factory=list)

    def of(self, work: Callable[[], Any]) -> Any:
        """What the work gives; its time is added."""
        began, since = _core(), time.monotonic()
        found = work()
        self.clock.append(1e3 * (time.monotonic() - since))
        self.core.append(1e3 * sum(now - began.get(process, 0) for process, now in _core().items()))
        return found

    def row(self, name: str) -> None:
        """Print it."""
        rising = sorted(self.core)
        most = rising[-(-95 * len(rising) // 100) - 1]
        least = f"clock at least {min(self.clock):.0f}"
        print(f"{name:44}{statistics.median(rising):7.0f} ms   p95 {most:.0f}, {len(rising)} runs; {least}", flush=True)


def _core() -> dict[int, float]:
    """Seconds of processor time of the browser's processes: of all their threads."""
    found = {}
    for process in psutil.Process().children(recursive=True):
        try:
            if "chrom" in process.name():
                found[process.pid] = time.clock_gettime((~process.pid << 3) | 2)
        except (OSError, psutil.NoSuchProcess):
            continue  # it has ended meanwhile
    return found


def report(folder: Path, *, runs: int = len(TEXTS), large: bool = True) -> None:
    """Print the table. ``runs``: texts; ``large``: also a network of BART-base's size."""
    print("\nAlive: models in one HTML file, from the disk, in a browser that is offline, on one core")
    with _one_core(), sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=[*QUIET.split(), OFFLINE])
        for name, names in (("the translator", [TRANSLATOR]), ("the three models that ship", SHIPPED)):
            file = folder / f"{len(names)}.html"
            live.save([bartviz.load(one) for one in names], file)
            _opened(browser, file, name, min(runs, 5))
        _used(browser, folder / "1.html", runs)
        if large:
            _large(browser, folder / "large")
        browser.close()
    print("  Transformer Explainer, from its code (src/routes/+page.svelte, src/utils/model/chunk.py): GPT-2 is")
    print("  fetched from its host as 63 parts of 10 MiB, 650 MB or more, before a text of one's own can be run")


@contextmanager
def _one_core() -> Iterator[None]:
    """What is started meanwhile shares one core with this process."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def _page(browser: Browser, address: str) -> tuple[Page, list[str]]:
    """A new page that shows this address, and what it asks of other hosts."""
    outside: list[str] = []

    def ask(request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("file", "blob", "data") and parts.hostname != "127.0.0.1":
            outside.append(request.url)

    page = browser.new_context(viewport={"width": 1366, "height": 768}).new_page()
    page.set_default_timeout(PATIENCE)
    page.on("request", ask)
    page.add_init_script(f"({_WATCH})({PATIENCE})")
    page.goto(address, timeout=PATIENCE, wait_until="commit")
    page.evaluate("seen.shown")
    return page, outside


def _opened(browser: Browser, file: Path, name: str, times: int) -> None:
    """The size of a page, and how soon it shows its picture and has read its first model."""
    picture, model, asked, shifts = _Times(), _Times(), 0, []
    for _ in range(times):
        page, outside = picture.of(lambda: _page(browser, file.as_uri()))
        model.of(lambda page=page: page.evaluate(_READ))  # type: ignore[misc]
        shifts.append(page.evaluate("seen.shift"))
        asked += len(outside)
        page.context.close()
    print(f"  {name:42}{file.stat().st_size / 1e6:7.1f} MB", flush=True)
    picture.row("    the first picture, from opening")
    model.row("    after it, the first model is read")
    print(f"    layout shift {max(shifts):.3f}, requests to other hosts {asked}")


def _used(browser: Browser, file: Path, runs: int) -> None:
    """What a visitor does with the translator."""
    page, outside = _page(browser, file.as_uri())
    page.evaluate(_READ)
    page.evaluate(_REDRAWN, ["run", "A dog sleeps."])  # what is compiled once is compiled
    page.evaluate("() => { seen.shift = 0; }")
    text, heads, silenced, ranked = _Times(), _Times(), _Times(), _Times()
    for one in TEXTS[:runs]:
        text.of(lambda one=one: page.evaluate(_REDRAWN, ["run", one]))  # type: ignore[misc]
    for one in TEXTS[: min(runs, 10)]:
        page.evaluate(_REDRAWN, ["run", one])
        silenced.of(lambda: page.evaluate(_REDRAWN, ["silence", None]))
        page.evaluate(_REDRAWN, ["restore", None])
        count = heads.of(lambda one=one: page.evaluate(_HEADS, one))  # type: ignore[misc]
    for one in TEXTS[: min(runs, 3)]:
        page.evaluate(_REDRAWN, ["run", one])
        ranked.of(lambda: page.evaluate(_RANKED))
    shift = page.evaluate("seen.shift")
    longest = _longest(browser, page)
    print("  the translator, a text of 12 words of one's own")
    text.row("    its maps and steps are shown")
    heads.row(f"    the weights of all {count} heads")
    silenced.row("    a head is silenced, the text rewritten")
    ranked.row(f"    all {count} heads are ranked")
    print(f"    the page's longest task meanwhile, processor time {longest:.0f} ms")
    print(f"    layout shift {shift:.3f} in all, requests to other hosts {len(outside)}", flush=True)
    page.context.close()


def _longest(browser: Browser, page: Page) -> float:
    """Milliseconds that the longest task of the page's own thread takes while the engine works."""
    browser.start_tracing(page=page, categories=["toplevel", "disabled-by-default-devtools.timeline"])
    for one in TEXTS[:3]:
        page.evaluate(_REDRAWN, ["run", one])
    page.evaluate(_REDRAWN, ["silence", None])
    page.evaluate(_RANKED)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    own = {(e["pid"], e["tid"]) for e in events if e.get("args", {}).get("name") == "CrRendererMain"}
    tasks = [e["tdur"] for e in events if "RunTask" in e["name"] and (e["pid"], e["tid"]) in own and "tdur" in e]
    return float(max(tasks)) / 1e3


def _large(browser: Browser, folder: Path) -> None:
    """A network of BART-base's size with random weights, whose page reads it from a host."""
    model = _random()
    text = _text(model)
    live.save(model, folder, text="A text.")
    size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
    handler = functools.partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page, _ = _page(browser, f"http://127.0.0.1:{server.server_port}/")
        read, first, more = _Times(), _Times(), _Times()
        read.of(lambda: page.evaluate(_READ))
        for _ in range(3):
            assert first.of(lambda: page.evaluate(_STEPS, [text, 1, TOKEN])) == 1
            assert more.of(lambda: page.evaluate(_STEPS, [text, 1 + FURTHER, TOKEN])) == 1 + FURTHER
        page.context.close()
        server.shutdown()
    print(f"  {LARGE + ', random weights, from a host':42}{size:7.1f} MB")
    read.row("    the model is read")
    first.row(f"    {LARGE_TOKENS} tokens are encoded, and a step is made")
    _Times(*(_each(*pair) for pair in ((more.core, first.core), (more.clock, first.clock)))).row("    a further step")


def _each(more: Sequence[float], first: Sequence[float]) -> list[float]:
    """What one of the further steps takes, run by run."""
    return [(whole - least) / FURTHER for whole, least in zip(more, first, strict=True)]


def _random() -> Model:
    known = entry(LARGE)
    assert known is not None
    torch.manual_seed(0)
    network = transformers.BartForConditionalGeneration(transformers.AutoConfig.for_model(**known.config)).eval()
    return bartviz.wrap(network, bartviz.load(TRANSLATOR).tokenizer, name="bart-base")


def _text(model: Model) -> str:
    """A text of that many tokens."""
    words = " ".join(TEXTS).split()
    count = next(n for n in range(len(words)) if len(_ids(model, words[: n + 1])) > LARGE_TOKENS)
    return " ".join(words[:count])


def _ids(model: Model, words: Sequence[str]) -> Sequence[int]:
    return list(tokenize.encode(model.tokenizer, " ".join(words)).ids)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing of requests."""
