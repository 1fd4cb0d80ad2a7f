"""The line under each title: model, tokens, time, memory, self-check."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from bartviz.record import Record


def status(record: Record) -> None:
    """Draw the line, what was done to the text, and *untrained* in large letters where it is so."""
    parts = [f"<b>{html.escape(record.model.name)}</b>", *map(html.escape, facts(record))]
    lines = [f"<p>{' · '.join(parts)}</p>"]
    lines += [f"<p class='bv-notice'>{html.escape(notice)}</p>" for notice in record.provenance.notices]
    chosen = st.session_state.get("model", record.model.name)
    if chosen != record.model.name:
        said = f"This is the last run, of {record.model.name}. Press Run to see {chosen}."
        lines.append(f"<p class='bv-notice'>{html.escape(said)}</p>")
    if not record.model.trained:
        lines.insert(0, "<p class='bv-untrained'>untrained: random weights, so nothing here was learned</p>")
    st.html(f"<div class='bv-status'>{''.join(lines)}</div>")


def facts(record: Record) -> list[str]:
    """Everything after the model's name, each a few words."""
    sizes = f"{len(record.source):,} {'token' if len(record.source) == 1 else 'tokens'}"
    if record.cross is not None and record.decoder is not None:
        sizes = f"{len(record.source):,} tokens in, {len(record.decoder.query):,} out"
    said = [sizes]
    if record.provenance.seconds > 0:
        said.append(f"{record.provenance.seconds:.2f} s")
    said.append(f"{record.nbytes / 1e6:.1f} MB of attention")
    return [*said, self_check(record)]


def self_check(record: Record) -> str:
    """``rows sum to 1, masks obeyed: ok``, or what failed, with the number and its limit."""
    checks = record.provenance.checks
    if not checks:
        return "not self-checked"
    failed = [check for check in checks if not check.passed]
    if failed:
        return "; ".join(f"FAILED: {check.name} ({check.value:.2g}, limit {check.limit:.2g})" for check in failed)
    kinds = tuple(f"{kind} " for kind in record.kinds)
    names = dict.fromkeys(next((c.name[len(k) :] for k in kinds if c.name.startswith(k)), c.name) for c in checks)
    return f"{', '.join(name for name in names if name != 'layers')}: ok"
