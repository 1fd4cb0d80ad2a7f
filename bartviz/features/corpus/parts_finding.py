"""Single weights of an atlas that keeps them, by the tokens they join: where over the corpus a head does something."""

from __future__ import annotations

import html
import warnings
from functools import partial
from typing import Any

import streamlit as st

from bartviz.app.controls import pick, show
from bartviz.app.state.result_cache import cached
from bartviz.corpus.find import Found
from bartviz.errors import PackageError, SettingError
from bartviz.features.corpus import parts_own as own
from bartviz.features.corpus.parts import Chosen, opens
from bartviz.language import _, mark
from bartviz.record.attention import Kind

SHOWN = 10  # weights of a search
ANY = "any"
_CLASSES = {
    ANY: mark("any token"),
    "number": mark("a number"),
    "punctuation": mark("punctuation"),
    "capitalised": mark("a capitalised token"),
    "special": mark("a special token"),
}
_WHERE = {ANY: mark("anywhere"), "earlier": mark("earlier"), "later": mark("later"), "same": mark("the token itself")}


def section(chosen: Chosen) -> None:
    """The search fields (URL ``query``, ``key``, ``where``, ``same``, ``least_weight``), and where the head does it.

    Nothing for an atlas without single weights.
    """
    kept = chosen.of.description["settings"].get("edges")
    if kept is None:
        return
    st.subheader(show.plain(_("Search the weights of {head}", head=chosen.name)), anchor=False)
    fields = _fields(chosen.head.kind) | {"least": _least(float(kept))}
    try:
        found = cached(partial(_found, chosen, tuple(sorted(fields.items()))))
    except (SettingError, PackageError) as error:
        st.info(show.plain(str(error)))
        return
    counted = _(
        "{count:,} weights of at least {least:g} in {texts:,} texts.",
        count=found.count,
        least=fields["least"],
        texts=chosen.of.description["texts"],
    )
    some = _("The {count} largest are shown.", count=SHOWN) if found.count > SHOWN else ""
    show.note(f"{counted} {some}".strip())
    for place, row in enumerate(found.edges.to_dict("records")):
        first, last = (f"<code>{html.escape(row[name])}</code>" for name in ("query_token", "key_token"))
        joined = f"<b>{row['weight']:.2f}</b> {first} → {last}"
        opens(f"found_{place}", joined, row, chosen)


def _fields(kind: Kind) -> dict[str, Any]:
    """The fields of ``Atlas.find`` that the visitor chooses."""
    first, second, third, fourth = st.columns(4, vertical_alignment="bottom")
    names = {word: _(name) for word, name in _CLASSES.items()}
    hint = _("Or type a token as the maps show it, such as a comma.")
    with first:
        query = pick.or_typed(_("Query token"), names, key="query", default=ANY, hint=hint)
    with second:
        key = pick.or_typed(_("Key token"), names, key="key", default=ANY, hint=hint)
    where = ANY
    if kind != "cross":
        with third:
            where = pick.select(_("Where"), {word: _(name) for word, name in _WHERE.items()}, key="where", default=ANY)
    with fourth:
        same = pick.switch(_("Both tokens are the same"), key="same")
    given = {"query": query, "key": key, "where": where}
    return {name: word for name, word in given.items() if word != ANY} | ({"same": True} if same else {})


def _least(kept: float) -> float:
    steps = [kept, *(tenth / 10 for tenth in range(1, 10) if tenth / 10 > kept)]
    names = {f"{step:g}": f"{step:g}" for step in steps}
    return float(pick.one_of(_("Weight at least"), names, key="least_weight"))


def _found(chosen: Chosen, fields: tuple[tuple[str, Any], ...]) -> Found:
    head = chosen.head
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return own.atlas(chosen.atlas).find(
            limit=SHOWN, kind=head.kind, layer=head.layer, head=head.head, **dict(fields)
        )
