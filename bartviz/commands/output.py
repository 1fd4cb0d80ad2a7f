"""What several commands print: JSON, tables, and the heading of their examples."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES = "examples:\n  "
DEVICE = "where the model computes: cpu, cuda, cuda:1, mps, or auto for the accelerator if there is one (%(default)s)"


def print_json(value: object) -> None:
    """One line of JSON; what is not finite is null."""
    print(json.dumps(_finite(value), ensure_ascii=False, allow_nan=False))


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as objects; what is missing is None."""
    whole = table.astype(object)
    rows: list[dict[str, Any]] = whole.where(whole.notna(), None).to_dict("records")  # type: ignore[assignment]
    return rows


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    if hasattr(value, "item"):
        return _finite(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value
