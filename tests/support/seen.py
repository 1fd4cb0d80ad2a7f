"""Every text that a visitor of a page sees or hears, from the messages to the browser."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from google.protobuf.message import Message  # type: ignore[import-untyped]
from streamlit.testing.v1 import AppTest

# Fields of Streamlit's messages that nobody reads: names of things, formats, scripts.
UNREAD = frozenset(
    (
        "id",
        "key",
        "user_key",
        "form_id",
        "page",
        "page_script_hash",
        "format",
        "type",
        "query_param_key",
        "component_name",
        "js_content",
        "js_source_path",
        "css_content",
        "html_content",
        "tag",
        "element_id",
        "deferred_file_id",
        "shortcut",
        "language",
        "icon",
        "url",
        "icon_position",
        "fragment_id",
        "spec",
        "config",
        "columns",
        "arrow_data",
        "data",
        "json",
        "arrow",
        "bytes",
        "mixed",
        "default",
        "value",
        "unit",
        "raw_values",
        "element_type",
        "style",
        "theme",
        "figure_json",
        "query_string",
        "default_tab_label",
        "name",
        "registered_handler_names",
        "isolate_styles",
        "scope",
    )
)
# Keys of a figure whose strings are read.
READ = frozenset(
    ("text", "ticktext", "hovertemplate", "hovertext", "name", "title", "labels", "texttemplate", "customdata")
)


def texts(page: AppTest) -> Iterator[tuple[str, str]]:
    """What kind of element says a text, and the text, markup taken out."""
    for node in _nodes(page._tree):
        message = getattr(node, "proto", None)
        if not isinstance(message, Message):
            continue
        found = list(_special(node.type, message)) or list(_strings(message))
        for text in found:
            said = plain(text)
            if said.strip():
                yield node.type, said


def plain(text: str) -> str:
    """Without tags, styles, formulas, code, addresses and the places of a figure's numbers."""
    text = re.sub(r"<(style|script|svg)\b.*?</\1>", " ", text, flags=re.DOTALL)
    heard = re.findall(r"(?:title|aria-label|alt|data-said)=(?:'([^']*)'|\"([^\"]*)\")", text)
    text = re.sub(r"</?[a-zA-Z][^<>]*>", " ", text)
    text = " ".join([text, *("".join(pair) for pair in heard)])
    text = re.sub(r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$", " ", html.unescape(text), flags=re.DOTALL)
    text = re.sub(r"%\{[^{}]*\}|\]\([^)]*\)|https?://\S+|(?<!\S)/\w*\?\S+|:material/\w+:", " ", text)
    text = re.sub(
        r"\b\w+(?:\.\w+)+\b|\b(?:[A-Z][a-z0-9]+){2,}\b|#[0-9a-f]{6}\b", " ", text
    )  # matrices, classes, colours
    return re.sub(r"\\([^\w\s])", r"\1", text)


def _nodes(node: Any) -> Iterator[Any]:
    yield node
    for child in getattr(node, "children", {}).values():
        yield from _nodes(child)


def _strings(message: Message) -> Iterator[str]:
    for field, value in message.ListFields():
        if field.name in UNREAD:
            continue
        values = value if field.is_repeated else [value]
        for one in values if not isinstance(values, Mapping) else values.values():
            if isinstance(one, str):
                yield one
            elif isinstance(one, Message):
                yield from _strings(one)


def _special(kind: str, message: Message) -> Iterator[str]:
    if kind == "iframe":  # bertviz's own page
        yield ""
    if kind == "plotly_chart":
        figure = json.loads(message.spec)
        for trace in figure["data"]:
            if not _is_named(trace, figure["layout"], len(figure["data"])):
                trace.pop("name", None)
        yield from _figure(figure)
        yield from _strings(message)
    if kind in ("arrow_data_frame", "dataframe"):
        yield from _table(message)
    if kind == "bidi_component":
        yield from _component(message)
    if kind == "code":
        yield ""


def _is_named(trace: Any, layout: Any, traces: int) -> bool:
    """Whether the name of a trace is read: in a legend, or beside what the pointer shows."""
    legend = trace.get("showlegend", True) and layout.get("showlegend", traces > 1)
    hover = trace.get("hovertemplate") or trace.get("hoverinfo") or "all"
    hovers = isinstance(hover, str) and "<extra>" not in hover and hover not in ("skip", "none", "text")
    return bool(legend or hovers) and trace.get("type") not in ("heatmap", "treemap", "bar_", "image")


def _figure(part: Any, key: str = "") -> Iterator[str]:
    if isinstance(part, dict):
        for name, value in part.items():
            yield from _figure(value, name if not isinstance(value, list) or name in READ else "")
    elif isinstance(part, list):
        for value in part:
            yield from _figure(value, key)
    elif isinstance(part, str) and key in READ:
        yield part


def _table(message: Any) -> Iterator[str]:
    table = pa.ipc.open_stream(message.arrow_data.data).read_all()
    shown = json.loads(message.columns or "{}")
    for name in table.column_names:
        if name.startswith("__index_level"):
            continue
        own = shown.get(name) or {}
        if own.get("hidden"):
            continue
        yield str(own.get("label") or name)
        if pa.types.is_string(table[name].type) or pa.types.is_large_string(table[name].type):
            yield from (str(one) for one in table[name].to_pylist() if one)


def _component(message: Any) -> Iterator[str]:
    sent = message.WhichOneof("data")
    given: Any = getattr(message, sent) if sent else b""
    if sent == "mixed":
        given = given.json
    if isinstance(given, bytes):
        given = given.decode("utf-8", "replace")
    try:
        yield from _said(json.loads(given))
    except (ValueError, TypeError):
        return


def _said(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        for value in part.values():
            yield from _said(value)
    elif isinstance(part, list):
        for value in part:
            yield from _said(value)
    elif isinstance(part, str) and not re.fullmatch(r"[.#]?[a-z0-9_-]+", part):  # a word of the program, an id
        yield part
