"""The words of an address that make a record again: its model, its texts, and how it was decoded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bartviz.record.vocabulary import BEAM_SEARCH, BRANCHED_AT, FORCED_END_TOKEN, GIVEN_TARGET, LENGTH_LIMIT, SAMPLING
from bartviz.ui.frame.settings import MOST_TOKENS, STOPS

if TYPE_CHECKING:
    from bartviz.record.record import Record

# settings of a run -> controls of the sidebar
_BEAMS = {"beams": "beams", "length_penalty": "length_penalty"}
_ALWAYS = {"min_new_tokens": "min_new_tokens", "no_repeat_ngram_size": "ngrams"}
_DRAWN = {"temperature": "temperature", "top_k": "draw_k", "top_p": "draw_p", "seed": "seed"}


def query(record: Record) -> dict[str, str]:
    """What the sidebar's controls hold where this record is made, by their keys; defaults are left out.

    A text that was branched becomes a given output: the same tokens, though the model would not write them again.
    """
    settings, tokens = record.provenance.settings, record.source
    found = {"model": record.model.name, "text": record.source_text}
    if record.pair_text is not None:
        found["pair"] = record.pair_text
    if any(special and span is not None for special, span in zip(tokens.special, tokens.spans, strict=True)):
        found["special"] = "true"
    if record.provenance.mode == GIVEN_TARGET or (record.cross is not None and BRANCHED_AT in settings):
        return found | {"target": record.target_text or ""}
    return found | _decoding(record)


def _decoding(record: Record) -> dict[str, str]:
    """The decoding settings of a text that the model wrote itself."""
    settings, found = record.provenance.settings, {}
    mode = record.provenance.mode
    if mode == BEAM_SEARCH:
        stops = {early: word for word, early in STOPS.items()}
        found = {"search": "beams", "stop": stops.get(settings.get("early_stopping"), "model")}  # type: ignore[call-overload]
    if mode == SAMPLING:
        found = {"search": "sampling"}
    names = _BEAMS if mode == BEAM_SEARCH else _DRAWN if mode == SAMPLING else {}
    found |= {key: str(settings[name]) for name, key in (names | _ALWAYS).items() if name in settings}
    most = settings.get("max_new_tokens")
    cut = record.provenance.stopped == LENGTH_LIMIT or any(step.rule == FORCED_END_TOKEN for step in record.steps[-1:])
    if cut and isinstance(most, int) and most <= MOST_TOKENS:
        found["max_new_tokens"] = str(most)
    return found
