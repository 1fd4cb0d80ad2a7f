"""``make installed``: install the wheel of dist/ in empty environments, each way that documents name, and use it there.

``python -m scripts.installed [library] [app] [corpus] [notebook] [ray]``, without a word all of them. Needs an index.
Versions are those of requirements.txt where it names them.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from scripts import notebooks
from scripts.serving import ROOT, free_port, health, running
from scripts.visitor import answered

EXTRAS = {"library": "", "app": "[app]", "corpus": "[corpus]", "notebook": "[notebook]", "ray": "[app,ray]"}
BESIDE = {"notebook": ("jupyterlab", "nbconvert", "marimo")}  # what such a user has, too
LIBRARY = """
from importlib.util import find_spec
import bartviz
from bartviz.families.catalogue import EMBEDDED

found = [name for name in ("torch", "transformers", "streamlit", "ray") if find_spec(name)]
assert not found, found
record = bartviz.open(EMBEDDED / "records" / "start.safetensors")
assert record.sound
bartviz.figures.heads(record.cross, layer=2)
bartviz.paper.map(record, "cross", 2, 5, width=240).save("head.svg")
record.save("record.html")
print(bartviz.__version__, record.target_text)
"""


def install(way: str, home: Path) -> Path:
    """Make an environment with nothing but the wheel and what it asks for; the folder of its programs."""
    wheels = sorted((ROOT / "dist").glob("bartviz-*.whl"))
    if len(wheels) != 1:
        raise SystemExit(f"There are {len(wheels)} wheels in dist/, and one is to be installed. Run: make dist")
    venv.create(home, with_pip=True)
    programs = home / ("Scripts" if sys.platform == "win32" else "bin")
    wheel = f"bartviz{EXTRAS[way]} @ {wheels[0].as_uri()}"
    pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "requirements.txt")]
    subprocess.run([*pip, wheel, *BESIDE.get(way, ())], check=True)
    return programs


def library(programs: Path, home: Path) -> None:
    """A record that ships opens, with neither torch nor streamlit there."""
    subprocess.run([str(programs / "python"), "-c", LIBRARY], check=True, cwd=home)


def app(programs: Path, home: Path, **environment: str) -> None:
    """The app answers, runs a visitor's text, and ends with the status 0."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [str(programs / "bartviz"), "app", "--port", str(port)]
    with running(
        command, lambda: health(address, 2) is not None, home / "log", folder=home, environment=environment
    ) as server:
        seconds = asyncio.run(answered(address, "I want to buy a car."))
        print(f"A visitor's first text was run after {seconds:.1f} s.")
    if server.returncode:
        raise SystemExit(f"The app ended with {server.returncode}.")


def corpus(programs: Path, home: Path, *options: str) -> None:
    """Every head over a file of texts, and the atlas opens."""
    texts = home / "texts.txt"
    texts.write_text("I want to buy a car.\nThe weather is nice today.\n", "utf-8")
    command = [str(programs / "bartviz"), "corpus", str(texts), "--model", "bert-tiny-en", "--out", str(home / "atlas")]
    subprocess.run([*command, *options], check=True, cwd=home)
    code = f"import bartviz; assert len(bartviz.open_atlas({str(home / 'atlas')!r}).heads)"
    subprocess.run([str(programs / "python"), "-c", code], check=True, cwd=home)


def notebook(programs: Path, home: Path) -> None:
    """The explorer in JupyterLab, in a page of nbconvert, and in marimo."""
    notebooks.tried(programs)


def ray(programs: Path, home: Path) -> None:
    """A corpus is measured by two workers of Ray; two replicas compute for an app that holds no model."""
    corpus(programs, home, "--workers", "2", "--ray", "local")
    token = {"RAY_AUTH_TOKEN": secrets.token_hex(32)}
    command = [str(programs / "bartviz"), "serve", "--replicas", "2", "--cpus", "0.5"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=home, env={**os.environ, **token}) as serving:
        try:
            assert serving.stdout is not None
            line = serving.stdout.readline()
            address = re.search(r"BARTVIZ_COMPUTE=(\S+) ", line)
            if address is None:
                raise SystemExit(f"The replicas did not come up: {line}")
            app(programs, home, BARTVIZ_COMPUTE=address[1], **token)
        finally:
            serving.terminate()
            serving.wait(120)


def main(ways: list[str]) -> None:
    for way in ways or EXTRAS:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            programs = install(way, home / "environment")
            {"library": library, "app": app, "corpus": corpus, "notebook": notebook, "ray": ray}[way](programs, home)
            print(f"bartviz{EXTRAS[way]}: installed from the wheel, and used", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
