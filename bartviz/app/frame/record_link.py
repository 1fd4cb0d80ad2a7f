"""The address that reproduces a record: its model, its texts, and its decoding settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bartviz.app.frame.settings import MOST_TOKENS, STOPS
from bartviz.app.frame.sidebar import has_masks
from bartviz.record.vocabulary import BEAM_SEARCH, BRANCHED_AT, FORCED_END_TOKEN, GIVEN_TARGET, LENGTH_LIMIT, SAMPLING
from bartviz.text.capitals import IN_CAPITALS

if TYPE_CHECKING:
    from bartviz.record.record import Record

# setting of a run -> control of the sidebar
_BEAMS = {"beams": "beams", "length_penalty": "length_penalty"}
_ALWAYS = {"min_new_tokens": "min_new_tokens", "no_repeat_ngram_size": "ngrams"}
_DRAWN = {"temperature": "temperature", "top_k": "draw_k", "top_p": "draw_p", "seed": "seed"}


def query(record: Record) -> dict[str, str]:
    """The sidebar's values for this record, by control key; defaults are left out.

    A branched text becomes a given output: the same tokens, which the model would not write on its own.
    """
    settings, tokens = record.provenance.settings, record.source
    values = {"model": record.model.name, "text": record.source_text}
    if record.pair_text is not None:
        values["pair"] = record.pair_text
    special = any(special and span is not None for special, span in zip(tokens.special, tokens.spans, strict=True))
    if special != has_masks(record.model.kind, record.source_text, record.pair_text or ""):
        values["special"] = str(special).lower()
    if any(getattr(notice, "message", None) == IN_CAPITALS for notice in record.provenance.notices):
        values["capitals"] = "typed"
    if record.provenance.mode == GIVEN_TARGET or (record.cross is not None and BRANCHED_AT in settings):
        return values | {"target": record.target_text or ""}
    return values | _decoding(record)


def _decoding(record: Record) -> dict[str, str]:
    """The decoding settings of a text that the model wrote itself."""
    settings, values = record.provenance.settings, {}
    mode = record.provenance.mode
    if mode == BEAM_SEARCH:
        stops = {early: word for word, early in STOPS.items()}
        values = {"search": "beams", "stop": stops.get(settings.get("early_stopping"), "model")}  # type: ignore[call-overload]
    if mode == SAMPLING:
        values = {"search": "sampling"}
    names = _BEAMS if mode == BEAM_SEARCH else _DRAWN if mode == SAMPLING else {}
    values |= {key: str(settings[name]) for name, key in (names | _ALWAYS).items() if name in settings}
    most = settings.get("max_new_tokens")
    reached_limit = record.provenance.stopped == LENGTH_LIMIT or any(
        step.rule == FORCED_END_TOKEN for step in record.steps[-1:]
    )
    if reached_limit and isinstance(most, int) and most <= MOST_TOKENS:
        values["max_new_tokens"] = str(most)
    return values
