"""What the figures of ``test_pseudo.py`` show: records whose tokens are in other letters, or are many."""

from __future__ import annotations

from bartviz.record.attention import Attention
from bartviz.record.record import Record
from tests.support import records, stand_in

RECORD = stand_in.record(("<s>", "나는", " 1999", " 차를", " 차를", " 산다", ".", "</s>"))
LONG = stand_in.record((*("<s>", "나는"), *[f" {number}" for number in range(420)], "</s>"))


def attention(kind: str) -> Attention:
    return RECORD.attention(kind)


def biased() -> Attention:
    tokens = stand_in.tokens(["1", "2", "3", "4"])
    return records.attention("decoder", tokens, tokens, bias=True)


def biased_record() -> Record:
    tokens = stand_in.tokens(["1", "2", "3", "4"])
    base = stand_in.record(["1", "2", "3", "4"], kind="encoder")
    return Record(
        base.model, base.source_text, None, records.attention("encoder", tokens, tokens, bias=True), None, None
    )
