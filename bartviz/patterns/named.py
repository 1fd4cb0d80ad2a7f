"""The patterns that have a name: a head that follows one has a role, on one text or over a corpus."""

from __future__ import annotations

from collections.abc import Mapping

NAMED: Mapping[str, str] = {
    "previous": "from not special to previous token",
    "next": "from not special to next token",
    "itself": "from not special to itself",
    "diagonal": "from not special to diagonal",
    "same": "from not special to same word",
    "first": "from not special to first and not itself",
    "special": "from not special to special",
    "punctuation": "from not special to punctuation and not itself",
}
"""By the name of the measure that is the weight on it (``analysis.head_measures``)."""
