"""Two decodings of the same text whose decoder begins with another token: the texts, and the first free step of both.

A decoder that has written nothing yet must read something: BART's reads the end token. What it learned holds for that
token; another one is a beginning that it has not seen.
"""

from __future__ import annotations

from itertools import zip_longest

import pandas as pd

from bartviz.analysis.decoding import labels
from bartviz.analysis.masks import quote
from bartviz.language import _
from bartviz.language.percentages import percent
from bartviz.record.record import Record
from bartviz.record.steps import Step


def first_free(record: Record) -> Step:
    """The first step that no rule decided; the first one where a rule decided all."""
    return next((step for step in record.steps if step.rule is None), record.steps[0])


def table(own: Record, other: Record) -> pd.DataFrame:
    """The candidates of the first free step of both, the likeliest first: token, and its probability with each first
    token; missing where a record did not keep it."""
    one, two = (first_free(record) for record in (own, other))
    found: dict[int, dict[str, object]] = {}
    for step, name in ((one, "own"), (two, "other")):
        for candidate in step.candidates:
            line = found.setdefault(candidate.token_id, {"token": candidate.label, "own": None, "other": None})
            line[name] = candidate.probability
    frame = pd.DataFrame(list(found.values()), columns=["token", "own", "other"]).astype({"own": float, "other": float})
    order = frame[["own", "other"]].max(axis=1).sort_values(ascending=False, kind="stable").index
    return frame.loc[order].reset_index(drop=True)


def sentence(own: Record, other: Record) -> str:
    """What changed: the text, and how sure the model is of the first word that it chooses itself."""
    first = labels(other, "reads")[0]
    one, two = (first_free(record) for record in (own, other))
    texts = [record.target_text or "" for record in (own, other)]
    values = {"first": quote(first), "own": quote(labels(own, "reads")[0]), "other_text": quote(texts[1])}
    said = (
        _("With {first} first instead of {own}, the model writes the same text.", **values)
        if texts[0] == texts[1]
        else _("With {first} first instead of {own}, the model writes {other_text}.", **values)
    )
    shares = [
        _("{word} with {share}", word=quote(step.chosen.label), share=percent(step.chosen.probability))
        for step in (one, two)
    ]
    return f"{said} " + _("The first word that it chooses: {one} before, {two} now.", one=shares[0], two=shares[1])


def differing(own: Record, other: Record) -> int:
    """How many of the written tokens differ, place by place."""
    ids = ([step.chosen.token_id for step in record.steps] for record in (own, other))
    return sum(one != two for one, two in zip_longest(*ids))
