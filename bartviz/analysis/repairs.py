"""A text, its corruption and a model's reconstruction: judged word by word, and scored token by token.

The columns of the three lines are in ``places``. Letters in shapes: T target tokens, R rows and C columns of a map.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis.denoising import MASK, NOISE, Noised
from bartviz.analysis.head_view import View
from bartviz.analysis.masks import quote
from bartviz.analysis.repair_columns import MARKS, Place, Said, rows_of
from bartviz.arrays import Bools, Floats
from bartviz.errors import RecordError
from bartviz.language import _, later, mark, plural
from bartviz.language.percentages import percent
from bartviz.record.record import Record

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Score:
    """A given target under teacher forcing, token by token: T counted tokens, the end token among them.

    log_probability (T,) in nats; ``best`` and ``best_probability`` (T,) of the likeliest token; right (T,): whether it
    is the target; lost (T,): whether the target belongs to a lost or moved word.
    """

    labels: tuple[str, ...]
    special: Bools
    log_probability: Floats
    best: tuple[str, ...]
    best_probability: Floats
    right: Bools
    lost: Bools

    @property
    def accuracy(self) -> float:
        """Share of the tokens that are the model's best guess, 0..1."""
        return float(self.right.mean())

    @property
    def loss(self) -> float:
        """Mean cross-entropy, in nats a token."""
        return float(-self.log_probability.mean())

    @property
    def of_lost(self) -> tuple[int, int]:
        """The number of right tokens of lost or moved words, and of all tokens of such words."""
        return int(self.right[self.lost].sum()), int(self.lost.sum())


@dataclass(frozen=True)
class Repair:
    """One corruption and its repair. ``plain``: the clean text as source and target. ``given``: the corrupted text as
    source, the clean one as target. ``written``: the corrupted text as source, decoded greedily. ``places``: the
    columns of the three lines, in reading order. ``notices``: what was done to the text.
    """

    noised: Noised
    plain: Record
    given: Record
    written: Record
    places: tuple[Place, ...]
    score: Score
    notices: tuple[str, ...] = ()

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays."""
        return self.plain.nbytes + self.given.nbytes + self.written.nbytes

    @property
    def said(self) -> tuple[Said, ...]:
        """All words that the model wrote, in order."""
        return tuple(one for place in self.places for one in place.said)


def score(record: Record, noised: Noised) -> Score:
    """Loss and accuracy of a given target, as ``training.sequence.score`` counts them: a special token at row 0, which
    begins every text, is left out, the end token is not. Raises RecordError without an output."""
    output = record.output
    if output is None:
        raise RecordError(later("This record has no given target that could be scored."))
    steps = [step for step in record.steps if not (step.row == 0 and output.special[0])]
    rows = [step.row for step in steps]
    touched = np.zeros(len(output), np.bool_)
    for number in {*noised.lost, *noised.moved}:
        word = noised.clean[number]
        touched[rows_of(output, word.start, word.end)] = True
    return Score(
        tuple(output.labels[row] for row in rows),
        output.special[rows],
        np.array([step.log_probability for step in steps], np.float32),
        tuple(step.candidates[0].label for step in steps),
        np.array([step.candidates[0].probability for step in steps], np.float32),
        np.array([step.candidates[0].token_id == int(output.ids[step.row]) for step in steps], np.bool_),
        touched[rows],
    )


def notice(found: Repair) -> str:
    """One sentence computed for this text: how much was restored, and how sure the model was of one word."""
    noised, said = found.noised, found.said
    gone = len({*noised.lost, *noised.moved})
    if not gone:
        return _("Nothing was lost or moved here, so there is nothing to repair.")
    right = [one for one in said if one.mark == "right"]
    parts = [_back(found.written.model.name, gone, right, bool(noised.lost))]
    mistakes, more = ([one for one in said if one.mark == sign] for sign in ("wrong", "added"))
    if mistakes:
        wrong = mark("its most confident mistake is {word} ({likely})")
        if len(mistakes) == 1:
            wrong = mark("its one wrong word is {word} ({likely})")
        parts.append(_(wrong, **_word(_surest(mistakes))))
    elif more:
        parts.append(_("it added {word} ({likely})", **_word(_surest(more))))
    touched = {*noised.lost, *noised.moved}
    left = sum(not place.said and not touched.issuperset(place.clean) for place in found.places)
    if left:
        parts.append(
            plural("it left out {count} word that it could see", "it left out {count} words that it could see", left)
        )
    return "; ".join(parts) + "."


def _back(model: str, gone: int, back: Sequence[Said], lost: bool) -> str:
    """A clause: how many words were put back, and how sure the model was of one that had been lost."""
    if not lost:
        return plural(
            "{model} put back {back} of {count} moved word",
            "{model} put back {back} of {count} moved words",
            gone,
            model=model,
            back=len(back),
        )
    if gone == 1:
        said = _(
            mark("{model} put back the lost word") if back else mark("{model} did not put back the lost word"),
            model=model,
        )
    else:
        said = _("{model} put back {back} of {count} lost words", model=model, back=len(back), count=gone)
    return (
        _("{said}; it was most confident about {word} ({likely})", said=said, **_word(_surest(back))) if back else said
    )


def _word(one: Said) -> dict[str, object]:
    return {"word": quote(one.text), "likely": percent(one.probability)}


def _surest(said: Sequence[Said]) -> Said:
    """The likeliest word; a punctuation mark only if there is no word."""
    return max(said, key=lambda one: (any(char.isalnum() for char in one.text), one.probability))


def mask_share(shown: View) -> tuple[float, float] | None:
    """The share of the attention of a view that goes to masks, and the share with even weights; None without masks."""
    masks = np.array([label == MASK for label in shown.key_labels]) & shown.key_special
    rows = shown.has_choice & ~shown.query_special
    if not masks.any() or not rows.any():
        return None
    even = shown.mask / np.maximum(shown.mask.sum(axis=1, keepdims=True), 1)  # (R, C)
    return tuple(float(part[rows][:, masks].sum(axis=1).mean()) for part in (shown.weights, even))  # type: ignore[return-value]


def card(text: str) -> dict[str, tuple[float, float]]:
    """Accuracy and loss for each noise function from a model card (Markdown); empty without such a table."""
    found = re.findall(r"^\| (\w+ \w+) +\| (\d\.\d+) +\| (\d\.\d+) +\|$", text, re.MULTILINE)
    return {name: (float(accuracy), float(loss)) for name, accuracy, loss in found if name in NOISE}


def table(found: Repair) -> pd.DataFrame:
    """The three lines, column by column: original, lost, corrupted, reconstructed, judged, probability."""
    import pandas as pd

    noised, lost = found.noised, set(found.noised.lost)
    lines = [
        (
            " ".join(noised.clean[i].text for i in place.clean),
            bool(lost & set(place.clean)),
            " ".join(noised.words[i].text for i in place.seen),
            " ".join(one.text for one in place.said),
            ", ".join(_(MARKS[one.mark]) for one in place.said) or (_("left out") if place.clean else ""),
            ", ".join(f"{one.probability:.3f}" for one in place.said),
        )
        for place in found.places
    ]
    return pd.DataFrame(lines, columns=["original", "lost", "corrupted", "reconstructed", "judged", "probability"])


def token_table(found: Score) -> pd.DataFrame:
    """Every target token under teacher forcing: probability, loss, the model's best guess, right, lost or moved."""
    import pandas as pd

    return pd.DataFrame(
        {
            "token": found.labels,
            "probability": np.exp(found.log_probability),
            "loss (nats)": -found.log_probability,
            "best guess": found.best,
            "its probability": found.best_probability,
            "right": found.right,
            "lost or moved": found.lost,
        }
    )


