"""Another head, another step: what it costs to draw, in a real Chromium, ours against plotly and bertviz.

12 layers of 16 heads, as BART-large has them, of random queries and keys, without a network or a server. What is
measured is the main thread from the event to the end of the frame that shows it (handling, style, layout, paint); the
wait for the frame is left out. The numbers are in the browser already, but for 512 tokens: there the next head is seen
in its small map until the exact one has come. plotly redraws one heatmap, bertviz the lines of one head.
"""

from __future__ import annotations

import base64
import os
import statistics
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
from playwright.sync_api import Browser, Page, sync_playwright
from plotly.offline import get_plotlyjs

from bartviz.app.components import canvas
from bartviz.browser.canvas.data import Choice, Picture, Shown, Steps
from bartviz.record.attention import Attention
from benchmarks import payload
from scripts.serving import CHROMIUM, QUIET

LAYERS, HEADS = 12, 16
LENGTHS = (64, 128, 512)
BERTVIZ_MOST = 64  # tokens: it draws a line for every weight
PLOTLY_MOST = 128
COUNT, FEW, ROUNDS = 30, 8, 3  # FEW: of what takes long
VARIABLES = (
    ":root{--st-background-color:#fff;--st-text-color:#31333f;--st-primary-color:#007;--st-font:sans-serif;"
    "--st-code-font:monospace}"
)
MOUNT = """async ([script, page, buffers]) => {
    const parent = document.createElement("div");
    document.body.append(parent);
    parent.attachShadow({ mode: "open" }).innerHTML = page;
    const component = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
    for (const sent of buffers) {
        const data = Uint8Array.from(atob(sent), (sign) => sign.charCodeAt(0));
        component.default({ parentElement: parent.shadowRoot, data, setStateValue: () => {} });
        await new Promise((done) => setTimeout(done, 200));
    }
    window.find = (name) => parent.shadowRoot.querySelector(`[data-is=${name}]`);
    window.press = (name, key) => find(name).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })); }"""
# What is done at the i-th time.
HEAD = 'press("overview", ["ArrowRight", "ArrowLeft"][(i >> 3) % 2])'  # of one layer
STEP = """globalThis[Symbol.for("bartviz.steps")].dispatchEvent(new CustomEvent("at", { detail:
    { record: "mark", step: i % %d, count: %d, playing: true } }))"""
ZOOM = 'press("plot", "+-"[(i >> 2) % 2])'
POINT = """const { left, top, width, height } = find("plot").getBoundingClientRect();
    find("plot").dispatchEvent(new PointerEvent("pointermove", { bubbles: true,
        clientX: left + width * (0.4 + 0.5 * ((i * 37) % 100) / 100), clientY: top + height * 0.6 }));"""
PLOTLY = 'Plotly.react("map", [{ ...trace, z: heads[i % heads.length] }], layout)'
BERTVIZ = """document.querySelector("#vis svg > g:last-of-type").children[i % 16]
    .dispatchEvent(new MouseEvent("dblclick", { bubbles: true }))"""
MEASURE = """async ([body, count]) => {
    const act = new Function("i", body), port = new MessageChannel(), times = [];
    const frame = () => new Promise((done) => requestAnimationFrame(() => {
        const begun = performance.now();
        port.port1.onmessage = () => done(performance.now() - begun);
        port.port2.postMessage(0); }));
    for (let i = 0; i < count + 5; i++) {
        await frame();
        const shown = frame(), begun = performance.now();
        act(i);
        const took = performance.now() - begun;
        times.push(took + (await shown));
    }
    return times.slice(5); }"""


def report(*, lengths: tuple[int, ...] = LENGTHS) -> None:
    print(f"\nDrawing in Chromium, {LAYERS} x {HEADS} heads: milliseconds of a frame (the quickest of {ROUNDS} runs)")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET.split())
        for n in lengths:
            attention = payload.attention(n, LAYERS, HEADS)
            print(f"  n = {n}")
            _ours(browser, attention)
            _peers(browser, attention)
        print("  n = 1,024, one exact map of ours")
        page = _canvas(browser, payload.attention(1024, 1, HEADS), Shown())
        _row("zoom", page, ZOOM)
        _row("hover", page, POINT)
        browser.close()


def _ours(browser: Browser, attention: Attention) -> None:
    page = _canvas(browser, attention, Shown())
    _row("ours: hover", page, POINT)
    for key, view in {"1": "map", "2": "lines", "3": "text"}.items():
        page.evaluate("(key) => press('overview', key)", key)
        _row(f"ours: another head, {view}", page, HEAD)
    page.close()
    rows = min(attention.shape[2], 128)  # the rows of a text that was written
    cross = replace(
        attention,
        kind="cross",
        q=attention.queries[:, :, :rows],
        mask=attention.mask[:rows],
        query=payload.tokens(rows),
    )
    page = _canvas(browser, cross, Shown(steps=Steps("mark", tuple(range(rows)))))
    _row(f"ours: another step of {rows}", page, STEP.replace("%d", str(rows)))


def _canvas(browser: Browser, attention: Attention, shown: Shown) -> Page:
    """A page with nothing but the canvas, as the app sends it: what comes later, too."""
    page = _page(browser, f"<!doctype html><style>{VARIABLES}</style>")
    picture, begin = Picture(attention, shown), Choice()
    sent = [picture.pack(begin, 0)] + [picture.pack(begin, 0, light=True)] * picture.late
    component = canvas.COMPONENT
    html = f"<style>{component.css}</style>{component.html}"
    arguments = [component.script, html, [base64.b64encode(one).decode() for one in sent]]
    page.evaluate(MOUNT, arguments)
    return page


def _peers(browser: Browser, attention: Attention) -> None:
    n = attention.shape[2]
    if n > PLOTLY_MOST:
        return
    figure = go.Figure(go.Heatmap(z=attention.head(0, 0), zmin=0, zmax=1))
    page = _page(browser, f"<!doctype html><script>{get_plotlyjs()}</script><div id=map></div>")
    page.evaluate(
        """([figure, heads, n]) => {
            const map = (one) => Array.from({ length: n }, (_, row) => one.slice(row * n, (row + 1) * n));
            const { data, layout } = JSON.parse(figure);
            Object.assign(window, { trace: data[0], layout, heads: heads.map(map) });
            return Plotly.newPlot("map", data, layout).then(() => null); }""",
        [figure.to_json(), [np.ravel(attention.head(0, head)).round(4).tolist() for head in range(4)], n],
    )
    _row("plotly: another head", page, PLOTLY, FEW)
    if n <= BERTVIZ_MOST:
        from bartviz.features.heads.figure_classic import offline

        window = offline.Window(slice(n), slice(n))
        page = _page(browser, offline.page("head", attention, attention.query.labels, window=window))
        _row("bertviz: another head, lines", page, BERTVIZ, FEW)


def _page(browser: Browser, html: str) -> Page:
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.set_content(html)
    return page


def _row(name: str, page: Page, body: str, count: int = COUNT) -> None:
    """Print the median and the 95th percentile of the run whose median is the smallest."""
    runs: list[list[float]] = [page.evaluate(MEASURE, [body, count]) for _ in range(ROUNDS)]
    best = min(runs, key=statistics.median)
    most = statistics.quantiles(best, n=20)[-1]
    load = os.getloadavg()[0]
    print(f"    {name:30} median {statistics.median(best):6.1f}   p95 {most:6.1f}   load {load:.1f}", flush=True)
