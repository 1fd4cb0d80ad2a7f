"""Figures and views of this feature, which the tests of all figures and all pages read."""

from __future__ import annotations

from bartviz.families.registry import FAMILIES
from bartviz.features.models import parts_learned as learned
from bartviz.serving import saved_records as records

VIEWS = tuple({"about": tab} for tab in ("architecture", "input", "training"))
RECORD = records.read(learned.RUN)
TEXTS = (
    *(learned.TEXT, learned.ROTATED, learned.RESTORED, RECORD.source_text, RECORD.target_text or ""),
    *(family.title for family in FAMILIES.values()),
)

# The key of each chart of the page -> the function of bartviz.figures that draws it.
CHARTS = {"layers": "models", "layers_rows": "models"}
