"""The grammar's rows: how many, and that nothing of a pattern is left in them."""

from __future__ import annotations

import re

import numpy as np

from training import grammar, slots


def test_there_are_thousands_of_rows() -> None:
    rng = np.random.default_rng(0)
    rows = [grammar.drawn(rng) for _ in range(4000)]
    assert len({row.en for row in rows}) > 2000
    for row in rows:
        assert not re.search(r"[{}@_|]|  ", row.en + row.de)
        assert row.en[0] == row.en[0].upper()
        assert row.de[0] == row.de[0].upper()


def test_every_pattern_is_filled() -> None:
    rng = np.random.default_rng(1)
    patterns = grammar.phrases()
    assert len(patterns) > 600
    assert set(grammar.phrases("greetings")) < set(patterns)
    for en, de in patterns:
        row = slots.filled(en, de, rng)
        assert not re.search(r"[{}@_|]|  ", row.en + row.de)
        assert (row.en[-1] in ".!?") == (row.de[-1] in ".!?")
