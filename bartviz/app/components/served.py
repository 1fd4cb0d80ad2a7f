"""Component scripts with an address of their own, so that the browser fetches them once.

Streamlit sends a script given as text in every message that uses it: 70 kB for each canvas of a page.
"""

from __future__ import annotations

import hashlib
import tempfile
import threading
from pathlib import Path
from typing import Any

import streamlit as st

from bartviz.app import streamlit_internals
from bartviz.browser.scripts import bundle
from bartviz.serving.read_once import read_once
from bartviz.version import __version__

PACKAGE = "bartviz"
_WRITING = threading.Lock()


def address(name: str, folder: Path) -> str:
    """The address of a folder whose files all visitors may read: ``{address}/{file}``."""
    return streamlit_internals.serve_files(PACKAGE, __version__, name, folder)


class Served:
    """A component with one script of its own; call it like a Streamlit component."""

    def __init__(self, name: str, *, html: str, css: str, script: str) -> None:
        self.name, self.html, self.css, self.script = name, html, css, script
        self._file = file_name(name, script)
        self._mounted: dict[str, Any] = {}  # the mounted components, by script location

    @classmethod
    def of(cls, folder: Path, *styles: Path) -> Served:
        """The component of a folder, in which the HTML, the style and the script have the folder's name; ``styles``
        are those that it shares with others, before its own."""
        file = folder / folder.name
        return cls(
            folder.name,
            html=file.with_suffix(".html").read_text("utf-8"),
            css="".join(style.read_text("utf-8") for style in (*styles, file.with_suffix(".css"))),
            script=bundle(file.with_suffix(".js")),
        )

    def __call__(self, **arguments: Any) -> Any:
        script = self._source()
        if script not in self._mounted:
            whole = f"{PACKAGE}.{self.name}"
            self._mounted[script] = st.components.v2.component(whole, html=self.html, css=self.css, js=script)
        return self._mounted[script](**arguments)

    def _source(self) -> str:
        """The name of the script file, or the script itself if no file can be written."""
        file = _kept(self.name, self._file, self.script)
        if file is None:
            return self.script
        address(self.name, file.parent)
        return file.name


def worker(name: str, script: str) -> dict[str, str]:
    """Where the browser finds the script of a worker: its ``address``, relative to the pages, or the ``script`` itself
    if no file can be written."""
    file = _kept(name, file_name(name, script), script)
    return {"script": script} if file is None else {"address": f"{address(name, file.parent)}/{file.name}"}


def file_name(name: str, script: str) -> str:
    """The name of the file of a script."""
    return f"{name}-{hashlib.sha256(script.encode()).hexdigest()[:12]}.js"  # changes with the content


def _kept(name: str, file: str, script: str) -> Path | None:
    """The file of a script in the folder of its name; None if it cannot be written."""
    try:
        path = Path(folder().name) / name / file
        with _WRITING:
            if not path.exists():  # some systems delete unused temporary files after days
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(script, "utf-8")
    except OSError:
        return None
    return path


@read_once
def folder() -> tempfile.TemporaryDirectory[str]:
    """A temporary folder of this process, shared by all threads and deleted at exit."""
    return tempfile.TemporaryDirectory(prefix="bartviz-")
