"""The line under each title: model, tokens, time, memory, self-check."""

from __future__ import annotations

import html
from pathlib import PurePath
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis import terms
from bartviz.language import _, plural
from bartviz.record import KINDS
from bartviz.retold import retold
from bartviz.ui.names import CHECKS

if TYPE_CHECKING:
    from bartviz.record import Check, Kind, ModelInfo, Record


def status(record: Record) -> None:
    """Draw the line, what was done to the text, and *untrained* in large letters where it is so."""
    parts = [f"<b>{html.escape(record.model.name)}</b>", *map(html.escape, facts(record))]
    lines = [f"<p>{' · '.join(parts)}</p>"]
    lines += [f"<p class='bv-notice'>{html.escape(_(retold(notice)))}</p>" for notice in record.provenance.notices]
    chosen = st.session_state.get("model", record.model.name)
    if not names(chosen, record.model):
        said = _("This is the last run, of {name}. Press Run to see {chosen}.", name=record.model.name, chosen=chosen)
        lines.append(f"<p class='bv-notice'>{html.escape(said)}</p>")
    if not record.model.trained:
        said = html.escape(_("untrained: random weights, so nothing here was learned"))
        lines.insert(0, f"<p class='bv-untrained'>{said}</p>")
    st.html(f"<div class='bv-status'>{''.join(lines)}</div>")


def names(chosen: str, model: ModelInfo) -> bool:
    """Whether a choice means this model: one in a folder is chosen by its path and called by that folder."""
    return chosen == model.name or (model.source == "folder" and PurePath(chosen).name == model.name)


def facts(record: Record) -> list[str]:
    """Everything after the model's name, each a few words."""
    sizes = plural("{count:,} token", "{count:,} tokens", len(record.source))
    if record.cross is not None and record.decoder is not None:
        out = len(record.decoder.query)
        sizes = plural(
            "{count:,} token in, {out:,} out", "{count:,} tokens in, {out:,} out", len(record.source), out=out
        )
    said = [sizes]
    if record.provenance.seconds > 0:
        said.append(_("{seconds:.2f} s", seconds=record.provenance.seconds))
    said.append(_("{size:.1f} MB of attention", size=record.nbytes / 1e6))
    return [*said, self_check(record)]


def self_check(record: Record) -> str:
    """``rows sum to 1, masks obeyed: ok``, or what failed, with the number and its limit."""
    checks = record.provenance.checks
    if not checks:
        return _("not self-checked")
    failed = [check for check in checks if not check.passed]
    if failed:
        return "; ".join(
            _("FAILED: {check} ({value:.2g}, limit {limit:.2g})", check=_name(c), value=c.value, limit=c.limit)
            for c in failed
        )
    names = dict.fromkeys(_split(check.name)[1] for check in checks)
    return _("{checks}: ok", checks=", ".join(_(name) for name in names if name != "layers"))


def _name(check: Check) -> str:
    kind, name = _split(check.name)
    said = _(name) if name in CHECKS else name
    return said if kind is None else f"{terms.kind(kind)} {said}"


def _split(name: str) -> tuple[Kind | None, str]:
    """A check's name: the kind of attention it is about, if any, and the rest."""
    found: Kind | None = next((kind for kind in KINDS if name.startswith(f"{kind} ")), None)
    return found, name if found is None else name.removeprefix(f"{found} ")
