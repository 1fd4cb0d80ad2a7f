"""The line under each title: model, tokens, time, memory, self-check."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis import sentence_words
from bartviz.app.frame import levels
from bartviz.language import _, mark, plural
from bartviz.models.location import name_of
from bartviz.record.checks import FILE
from bartviz.record.vocabulary import GIVEN_TARGET

if TYPE_CHECKING:
    from bartviz.record.checks import Check
    from bartviz.record.record import ModelInfo, Record

# What is below the line is pale: it is of another model than the chosen one.
_OLD = (
    "<style>[data-testid='stLayoutWrapper']:has(> .st-key-status) ~ * { opacity: 0.35; filter: grayscale(1) }</style>"
)


def status(record: Record, *, older_target: bool = False, refused: bool = False, opened: bool = False) -> None:
    """Draw the line, notices about the text, and a large warning if the weights look untrained.

    ``older_target``: the given output is still that of the text before, which a notice says. ``refused``: an error
    about a new text is below the line, so the notices, which are about the text of this record, are left out.
    ``opened``: it was opened from a file, which a line of its own says.

    Experts see the line, others a tick that opens, beginners neither; a failed check is always shown in full.
    """
    name, known = f"<b>{html.escape(record.model.name)}</b>", [html.escape(fact) for fact in facts(record)]
    if levels.at_least("expert") or any(check.failed for check in record.checked):
        lines = [f"<p>{' · '.join([name, *known])}</p>"]
    elif not levels.at_least("intermediate"):
        lines = []
    else:
        tick = html.escape(_(_tick(record)))
        lines = [f"<details><summary>{name} · {tick}</summary><p>{' · '.join(known)}</p></details>"]
    notices = () if refused else record.provenance.notices
    if older_target and not refused and record.provenance.mode == GIVEN_TARGET:
        notices += (
            mark("The given output belongs to the previous text. Clear “Given output” to let the model write its own."),
        )
    lines += [f"<p class='bv-notice'>{html.escape(_(notice))}</p>" for notice in notices]
    chosen = st.session_state.get("model", record.model.name)
    if not opened and not names(chosen, record.model):
        message = _(
            "This is the last run, of {name}. Press Run to see {chosen}.", name=record.model.name, chosen=chosen
        )
        lines.append(f"<p class='bv-older'>{html.escape(message)}</p>")
        st.html(_OLD)
    if not record.model.trained:
        message = html.escape(_("looks untrained: all normalisation gains are still about 1"))
        lines.insert(0, f"<p class='bv-untrained'>{message}</p>")
    st.html(f"<div class='bv-status'>{''.join(lines)}</div>")


def _tick(record: Record) -> str:
    """The meaning of the tick; what was compared, and when, is said where it opens."""
    return mark("✓ its numbers were checked") if record.sound else mark("not checked")


def names(chosen: str, model: ModelInfo) -> bool:
    """Whether a choice refers to this model; a model in a folder is chosen by path and named after the folder."""
    return chosen == model.name or (model.source == "folder" and name_of(Path(chosen)) == model.name)


def facts(record: Record) -> list[str]:
    """The facts after the model's name, a few words each."""
    sizes = plural("{count:,} token", "{count:,} tokens", len(record.source))
    if record.cross is not None and record.decoder is not None:
        out = len(record.decoder.query)
        sizes = plural(
            "{count:,} token in, {out:,} out", "{count:,} tokens in, {out:,} out", len(record.source), out=out
        )
    parts = [sizes]
    if record.provenance.seconds > 0:
        parts.append(_("{seconds:.2f} s", seconds=record.provenance.seconds))
    parts.append(_("{size:.1f} MB in memory", size=record.nbytes / 1e6))
    return [*parts, self_check(record)]


def self_check(record: Record) -> str:
    """The scope and time of the checks; or the one that failed, with its value and limit."""
    failed = [check for check in record.checked if check.failed]
    if failed:
        return "; ".join(_("FAILED: {check} ({value})", check=name(check), value=value(check)) for check in failed)
    if record.seal == "older":
        return _("from an older version: not checked")
    if not record.sound:
        return _("not checked: nothing to compare with")
    if record.from_weights:
        return _("the weights were given; checked: each row sums to 1, and the weights fit the mask")
    if record.seal == "made":
        return _("checked when it was made: {scope}", scope=_scope(record))
    return _("checked when it was opened: {scope}; unchanged since it was saved", scope=_scope(record))


def _scope(record: Record) -> str:
    """The part that was compared with the kernel's output, such as ``all 12 attention layers, one head in each``."""
    layers, whole, seen, rows = 0, True, 1, 1
    for attention in map(record.attention, record.kinds):
        if attention.sample is not None:
            heads, part = attention.sample.compared
            layers += attention.shape[0]
            whole = whole and heads == attention.shape[1]
            if part * rows < seen * attention.shape[2]:  # the kind of which least was compared
                seen, rows = part, attention.shape[2]
    if seen < rows:
        message = (
            mark("all {layers} attention layers, every head, {seen} of {rows} rows")
            if whole
            else mark("all {layers} attention layers, one head and {seen} of {rows} rows in each")
        )
        return _(message, layers=layers, seen=seen, rows=rows)
    return _(
        mark("all {layers} attention layers, every head")
        if whole
        else mark("all {layers} attention layers, one head in each"),
        layers=layers,
    )


def name(check: Check) -> str:
    """The name of a check, in the reader's language."""
    return _(check.name) if check.kind is None else f"{sentence_words.kind(check.kind)} {_(check.name)}"


def value(check: Check) -> str:
    """The measured value of a check, and its limit."""
    if check.value is None:
        return _("nothing to compare with")
    if check.name == FILE:
        return _("unchanged since it was saved") if check.passed else _("changed after it was saved")
    if check.limit == 0:
        return _("none wrong") if check.passed else _("{count:.0f} wrong", count=check.value)
    return _("{value:.2g}, limit {limit:.2g}", value=check.value, limit=check.limit)
