"""Sampling the next token: temperature and filters, as in ``generate(do_sample=True)``, with a seed.

Top-k: Fan, Lewis and Dauphin 2018; top-p (nucleus): Holtzman et al. 2020; min-p: Nguyen et al. 2025; typical: Meister
et al. 2023; epsilon and eta: Hewitt, Manning and Liang 2022; top-h: Baghaei Potraghloo et al. 2025.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING

from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.record.vocabulary import SAMPLING

if TYPE_CHECKING:
    from torch import Generator, Tensor
    from transformers import GenerationConfig

COLDEST, HOTTEST = 1e-6, 100.0  # below that, dividing a logit may overflow
LARGEST_SEED = 2**63 - 1
FILTERS = ("top_h", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff")  # fields that may be the checkpoint's


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a token is drawn. The same seed gives the same text: the one that transformers writes after
    ``torch.manual_seed(seed)`` with ``generate(do_sample=True)`` and these settings.

    temperature: divides the logits; below 1 the distribution is sharper. top_k: sample from this many of the most
    probable tokens, 0 for all. top_p: sample from the most probable tokens that reach this total, 1 for all.
    min_p: leave out tokens below this share of the largest probability. typical_p: sample from the tokens whose
    -log p is closest to the entropy that reach this total. epsilon_cutoff: leave out less probable tokens than that;
    eta_cutoff: the same, lower where the entropy is high. top_h: sample from the most probable tokens that have at
    most this share of the entropy. Each of these five is None for the checkpoint's own; 0 filters nothing.
    The order is that of ``generate``: rules, temperature, top_h, top_k, top_p, min_p, typical_p, epsilon_cutoff,
    eta_cutoff. Raises SettingError.

    >>> drawn = bartviz.Sampling(temperature=0.8, top_p=0.9, seed=1)
    >>> first, again = (bartviz.decode(model, "It is late.", sample=drawn) for _ in range(2))
    >>> first.target_text == again.target_text  # the same seed gives the same text
    True
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    top_h: float | None = None
    min_p: float | None = None
    typical_p: float | None = None
    epsilon_cutoff: float | None = None
    eta_cutoff: float | None = None

    def __post_init__(self) -> None:
        if not (_is_a(Real, self.temperature) and COLDEST <= self.temperature <= HOTTEST):
            raise SettingError(
                later(
                    "The temperature is {temperature}; choose {coldest:f} to {hottest:g}. For the most "
                    "probable token at every step, do not sample.",
                    temperature=self.temperature,
                    coldest=COLDEST,
                    hottest=HOTTEST,
                )
            )
        if not (_is_a(Integral, self.top_k) and self.top_k >= 0):
            raise SettingError(
                later("top_k is {top_k}; choose a whole number, 1 or more, or 0 for every token.", top_k=self.top_k)
            )
        if not (_is_a(Real, self.top_p) and 0 < self.top_p <= 1):
            raise SettingError(later("top_p is {top_p}; choose more than 0 and at most 1.", top_p=self.top_p))
        if not (_is_a(Integral, self.seed) and 0 <= self.seed <= LARGEST_SEED):
            raise SettingError(later("The seed is {seed}; choose a whole number from 0 up.", seed=self.seed))
        for name in FILTERS:
            value = getattr(self, name)
            if not (value is None or (_is_a(Real, value) and 0 <= value <= 1)):
                raise SettingError(
                    later("{name} is {value}; choose 0 to 1, or None for the checkpoint's.", name=name, value=value)
                )
        for name, kind in (("temperature", float), ("top_k", int), ("top_p", float), ("seed", int)):
            object.__setattr__(self, name, kind(getattr(self, name)))

    @property
    def settings(self) -> dict[str, object]:
        """The settings by name, as a record's provenance holds them."""
        return {"mode": SAMPLING, **{name: value for name, value in asdict(self).items() if value is not None}}

    def completed(self, generation: GenerationConfig) -> Sampling:
        """The same with the checkpoint's filters where none is set here."""
        return replace(self, **{name: getattr(generation, name) for name in FILTERS if getattr(self, name) is None})

    def generator(self) -> Generator:
        """The random number generator of one text."""
        import torch

        return torch.Generator().manual_seed(self.seed)

    def probabilities(self, scores: Tensor) -> Tensor:
        """Scores (B, V) after the rules -> the probabilities (B, V) from which a token is drawn."""
        import torch
        from transformers.generation import logits_process as warpers

        ids = torch.empty(0)  # no warper reads the tokens so far
        if self.temperature != 1.0:
            scores = warpers.TemperatureLogitsWarper(float(self.temperature))(ids, scores)
        if self.top_h:
            scores = warpers.TopHLogitsWarper(self.top_h)(ids, scores)
        if self.top_k:
            scores = warpers.TopKLogitsWarper(self.top_k)(ids, scores)
        if self.top_p < 1.0:
            scores = warpers.TopPLogitsWarper(self.top_p)(ids, scores)
        if self.min_p:
            scores = warpers.MinPLogitsWarper(self.min_p)(ids, scores)
        if self.typical_p and self.typical_p < 1:
            scores = warpers.TypicalLogitsWarper(self.typical_p)(ids, scores)
        if self.epsilon_cutoff and self.epsilon_cutoff < 1:
            scores = warpers.EpsilonLogitsWarper(self.epsilon_cutoff)(ids, scores)
        if self.eta_cutoff and self.eta_cutoff < 1:
            scores = warpers.EtaLogitsWarper(self.eta_cutoff)(ids, scores)
        return scores.softmax(dim=-1)


def _is_a(kind: type, value: object) -> bool:
    """Whether a value is a number of this kind; NumPy numbers are, booleans are not."""
    return isinstance(value, kind) and not isinstance(value, bool)
