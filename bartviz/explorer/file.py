"""One HTML file with every head, row and step of one or more records: ``bartviz.save`` and ``record.save("x.html")``.

The page is made of the app's own scripts, styles and markup. It loads nothing: its policy allows the one script and the
styles that are in it, by their hashes. Its data are base64 (``bartviz.explorer.data``).
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from bartviz.browser import BROWSER
from bartviz.browser.scripts import ScriptError, bundle
from bartviz.errors import SettingError
from bartviz.explorer.data import MOST, encode
from bartviz.explorer.messages import shortened
from bartviz.language import current
from bartviz.record import store
from bartviz.record.record import Record

_FOLDERS = {"explorer": Path(__file__).parent, "canvas": BROWSER / "canvas", "player": BROWSER / "player"}
FRAMED = 2_000_000  # bytes of a page within a notebook
HEIGHT = 720  # pixels of its frame
_COMMENTS = re.compile(r"^ *(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/)\n", re.MULTILINE)  # those that fill whole lines
_CLOSING = re.compile(r"</(?:script|style)|<!--", re.IGNORECASE)
_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; script-src {scripts}; style-src {styles}"


def save(
    records: Record | Sequence[Record],
    path: str | PathLike[str],
    *,
    names: Sequence[str] | None = None,
    most: int | None = MOST,
) -> None:
    """Write one HTML file that shows the records in any browser, without a network: each record a tab.

    names: those of the tabs; by default the texts.
    most: bytes of the file. Weights are exact to 2e-5; if they do not fit, the smallest are left out, and the page
    states from which weight on it has them (12 x 12 heads: from about 150 tokens on). None keeps every weight.
    Raises SettingError without records, for a number of names other than that of the records, and for a file that
    does not end in .html; OSError.

    >>> bartviz.save([record, bartviz.decode(model, "It is late.")], "both.html", names=["car", "late"])
    """
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise SettingError('The explorer is an HTML file: choose a name that ends in ".html".')
    store.replace(path, page(records, names=names, most=most))


def page(records: Record | Sequence[Record], *, names: Sequence[str] | None = None, most: int | None = MOST) -> bytes:
    """The file that ``save`` writes. The same records give the same bytes. Raises SettingError."""
    shown = [records] if isinstance(records, Record) else list(records)
    if not shown:
        raise SettingError("There is no record to show: give at least one.")
    named = [name_of(record) for record in shown] if names is None else list(names)
    if len(named) != len(shown):
        raise SettingError(f"{len(named)} names for {len(shown)} records: give one each.")
    parts = ("canvas", "player") if any(record.steps for record in shown) else ("canvas",)
    styles = {name: _inline(_read(name, ".css")) for name in (*parts, "explorer")}
    script = _inline(_script(parts))
    policy = _POLICY.format(scripts=_hash(script), styles=" ".join(map(_hash, styles.values())))
    templates = "".join(
        f'<template id="{name}"><style>{styles[name]}</style>{_read(name, ".html")}</template>\n' for name in parts
    )
    before = (
        f'<!doctype html>\n<html lang="{html.escape(current())}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="generator" content="bartviz">\n'
        f"<title>{html.escape(' · '.join(named))}</title>\n<style>{styles['explorer']}</style>\n</head>\n<body>\n"
        f"{_read('explorer', '.html')}\n{templates}"
        '<script type="text/plain" id="data">'
    ).encode("utf-8", "replace")
    after = f'</script>\n<script type="module">{script}</script>\n</body>\n</html>\n'.encode()
    data = encode(shown, named, None if most is None else most - len(before) - len(after))
    return before + data.encode() + after


def frame(record: Record) -> str:
    """The page in a frame of its own, as a notebook shows it: nothing is loaded, and the notebook's page is out of
    reach. The page has at most 2 MB, because the notebook's file has to hold it."""
    shown = page(record, most=FRAMED).decode()
    return (
        f'<iframe srcdoc="{html.escape(shown)}" title="{html.escape(name_of(record))}" width="100%" '
        f'height="{HEIGHT}" style="border:0" sandbox="allow-scripts"></iframe>'
    )


def name_of(record: Record) -> str:
    """Its texts, shortened, or its model's name."""
    texts = [shortened(text) for text in (record.source_text, record.target_text) if text]
    return " → ".join(texts) or record.model.name


def _read(name: str, suffix: str) -> str:
    return (_FOLDERS[name] / name).with_suffix(suffix).read_text("utf-8")


def _script(parts: Sequence[str]) -> str:
    """The scripts of the parts and of the explorer, each in a scope of its own."""
    mounts = "".join(f"const {name} = {_scope(name)};\n" for name in parts)
    return f"{mounts}{_scope('explorer')}({{ {', '.join(parts)} }});\n"


def _scope(name: str) -> str:
    """An expression whose value is the component's default export."""
    text, count = re.subn(
        r"^export default (?=(?:async )?function\b)",
        "return ",
        _COMMENTS.sub("", bundle(_path(name))),
        flags=re.MULTILINE,
    )
    if count != 1:
        raise ScriptError(f"{name}.js has no function as its default export")
    return f"(() => {{\n{text}}})()"


def _path(name: str) -> Path:
    return _FOLDERS[name] / f"{name}.js"


def _inline(text: str) -> str:
    """The text escaped for an element of script or style. Raises ScriptError if it would end the element."""
    if found := _CLOSING.search(text):
        raise ScriptError(f"{found[0]} cannot be part of a page's script or style")
    return text


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
