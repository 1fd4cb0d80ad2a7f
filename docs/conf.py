"""Settings of the documentation site; ``make docs`` (scripts/site.py) puts its sources together and builds it."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

import bartviz

project = "bartviz"
author = "The bartviz developers"
copyright = author  # noqa: A001
version = release = bartviz.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = "bartviz"
html_extra_path = ["extra"]  # the explorers
html_show_sphinx = False
html_show_sourcelink = html_copy_source = False
html_math_renderer = "mathml"
highlight_language = "text"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_show_tb = True
nb_output_stderr = "remove"  # progress bars
nb_ipywidgets_js: dict[str, str] = {}  # they would be loaded from another host
suppress_warnings = ["mystnb.unknown_mime_type"]  # plotly's JSON, beside its HTML
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
nitpicky = False
templates_path: list[str] = []
exclude_patterns = ["extra"]


def setup(app: Sphinx) -> None:
    """Formulas become MathML, which browsers draw without a script; a Korean page says that it is Korean; wide tables
    scroll by keys."""
    app.add_lexer("pattern", TextLexer)  # the language of patterns has no colours
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    app.connect("html-page-context", _language)
    app.connect("html-page-context", _tables)
    app.connect("autodoc-process-docstring", _plain)


def _plain(_app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]) -> None:
    """Our docstrings are plain text: ``name: ...`` at the beginning of a line describes an argument."""
    out: list[str] = []
    listed = False
    for line in lines:
        text = line.replace("|", "\\|")
        if argument := re.match(r"([a-z_]+(?:, [a-z_]+)*): (?=\S)", text):
            listed = True
            out += ["", f"* ``{argument[1]}``: {text[argument.end() :]}"]
        elif not text.strip():
            listed = False
            out.append("")
        elif listed and re.match(r"Raises [A-Z]", text):
            listed = False
            out += ["", text]
        elif listed:
            out.append(f"  {text.strip()}")
        else:
            out.append(text)
    lines[:] = out


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math" tabindex="0">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def _language(_app: Sphinx, name: str, _template: str, context: dict[str, Any], _tree: object) -> None:
    if name.endswith(".ko"):
        context["language"] = "ko"


def _tables(_app: Sphinx, _name: str, _template: str, context: dict[str, Any], _tree: object) -> None:
    if "body" in context:
        context["body"] = context["body"].replace('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper')
