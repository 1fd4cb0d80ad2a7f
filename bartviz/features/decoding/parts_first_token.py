"""Another token that the decoder reads first, and what the model then writes. Computed when it is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from bartviz.app.controls import pick, show, tasks
from bartviz.browser.player.data import revision
from bartviz.features.decoding import numbers_first_token as numbers
from bartviz.language import _, later
from bartviz.language.percentages import fine

if TYPE_CHECKING:
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket


def first_token(record: Record) -> None:
    """The folded section (URL ``first_token``), for encoder-decoders that wrote the text themselves."""
    choices = _choices(record)
    if not choices:
        return
    label = _("What if the decoder began with another token?")
    with st.expander(label, key="first_token", on_change="rerun", bind="query-params") as expander:
        if not expander.open:
            return
        named = {str(token): text for token, text in choices.items()}
        chosen = pick.one_of(_("The decoder reads first"), named, key="decoder_start")
        other = _computed(record, int(chosen))
        if other is not None:
            _draw(record, other)


def _choices(record: Record) -> dict[int, str]:
    """The special tokens of this record other than the one that it began with: id -> label."""
    if record.cross is None or record.output is None or record.decoder is None:
        return {}
    begun = int(record.decoder.query.ids[0])
    found: dict[int, str] = {}
    for tokens in (record.source, record.output):
        special = zip(tokens.ids.tolist(), tokens.labels, tokens.special.tolist(), strict=True)
        found |= {token: label for token, label, is_special in special if is_special and token != begun}
    return found


def _computed(record: Record, token: int) -> Record | None:
    """The other decoding; None while the model is running."""

    def work(model: Model, ticket: Ticket[Record]) -> Record:
        from bartviz.run.branches import restarted

        ticket.report(later("Writing the text with another first token"))
        return restarted(model, record, token, cancelled=ticket.cancelled)

    key = {"record": revision(record), "model": record.model.fingerprint, "token": token}
    return tasks.ask("first_token", record.model.name, key, work)


def _draw(record: Record, other: Record) -> None:
    show.note(numbers.sentence(record, other))
    first = [record_.attention("decoder").query.labels[0] for record_ in (record, other)]
    frame = numbers.table(record, other)
    shown = frame.assign(**{name: ["" if np.isnan(p) else fine(p) for p in frame[name]] for name in ("own", "other")})
    names = {
        "token": _("token"),
        "own": _("after {first}, the model's own", first=first[0]),
        "other": _("after {first}", first=first[1]),
    }
    st.dataframe(shown, hide_index=True, column_config=names)
    show.note(
        _(
            "The first step that no rule decides, before any rule. {count} of {all} tokens differ. The model was "
            "trained with its own first token; the tokens are those of generate() with decoder_start_token_id.",
            count=numbers.differing(record, other),
            all=max(len(record.steps), len(other.steps)),
        )
    )
