"""The explorer in real notebooks, driven by a browser: JupyterLab, the page that nbconvert makes, and marimo.

``make installed ARGS=notebook`` runs it in an empty environment. By itself it needs one that has bartviz with the extra
``notebook``, jupyterlab, nbconvert and marimo: ``python -m scripts.notebooks FOLDER``, the folder of its programs. The
browser reaches this machine alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect, sync_playwright

from scripts.serving import CHROMIUM, PATIENCE, QUIET, free_port, running

OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
OPENED = """import bartviz
from bartviz.families.catalogue import EMBEDDED
record = bartviz.open(EMBEDDED / "records" / "start.safetensors")"""
SAID = 'print("chosen:", shown.kind, shown.layer, shown.head, shown.row, shown.weights.shape)'
CELLS = (OPENED, "record", "shown = bartviz.explore(record)\nshown", SAID)
MARIMO = f"""import marimo
app = marimo.App()

@app.cell
def _():
    import marimo as mo
    {OPENED.replace(chr(10), chr(10) + "    ")}
    shown = mo.ui.anywidget(bartviz.explore(record))
    return mo, shown

@app.cell
def _(shown):
    shown
    return

@app.cell
def _(mo, shown):
    mo.md("chosen: " + shown.value["kind"] + " " + str(shown.value["layer"]) + " " + str(shown.value["row"]))
    return

if __name__ == "__main__":
    app.run()
"""


def tried(programs: Path) -> None:
    """Run all three with the programs of an environment. Raises what fails."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        home = Path(folder)
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=[*QUIET.split(), OFFLINE])
        for name, work in (("JupyterLab", jupyterlab), ("nbconvert", nbconvert), ("marimo", marimo)):
            work(programs, home, browser)
            print(f"  {name}: the explorer is alive, and a click in it is seen", flush=True)
        browser.close()


def jupyterlab(programs: Path, home: Path, browser: Browser) -> None:
    """A click in the widget is known to the kernel; what Python sets is shown."""
    _write(home / "first.ipynb")
    port = free_port()
    command = [str(programs / "python"), "-m", "jupyterlab", "--no-browser", f"--port={port}", "--ServerApp.token="]
    command += ["--ServerApp.ip=127.0.0.1", "--allow-root"]
    with running(
        command, lambda: _answers(f"http://127.0.0.1:{port}/api"), home / "log", folder=home, environment=_own(home)
    ):
        page = _page(browser)
        page.goto(f"http://127.0.0.1:{port}/lab/tree/first.ipynb")
        cells = page.locator(".jp-CodeCell")
        expect(cells).to_have_count(len(CELLS))
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()  # it is connected
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
        _choose(cells.nth(1).frame_locator("iframe"))  # the record by itself
        expect(cells.nth(3)).to_contain_text("chosen: cross")
        _choose(cells.nth(2).frame_locator("iframe"))  # the widget
        cells.nth(3).locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        expect(cells.nth(3)).to_contain_text("chosen: decoder")
        _stays(cells.nth(2).frame_locator("iframe").locator("[data-is=canvas] [data-is=name]"))
        page.context.close()


def nbconvert(programs: Path, home: Path, browser: Browser) -> None:
    """HTML made of the notebook, without a kernel and without a network."""
    _write(home / "saved.ipynb")
    command = [str(programs / "python"), "-m", "nbconvert", "--to", "html", "--execute", "saved.ipynb"]
    subprocess.run([*command, "--log-level=ERROR"], cwd=home, check=True, env={**os.environ, **_own(home)})
    page = _page(browser)
    page.context.set_offline(True)
    page.goto((home / "saved.html").as_uri())
    _choose(page.frame_locator("iframe"))  # the record's; a widget has no picture without ipywidgets' scripts
    page.context.close()


def marimo(programs: Path, home: Path, browser: Browser) -> None:
    """A click runs the cells again that read the widget."""
    (home / "book.py").write_text(MARIMO, "utf-8")
    port = free_port()
    command = [str(programs / "python"), "-m", "marimo", "run", "book.py", "--headless", "--no-token"]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    with running(
        command, lambda: _answers(f"http://127.0.0.1:{port}/health"), home / "log", folder=home, environment=_own(home)
    ):
        page = _page(browser)
        page.goto(f"http://127.0.0.1:{port}")
        expect(page.get_by_text("chosen: cross")).to_be_visible()
        _choose(page.frame_locator("iframe"))
        expect(page.get_by_text("chosen: decoder")).to_be_visible()
        _stays(page.get_by_text("chosen: "))
        page.context.close()


def _stays(text: Locator) -> None:
    """Raise unless a text is the same for three seconds: nothing goes back and forth between page and kernel."""
    text.page.wait_for_timeout(2000)  # until what was under way has come
    first, until = text.inner_text(), time.monotonic() + 3
    while time.monotonic() < until:
        text.page.wait_for_timeout(50)
        if (now := text.inner_text()) != first:
            raise SystemExit(f"What is chosen does not stay: {first}, then {now}")


def _choose(explorer: FrameLocator) -> None:
    """Choose the decoder's heads in an explorer, which shows that its script runs."""
    explorer.locator("html[data-ready]").wait_for(state="attached")
    expect(explorer.locator("[data-is=canvas] [data-is=name]")).to_contain_text("Cross L")
    explorer.locator("[data-is=kinds] button[value=decoder]").click()
    expect(explorer.locator("[data-is=canvas] [data-is=name]")).to_contain_text("Decoder L")


def _page(browser: Browser) -> Page:
    expect.set_options(timeout=1000 * PATIENCE)
    context = browser.new_context(viewport={"width": 1400, "height": 4000}, locale="en-US")
    context.set_default_timeout(1000 * PATIENCE)
    return context.new_page()


def _write(file: Path) -> None:
    made: list[dict[str, object]] = [
        {"cell_type": "code", "id": f"cell{n}", "metadata": {}, "execution_count": None, "outputs": [], "source": text}
        for n, text in enumerate(CELLS)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    file.write_text(json.dumps({"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}), "utf-8")


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _own(home: Path) -> dict[str, str]:
    """Settings of Jupyter and marimo are read from and written to the folder, not the user's."""
    return {name: str(home / "settings") for name in ("HOME", "XDG_CONFIG_HOME", "JUPYTER_CONFIG_DIR", "IPYTHONDIR")}


if __name__ == "__main__":
    tried(Path(sys.argv[1]).absolute())
