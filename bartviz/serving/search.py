"""How text is decoded: the choices of the sidebar, and the options of ``decode`` for them. No Streamlit here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from bartviz.errors import SettingError
from bartviz.language import later, mark

By = Literal["greedy", "beams", "sampling", "checkpoint"]
Early = Literal[True, False, "never"]
BEAMS, TEMPERATURE, PENALTY, SEED = (2, 16), (0.05, 5.0), (-5.0, 5.0), (0, 2**31 - 1)
NGRAMS = (0, 10)


@dataclass(frozen=True, slots=True)
class Search:
    """How a text is decoded. None keeps the checkpoint's setting; fields that do not apply to ``by`` keep their
    default.

    by: greedy search, beam search with ``beams`` beams, sampling, or the checkpoint's own method. length_penalty above
    0 favours long texts. temperature divides the logits; top_k 0 and top_p 1 keep all tokens. min_new_tokens: minimum
    number of tokens before the end. ngrams: no sequence of this many tokens may repeat, 0 allows all.
    Raises SettingError for a number outside its range.
    """

    by: By = "greedy"
    beams: int | None = None
    length_penalty: float | None = None
    early_stopping: Early | None = None
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    min_new_tokens: int | None = None
    ngrams: int | None = None

    def __post_init__(self) -> None:
        _within(mark("Beams"), self.beams, *BEAMS)
        _within(mark("The length penalty"), self.length_penalty, *PENALTY)
        _within(mark("The temperature"), self.temperature, *TEMPERATURE)
        _within(mark("Top-k"), self.top_k, 0, 1_000_000)
        _within(mark("The seed"), self.seed, *SEED)
        _within(mark("The shortest length"), self.min_new_tokens, 0, 4096)
        _within(mark("The n-gram size that may not repeat"), self.ngrams, *NGRAMS)
        if not 0 < self.top_p <= 1:
            raise SettingError(later("Top-p is a share above 0 and up to 1, not {value}.", value=self.top_p))


def _within(name: str, value: float | None, low: float, high: float) -> None:
    if value is not None and not low <= value <= high:
        message = later(
            "{name} is {value}; choose {low:,} to {high:,}.", name=later(name), value=value, low=low, high=high
        )
        raise SettingError(message)


def options(search: Search) -> dict[str, Any]:
    """The options of ``decode`` for this search; empty for greedy search with the checkpoint's settings."""
    options: dict[str, Any] = {}
    if search.by == "checkpoint":
        options["beams"] = "own"
    if search.by == "beams":
        options["beams"] = search.beams or BEAMS[0]
        names = {"length_penalty": search.length_penalty, "early_stopping": search.early_stopping}
        options |= {name: value for name, value in names.items() if value is not None}
    if search.by == "sampling":
        from bartviz.run.sampling import Sampling

        options["sample"] = Sampling(search.temperature, search.top_k, search.top_p, search.seed)
    if search.min_new_tokens is not None:
        options["min_new_tokens"] = search.min_new_tokens
    if search.ngrams is not None:
        options["no_repeat_ngram_size"] = search.ngrams
    return options
