"""The verdicts that need a run of the model that ships, or long: saved, as no visitor changes them.

``python -m training.measured`` makes the file, and a test makes them again. What each rests on is in ``run_measured``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from bartviz.features.textbook.judging import Between, Bound, Number, Share, Verdict
from bartviz.language import Later, later

FILE = Path(__file__).with_name("measured.json")
LONG = ("20",)  # judged without a model, by some thirty fits of least squares


@lru_cache(maxsize=1)
def verdicts() -> Mapping[str, Verdict]:
    """The saved verdicts by the number of their claims, read once per process; their messages are not translated."""
    return {number: _verdict(one) for number, one in json.loads(FILE.read_text("utf-8")).items()}


def to_json(found: Mapping[str, Verdict]) -> str:
    """Verdicts as JSON: messages with their templates, so that they can be translated."""
    tree = {
        number: {
            "numbers": [
                {
                    "label": _plain(one.label),
                    "claimed": _plain(one.claimed),
                    "found": _plain(one.found),
                    "core": one.core,
                    "within": _plain(one.within),
                }
                for one in verdict.numbers
            ],
            "why": _plain(verdict.why),
            "basis": _plain(verdict.basis),
            "decides": verdict.decides,
            "large": verdict.large,
        }
        for number, verdict in found.items()
    }
    return json.dumps(tree, ensure_ascii=False, indent=1) + "\n"


def _verdict(tree: Mapping[str, Any]) -> Verdict:
    numbers = tuple(Number(**{name: _value(one) for name, one in number.items()}) for number in tree["numbers"])
    return Verdict(numbers, _value(tree["why"]), _value(tree["basis"]), tree["decides"], tree["large"])


def _plain(value: object) -> object:
    """What JSON can write of a message, a bound or a number."""
    if isinstance(value, Later):
        return {"message": value.message, "values": {name: _plain(one) for name, one in value.values.items()}}
    if isinstance(value, Bound):
        return {"sign": value.sign, "than": _plain(value.than)}
    if isinstance(value, Between):
        return {"low": _plain(value.low), "high": _plain(value.high)}
    if isinstance(value, Share):
        return {"share": float(value)}
    return value.item() if isinstance(value, np.generic) else value


def _value(tree: Any) -> Any:
    """The value that ``_plain`` has written."""
    if not isinstance(tree, dict):
        return tree
    if "message" in tree:
        return later(tree["message"], **{name: _value(one) for name, one in tree["values"].items()})
    if "share" in tree:
        return Share(tree["share"])
    if "sign" in tree:
        return Bound(tree["sign"], _value(tree["than"]))
    return Between(_value(tree["low"]), _value(tree["high"]))
