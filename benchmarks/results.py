"""The parts of a run, printed as they are measured and written into one Markdown file with the machine they ran on."""

from __future__ import annotations

import io
import os
import platform
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TextIO

import psutil

FILE = Path(__file__).with_name("RESULTS.md")
PACKAGES = ("torch", "transformers", "bertviz", "plotly", "numpy", "streamlit")
HEAD = """\
# Results

Written by `make bench`, not by hand: ours against the peers on the same inputs, each part in one run. A ratio is the
median over rounds that alternate, +- half the distance of its quartiles, then both medians. Load is the machine's
average of one minute (processes that compute or wait) before and after a part: beyond 1 a core, times are upper
bounds, and ratios and bytes are what to read.
"""


class _Tee(io.TextIOBase):
    """Hands on what is printed, and keeps it."""

    def __init__(self, screen: TextIO) -> None:
        self.screen, self.kept = screen, io.StringIO()

    def write(self, text: str) -> int:
        self.screen.write(text)
        return self.kept.write(text)

    def flush(self) -> None:
        self.screen.flush()


def write(
    parts: Mapping[str, Callable[[], object]], file: Path | None = FILE, *, order: Sequence[str] | None = None
) -> None:
    """Run the parts in turn. What they print goes to the screen, and into the file if there is one.

    The file is written after each part, so that a run that was stopped leaves what it has measured.
    order: the names of all parts; sections of the file that are not measured now stay, in this order. Raises SystemExit
    where they come from another machine or other versions.
    """
    head = "\n".join([HEAD, *_machine()])
    sections = {} if order is None or file is None or not file.exists() else _kept(file, head)
    for name, part in parts.items():
        before, tee = _load(), _Tee(sys.stdout)
        with redirect_stdout(tee):
            part()
        said = tee.kept.getvalue().strip("\n")
        measured = f"Measured {datetime.now(UTC):%Y-%m-%d}, load {before} before, {_load()} after."
        sections[name] = f"## {name.capitalize()}\n\n{measured}\n\n```text\n{said}\n```\n"
        if file is not None:
            names = sorted(sections, key=[*(order or parts)].index)
            file.write_text("\n".join([head, *(sections[name] for name in names)]), "utf-8")


def _kept(file: Path, head: str) -> dict[str, str]:
    """The sections of a file that was written on this machine. Raises SystemExit."""
    before, *sections = re.split(r"^(?=## )", file.read_text("utf-8"), flags=re.MULTILINE)
    if before.rstrip() != head.rstrip():
        raise SystemExit(
            f"{file.name} was measured on another machine or with other versions. Run all parts: make bench"
        )
    return {section.split(maxsplit=2)[1].lower(): section.rstrip("\n") + "\n" for section in sections}


def _machine() -> Iterator[str]:
    """What a reader needs to know of the machine; not its name."""
    memory = psutil.virtual_memory().total / 2**30
    threads = os.environ.get("OMP_NUM_THREADS", "as many as cores")
    packages = ", ".join(f"{name} {version(name)}" for name in ("bartviz", *PACKAGES))
    yield f"- {_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB; threads of a measurement: {threads}"
    yield f"- {platform.system()}, Python {platform.python_version()}, {packages}\n"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
