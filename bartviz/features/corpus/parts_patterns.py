"""Heads by a pattern: choose or type one, test every head over the atlas' texts, open examples, keep the receipt."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from bartviz.analysis import pattern_masks
from bartviz.app.controls import expander, export, pick, show, tasks
from bartviz.app.controls.export import File
from bartviz.app.frame import levels, sidebar
from bartviz.app.state import own_atlas, own_receipt
from bartviz.app.state.result_cache import cached
from bartviz.corpus import receipt
from bartviz.drawing import paper
from bartviz.errors import PatternError, SettingError
from bartviz.features.corpus import numbers_patterns as numbers
from bartviz.features.corpus.numbers_patterns import Example, Found, Text
from bartviz.features.corpus.parts import Chosen, opens
from bartviz.language import _, mark, plural
from bartviz.patterns.grammar import LONGEST, parse
from bartviz.record.attention import Head

if TYPE_CHECKING:
    import pandas as pd

    from bartviz.app.state.own_receipt import Receipt
    from bartviz.models.model import Model
    from bartviz.serving.gate import Ticket

FIND, VERIFY = "corpus_patterns", "corpus_receipt"
PATTERNS = {
    "from any to previous token": mark("the token before"),
    "from any to next token": mark("the token after"),
    "from any to itself": mark("the token itself"),
    "from any to first": mark("the first token"),
    "from word to special": mark("special tokens"),
    "from word to punctuation": mark("punctuation"),
    "from any to same token": mark("the same token elsewhere"),
    "from any to same position": mark("the same place, as in an alignment without turns"),
    "from any to within 2": mark("up to two tokens away"),
}
_DIFFERENCES = 5  # that are shown of a receipt


def section(chosen: Chosen) -> None:
    """The pattern (URL ``pattern``), and which heads follow it; below it a receipt that was opened. Folded but for
    experts, and where a link or a receipt asks for it."""
    opened = own_receipt.own()
    wanted = expander.requested("patterns", ["pattern"]) or levels.at_least("expert") or opened is not None
    if wanted:
        st.subheader(_("Find heads by a pattern"), anchor=False)
        _draw(chosen, opened)
        return
    with expander.section(_("Find heads by a pattern"), key="patterns") as unfolded:
        if unfolded:
            _draw(chosen, opened)


def _draw(chosen: Chosen, opened: Receipt | None) -> None:
    names = {pattern: f"{pattern} · {_(meaning)}" for pattern, meaning in PATTERNS.items()}
    names |= {pattern: f"{pattern} · {name}" for name, pattern in pattern_masks.added().items()}
    hint = _(
        "Or type one, such as: from number to same token. A pattern says where a head would look if it did one thing "
        "and nothing else; every head is tested for it, and found heads are tested again in the other half of the "
        "texts."
    )
    pattern = pick.or_typed(_("Pattern"), names, key="pattern", hint=hint, most=LONGEST)
    if _is_readable(pattern):
        _find(chosen, pattern)
    if opened is not None:
        _receipt(chosen, opened)


def _is_readable(pattern: str) -> bool:
    """Whether a pattern can be read; else what is wrong, and where."""
    try:
        parse(pattern)
    except PatternError as error:
        at = min(error.position, len(pattern))
        end = next((place for place in range(at, len(pattern)) if pattern[place].isspace()), len(pattern))
        before, wrong, after = pattern[:at], pattern[at : max(end, at + 1)] or " ", pattern[max(end, at + 1) :]
        marked = f"{html.escape(before)}<mark>{html.escape(wrong)}</mark>{html.escape(after)}"
        st.html(f"<pre class='bv-pattern'>{marked}</pre>")
        st.error(show.plain(str(error)))
        return False
    except SettingError as error:
        st.error(show.plain(str(error)))
        return False
    return True


def _texts(chosen: Chosen) -> list[Text]:
    own = own_atlas.own()
    rows = own.rows if own is not None and own.name == chosen.atlas else ()
    return numbers.texts_of(chosen.of, rows)


def _find(chosen: Chosen, pattern: str) -> None:
    model = str(chosen.of.description["model"]["name"])
    if model not in sidebar.models():
        show.note(_("Heads cannot be tested: this server does not have the model {model}.", model=model))
        return
    texts = cached(partial(_texts, chosen))
    key = {"pattern": pattern, "texts": _digest(texts)}
    button = plural("Test every head over {count:,} text", "Test every head over {count:,} texts", len(texts))
    found: Found | None = tasks.ask(FIND, model, key, partial(_found, pattern, texts), button=button)
    if found is None:
        return
    _shown(found.content)
    _examples(chosen, found)
    files = [
        File(_("Receipt"), "bartviz-heads.receipt.json", "application/json", lambda: found.receipt),
        File("LaTeX", "bartviz-heads.tex", "text/x-tex", lambda: _latex(found.content)),
    ]
    export.offer("corpus_patterns", _("Heads by a pattern"), files, place=1)
    show.note(
        _(
            "The receipt, among the files of this page, has pattern, digests of model and texts, versions and every "
            "number: dropped on a page, or with bartviz heads --verify, it is computed again."
        )
    )


def _found(pattern: str, texts: Sequence[Text], model: Model, ticket: Ticket[Found]) -> Found:
    from bartviz.features.corpus import run_patterns

    return run_patterns.find(pattern, texts, model, ticket)


def _shown(content: Mapping[str, Any]) -> None:
    """What was found, and the table of all heads."""
    of_each = numbers.of_each(content)
    for name, part in of_each.items():
        heading = f"<code>{html.escape(name)}</code> " if len(of_each) > 1 else ""
        st.html(f"<p>{heading}{html.escape(numbers.said(part))}</p>")
    frame = show.in_words(numbers.table(content))
    headers = show.headers(frame)
    headers["q"] = st.column_config.NumberColumn(headers["q"], format="%.1e")  # often too small for decimals
    st.dataframe(frame, hide_index=True, height=250, column_config=headers)


def _examples(chosen: Chosen, found: Found) -> None:
    """Texts where the pattern applies, with what it links; each opens with the head that follows it most."""
    head = numbers.best(found.content)
    if not found.examples:
        return
    st.html(f"<h4>{html.escape(_('Where the pattern applies'))}</h4>")
    for number, example in enumerate(found.examples):
        at = replace(chosen, head=head or Head(example.kind, 0, 0))
        opens(
            f"pattern_{number}", _links(example), dict.fromkeys(("text", "pair", "target")) | dict(example.fields), at
        )


def _links(example: Example) -> str:
    return ", ".join(f"<code>{html.escape(a)}</code> → <code>{html.escape(b)}</code>" for a, b in example.links)


def _receipt(chosen: Chosen, opened: Receipt) -> None:
    """A receipt that was opened: what it says, and whether that comes out again."""
    content = opened.content
    title = _("The receipt {name}: {pattern}", name=opened.name, pattern="; ".join(receipt.patterns(content)))
    left, right = st.columns([4, 1], vertical_alignment="center")
    with left:
        st.html(f"<h4>{html.escape(title)}</h4>")
    with right:
        st.button(_("Close"), key="receipt_close", on_click=own_receipt.close)
    _shown(content)
    versions = ", ".join(f"{name} {version[:12]}" for name, version in content["versions"].items())
    show.note(
        _(
            "Of {model} over {texts:,} texts ({corpus}), with {versions}. Nothing in it was changed afterwards.",
            model=content["model"]["name"],
            texts=int(content["texts"]),
            corpus=content["corpus"]["name"],
            versions=versions,
        )
    )
    model = content["model"]["name"]
    if model not in sidebar.models():
        show.note(_("Heads cannot be tested: this server does not have the model {model}.", model=model))
        return
    texts = cached(partial(_texts, chosen))
    key = {"receipt": hashlib.sha256(opened.data).hexdigest(), "texts": _digest(texts)}
    work = partial(_verified, opened.data, texts)
    differences = tasks.ask(VERIFY, model, key, work, button=_("Compute it again over the texts of this atlas"))
    if differences is None:
        return
    if not differences:
        st.success(show.plain(_("Computed again: every number is the same, to 0.000001.")))
        return
    listed = "; ".join(differences[:_DIFFERENCES])
    if len(differences) > _DIFFERENCES:
        listed = _("{names} and {count} more", names=listed, count=len(differences) - _DIFFERENCES)
    st.warning(show.plain(_("Computed again over these texts, it differs: {differences}.", differences=listed)))


def _verified(data: bytes, texts: Sequence[Text], model: Model, ticket: Ticket[tuple[str, ...]]) -> tuple[str, ...]:
    from bartviz.features.corpus import run_patterns

    return run_patterns.verify(data, texts, model, ticket)


def _latex(content: Mapping[str, Any]) -> bytes:
    rows: pd.DataFrame = numbers.table(content)
    return paper.latex(paper.rounded(rows), caption=numbers.said(content)).encode()


def _digest(texts: Sequence[Text]) -> str:
    return hashlib.sha256(repr(texts).encode("utf-8", "surrogatepass")).hexdigest()
