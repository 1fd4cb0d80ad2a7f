"""The words of the field, each with a short definition that a beginner can read: ``TERMS["softmax"]``.

Its key is the term's English name. An explanation names its terms by these keys.
"""

from __future__ import annotations

from bartviz.teaching.glossary import judging, looking, models, texts, writing
from bartviz.teaching.glossary.term import Term

TERMS: dict[str, Term] = {
    name: term for part in (looking, models, texts, writing, judging) for name, term in part.TERMS.items()
}

__all__ = ["TERMS", "Term"]
