"""Scripts that have an address, from which the browser fetches them once.

Streamlit sends a script that it is given as text with every message that needs it: 70 kB for each canvas of a page.
"""

from __future__ import annotations

import hashlib
import tempfile
import threading
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

from bartviz.serving.read_once import read_once
from bartviz.version import __version__

PACKAGE = "bartviz"
_WRITING = threading.Lock()
ADDRESS = "_stcore/bidi-components"  # of all components; pages stand beside it, so this holds behind any prefix


def address(name: str, folder: Path) -> str:
    """Where the browser finds the files of a folder, which all visitors may read: ``{address}/{file}``."""
    whole, manager = f"{PACKAGE}.{name}", get_bidi_component_manager()
    if manager.get_component_asset_root(whole) is None:
        manifest = ComponentManifest(PACKAGE, __version__, [ComponentConfig(name, asset_dir=folder.name)])
        manager.register_from_manifest(manifest, folder.parent)
    return f"{ADDRESS}/{whole}"


class Served:
    """A component with a script of its own, one module: call it as one calls Streamlit's components."""

    def __init__(self, name: str, *, html: str, css: str, script: str) -> None:
        self.name, self.script = name, script
        self._html, self._css = html, css
        self._file = f"{name}-{hashlib.sha256(script.encode()).hexdigest()[:12]}.js"  # another one after any change
        self._ways: dict[str, Any] = {}  # to draw it, by where the script is

    def __call__(self, **given: Any) -> Any:
        script = self._given()
        if script not in self._ways:
            whole = f"{PACKAGE}.{self.name}"
            self._ways[script] = st.components.v2.component(whole, html=self._html, css=self._css, js=script)
        return self._ways[script](**given)

    def _given(self) -> str:
        """The name of the file; the script itself where none can be written."""
        try:
            file = Path(folder().name) / self.name / self._file
            with _WRITING:
                if not file.exists():  # some systems clear such folders of what nobody has read for days
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(self.script, "utf-8")
        except OSError:
            return self.script
        address(self.name, file.parent)
        return file.name


@read_once
def folder() -> tempfile.TemporaryDirectory[str]:
    """Of this process, one for all of its threads, and gone with it."""
    return tempfile.TemporaryDirectory(prefix="bartviz-")
