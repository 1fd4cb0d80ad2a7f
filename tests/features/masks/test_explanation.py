"""What the page explains is what its numbers say."""

from __future__ import annotations

import numpy as np

from bartviz.analysis.mask_value import FORMATS, compare_numbers
from bartviz.families.catalogue import EMBEDDED
from bartviz.record.record import open_record
from bartviz.teaching.explanations import explanation


def test_a_row_that_is_masked_wholly() -> None:
    """Computed for rows of the record that ships: the expert level says this in words."""
    record = open_record(EMBEDDED / "records" / "start.safetensors")
    rows = [
        row
        for layer, head in np.ndindex(record.attention("encoder").shape[:2])
        for row in record.attention("encoder").scores(layer, head)
    ]
    found: dict[tuple[str, str], set[str]] = {}
    for row in rows[::7]:
        for line in compare_numbers(row).to_dict("records"):
            found.setdefault((line["added"], line["format"]), set()).add(line["row masked wholly"])
    assert found["-10,000", "float32"] == {"as if unmasked"}
    assert found["-10,000", "bfloat16"] == {"uniform"}
    assert {"uniform", "distorted"} <= found["-10,000", "float16"]
    assert float(np.spacing(np.float16(10_000))) == 8
    assert found["-1e9", "float16"] == {"NaN"}
    assert all(found["-1e9", to] == {"uniform"} for to in ("float32", "bfloat16"))
    assert all(found["lowest", to] == {"uniform"} and found["-inf", to] == {"NaN"} for to in FORMATS)
    said = " ".join(explanation("masks").expert.split())
    assert "In 32-bit numbers -10,000 only shifts all scores" in said
    assert "a finite number only shifts" not in said