def noise_table(found: Mapping[str, Score], known: Mapping[str, tuple[float, float]]) -> pd.DataFrame:
    """Each noise function on this text, compared with the model card's numbers for its validation texts."""
    import pandas as pd

    none = (float("nan"), float("nan"))
    return pd.DataFrame(
        [
            {
                "noise": NOISE[name].title,
                "tokens": len(one.labels),
                "right": int(one.right.sum()),
                "accuracy": one.accuracy,
                "loss (nats)": one.loss,
                "lost or moved tokens": one.of_lost[1],
                "of them right": one.of_lost[0],
                "accuracy, validation": known.get(name, none)[0],
                "loss, validation": known.get(name, none)[1],
            }
            for name, one in found.items()
        ]
    )


def arrays(found: Repair) -> dict[str, NDArray[np.generic]]:
    """The scores of every target token, and the ids of the three texts."""
    score = found.score
    return {
        "labels": np.array(score.labels),
        "log_probability": score.log_probability,
        "right": score.right,
        "lost": score.lost,
        "best": np.array(score.best),
        "best_probability": score.best_probability,
        "clean_ids": found.plain.source.ids,
        "corrupted_ids": found.given.source.ids,
        "written_ids": found.written.attention("decoder").query.ids,
    }


def attention_arrays(clean: View, corrupted: View) -> dict[str, NDArray[np.generic]]:
    """Weights (Q', K') on the clean text and on the corrupted one, with the labels of rows and columns."""
    found: dict[str, NDArray[np.generic]] = {}
    for name, view in (("clean", clean), ("corrupted", corrupted)):
        found |= {
            f"{name}_weights": view.weights,
            f"{name}_query": np.array(view.query_labels),
            f"{name}_key": np.array(view.key_labels),
        }
    return found


def guess_table(found: Sequence[Sequence[tuple[str, float]]]) -> pd.DataFrame:
    """The candidates for each mask, numbered from 1: the likeliest token first."""
    import pandas as pd

    lines = [
        (mask, rank, label, probability)
        for mask, candidates in enumerate(found, 1)
        for rank, (label, probability) in enumerate(candidates, 1)
    ]
    return pd.DataFrame(lines, columns=["mask", "rank", "token", "probability"])
