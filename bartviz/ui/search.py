"""How the next token is found: what the sidebar asks for, and what that means for a model. No Streamlit here."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from bartviz.errors import SettingError

if TYPE_CHECKING:
    from transformers import GenerationConfig

    from bartviz.models import Model

By = Literal["greedy", "beams", "sampling", "checkpoint"]
Early = Literal[True, False, "never"]
BEAMS, TEMPERATURE, PENALTY, SEED = (2, 16), (0.05, 5.0), (-5.0, 5.0), (0, 2**31 - 1)
OWN_TOP_K = 50  # what generate() draws from where a checkpoint does not say


@dataclass(frozen=True, slots=True)
class Search:
    """How a text is decoded. None leaves what the checkpoint says; what does not belong to ``by`` keeps its default.

    by: the most probable token, ``beams`` texts side by side, a token drawn at random, or as the checkpoint was made
    to decode. length_penalty above 0 favours long texts. temperature divides the logits; top_k 0 and top_p 1 keep all
    tokens. min_new_tokens: the end is not allowed before. blocks: whether the checkpoint's rule against repeated
    n-grams acts. Raises SettingError for a number outside its range.
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
    blocks: bool = True

    def __post_init__(self) -> None:
        _within("Beams", self.beams, *BEAMS)
        _within("The length penalty", self.length_penalty, *PENALTY)
        _within("The temperature", self.temperature, *TEMPERATURE)
        _within("Top-k", self.top_k, 0, 1_000_000)
        _within("The seed", self.seed, *SEED)
        _within("The shortest length", self.min_new_tokens, 0, 4096)
        if not 0 < self.top_p <= 1:
            raise SettingError(f"Top-p is a share above 0 and up to 1, not {self.top_p}.")


def _within(name: str, value: float | None, low: float, high: float) -> None:
    if value is not None and not low <= value <= high:
        raise SettingError(f"{name} is {value}; choose {low:,} to {high:,}.")


def options(search: Search, generation: GenerationConfig) -> dict[str, Any]:
    """The options that ``decode`` and ``branch`` need for this search; empty for a greedy one."""
    if search.by == "beams":
        return _beams(search.beams or max(generation.num_beams or 1, 2), search)
    if search.by == "sampling":
        return {"sample": _sampling(search.temperature, search.top_k, search.top_p, search.seed)}
    if search.by == "checkpoint":
        return _own(search, generation)
    return {}


def ruled(model: Model, search: Search) -> Model:
    """The model with the rules that the visitor has changed; the model itself where there are none."""
    if search.min_new_tokens is None and (search.blocks or not model.generation.no_repeat_ngram_size):
        return model
    generation = copy.deepcopy(model.generation)
    if search.min_new_tokens is not None:
        generation.min_length, generation.min_new_tokens = 0, search.min_new_tokens
    if not search.blocks:
        generation.no_repeat_ngram_size = 0
    return replace(model, generation=generation)


def _own(search: Search, generation: GenerationConfig) -> dict[str, Any]:
    found = _beams(generation.num_beams or 1, Search())
    if generation.do_sample:
        kept = OWN_TOP_K if generation.top_k is None else generation.top_k
        found["sample"] = _sampling(generation.temperature or 1.0, kept, generation.top_p or 1.0, search.seed)
    return found


def _beams(count: int, search: Search) -> dict[str, Any]:
    """Beams and what belongs to them; nothing where one beam is a greedy search."""
    if count < 2:
        return {}
    found: dict[str, Any] = {"beams": count}
    if search.length_penalty is not None:
        found["length_penalty"] = search.length_penalty
    if search.early_stopping is not None:
        found["early_stopping"] = search.early_stopping
    return found


def _sampling(temperature: float, top_k: int, top_p: float, seed: int) -> object:
    from bartviz.sampling import Sampling

    return Sampling(temperature=temperature, top_k=top_k, top_p=top_p, seed=seed)
