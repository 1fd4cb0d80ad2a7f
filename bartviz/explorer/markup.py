"""The parts of a page in one file: its head and policy, its styles, and its scripts, each in a scope of its own.

The policy allows the scripts and styles that are in the page, by their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from bartviz.browser import BROWSER, PANEL
from bartviz.browser.scripts import ScriptError, bundle
from bartviz.drawing import colors
from bartviz.explorer import messages
from bartviz.language import LANGUAGES, current, speaking

_FOLDERS = {
    "explorer": Path(__file__).parent,
    **{name: BROWSER / name for name in ("canvas", "player", "ribbons", "replay")},
}
_COMMENTS = re.compile(r"^ *(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/)\n", re.MULTILINE)  # those that fill whole lines
_REM = re.compile(r"([\d.]+)rem\b")
_TYPE = 15  # pixels of a rem on a page of ours
END = '<template id="end"></template>\n</body>\n</html>\n'  # a page without it was cut on its way
_EXPORT = re.compile(r"^export default (?=(?:async )?function\b|component\()", re.MULTILINE)
_CLOSING = re.compile(r"</(?:script|style)|<!--", re.IGNORECASE)


def opening(title: str, policy: str, styles: Sequence[str]) -> str:
    """The page up to its body."""
    shown = "".join(f"<style>{style}</style>\n" for style in styles)
    return (
        f'<!doctype html>\n<html lang="{html.escape(current())}" class="explorer">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="generator" content="bartviz">\n'
        f"<title>{html.escape(title)}</title>\n{_guard()}{shown}</head>\n<body>\n"
    )


def guard() -> str:
    """The script that says that a page is not whole: it comes first, and needs nothing of the page."""
    return inline(_COMMENTS.sub("", bundle(_FOLDERS["explorer"] / "whole.js")))


def _guard() -> str:
    said: dict[str, list[str]] = {}
    for language in LANGUAGES:  # which one is spoken is not known to a page that was cut
        with speaking(language):
            for name, words in messages.amiss().items():
                said.setdefault(name, []).append(words)
    data = " ".join(f'data-{name}="{html.escape(" · ".join(words))}"' for name, words in said.items())
    return f"<script {data}>{guard()}</script>\n"


def templates(styles: Mapping[str, str], parts: Sequence[str]) -> str:
    """The components of the page, which its script puts in their places."""
    return "".join(
        f'<template id="{name}"><style>{styles[name]}</style>{read(name, ".html")}</template>\n' for name in parts
    )


def read(name: str, suffix: str) -> str:
    """A file of a component."""
    return (_FOLDERS[name] / name).with_suffix(suffix).read_text("utf-8")


def style(name: str) -> str:
    """The style of a component; the page's own begins with the colours of kinds and lines, by Streamlit's names."""
    before = {"explorer": _colors, "replay": PANEL.read_text}.get(name)
    return (before() if before else "") + read(name, ".css")


def _colors() -> str:
    """The colours that components take from the app's theme, for both themes."""
    kinds = {"green": colors.KIND["encoder"], "orange": colors.KIND["decoder"], "violet": colors.KIND["cross"]}
    named = {f"st-{name}-color": pair for name, pair in kinds.items()}
    named |= {"st-border-color": (colors.LIGHT.line, colors.DARK.line)}
    named |= {f"bv-word{place}": pair for place, pair in enumerate(colors.WORDS)}
    light, dark = (" ".join(f"--{name}: {pair[at]};" for name, pair in named.items()) for at in (0, 1))
    return (
        f".explorer {{ {light} }}\n"
        f'@media (prefers-color-scheme: dark) {{ .explorer:not([data-theme="light"]) {{ {dark} }} }}\n'
        f'.explorer[data-theme="dark"] {{ {dark} }}\n'
    )


def script(entry: Path, parts: Sequence[str]) -> str:
    """A script that calls the default export of ``entry`` with those of the parts."""
    mounts = "".join(f"const {name} = {_scope(_FOLDERS[name] / f'{name}.js')};\n" for name in parts)
    return inline(f"{mounts}{_scope(entry)}({{ {', '.join(parts)} }});\n")


def module(entry: Path, parts: Sequence[str], made: str, names: Sequence[str]) -> str:
    """A module that exports ``names`` of what the default export of ``entry`` gives. ``made``: its second argument."""
    mounts = "".join(f"const {name} = {_scope(_FOLDERS[name] / f'{name}.js')};\n" for name in parts)
    called = f"{_scope(entry)}({{ {', '.join(parts)} }}, {made}, import.meta.url)"
    return f"{mounts}export const {{ {', '.join(names)} }} = {called};\n"


def pixels(style: str) -> str:
    """A style whose sizes do not depend on the type of the page that it comes to."""
    return _REM.sub(lambda found: f"{float(found[1]) * _TYPE:g}px", style)


def _scope(script: Path) -> str:
    """An expression whose value is the default export of a script."""
    text, count = _EXPORT.subn("return ", _COMMENTS.sub("", bundle(script)))
    if count != 1:
        raise ScriptError(f"{script.name} has no function as its default export")
    return f"(() => {{\n{text}}})()"


def inline(text: str) -> str:
    """The text for an element of script or style. Raises ScriptError if it would end the element."""
    if found := _CLOSING.search(text):
        raise ScriptError(f"{found[0]} cannot be part of a page's script or style")
    return text


def source(text: str) -> str:
    """How the policy names a script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
