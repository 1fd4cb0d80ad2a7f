"""attribute(): a text or a record -> which tokens speak for each word that the model writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch

from bartviz.analysis.attribution import Attribution, Axis
from bartviz.analysis.attribution_methods import METHODS, Method, accepted
from bartviz.arrays import Floats
from bartviz.attribution import erasure, flow, gradients, weights, zeroing
from bartviz.attribution.question import Parts, Question, asked
from bartviz.callbacks import never, silent
from bartviz.errors import BartvizError, SettingError, choices
from bartviz.language import later
from bartviz.models.model import Model, expect_model
from bartviz.plugins import Extended, Plugin
from bartviz.record.record import Record
from bartviz.run.forward import capture
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.text import tokenize


def _computing(plugin: Plugin) -> tuple[str, Callable[[Question], Parts]]:
    """The name of a plugin's method, and what computes it: an error of it names the plugin."""
    own = accepted(plugin)

    def compute(question: Question) -> Parts:
        try:
            found = own.compute(question)
            source, earlier = found if isinstance(found, tuple) else (found, None)
            source = np.asarray(source, np.float32)
            earlier = None if earlier is None else np.asarray(earlier, np.float32)
        except BartvizError:
            raise
        except Exception as error:
            reason = later("it raised {type}: {error}", type=type(error).__name__, error=error)
            raise plugin.refused(reason) from error
        for values, of in ((source, question.kind), (earlier, "decoder")):
            if values is not None:
                shape = len(question.rows), question.record.attention(of).shape[-1]
                if values.shape != shape or not np.isfinite(values).all():
                    raise plugin.refused(
                        later(
                            "it gave an array of shape {given}, but finite numbers of shape {shape} are expected",
                            given=values.shape,
                            shape=shape,
                        )
                    )
        return Parts(source, earlier)

    return own.about.name, compute


COMPUTED: Mapping[str, Callable[[Question], Parts]] = Extended(
    {
        "leave-one-out": erasure.leave_one_out,
        "gradient x input": gradients.times_input,
        "contrast": gradients.contrast,
        "integrated gradients": gradients.integrated,
        "value zeroing": zeroing.value_zeroing,
        "rollout": flow.rollout,
        "norms of weighted values": weights.value_norms,
        "mean attention": weights.mean_attention,
        "best head": weights.best_head,
    },
    "methods",
    _computing,
)
"""What computes each of METHODS."""


@torch_defaults()
def attribute(
    model: Model,
    text: str | Record,
    target: str | int | None = None,
    *,
    method: str = "leave-one-out",
    step: int | None = None,
    contrast: str | int | None = None,
    cancelled: Callable[[], bool] = never,
    on_progress: Callable[[str, float | None], None] = silent,
) -> Attribution:
    """Why this word? A number for each token that the model read, for each token that it wrote, by one method.

    text: or a record of it, whose own tokens are explained. A ``<mask>`` in a text is the model's mask token.
    target: a given output, as in ``capture``; or, for a model that fills masks, the word that is explained at the mask
        in place of the model's own first choice (a model without a mask is asked for each of its words).
    method: a name of ``bartviz.analysis.attribution_methods.METHODS``, which has its formula and source. All but
        "norms of weighted values", "mean attention" and "best head" run the model again.
    step: explain one step alone, counted from 0 as ``record.steps``, or as the masks of the text; all if None.
    contrast: a token in the place of the one that is explained, as text, ``#id`` or id: why this one and not that one?
        f is then the difference of their logits; for gradients and leave-one-out. The method "contrast" always asks so:
        if no token is named, against the likeliest other one of each step.
    ``on_progress`` gets a note and 0..1, or None where it is not known how much is left; ``cancelled`` ends the run.
    Raises SettingError for a method, step or token that is not there, for integrated gradients that do not become
    complete, for a model that predicts no tokens and for a record of another model; ModelError, TextError, BudgetError,
    Cancelled.

    >>> found = bartviz.attribute(model, "I want to buy a car.", method="norms of weighted values")
    >>> found.values.shape, found.earlier_values.shape  # (steps, source tokens), (steps, earlier outputs)
    ((8, 9), (8, 8))
    >>> found.values.sum(axis=1).round(3).tolist() == [1.0] * 8
    True
    """
    expect_model(model)
    if method not in METHODS:
        raise SettingError(later("There is no method {name}: choose {names}.", name=method, names=choices(METHODS)))
    chosen = METHODS[method]
    if contrast is not None and not chosen.contrasts:
        raise SettingError(
            later(
                "Two tokens are compared by {names}: choose one of these methods, or leave the other token out.",
                names=choices(name for name, one in METHODS.items() if one.contrasts),
            )
        )
    note = later("Explaining by {method}", method=later(method))
    on_progress(note, None)
    record = text if isinstance(text, Record) else captured(model, text, target, cancelled)
    expect_model(model, record)
    token = target if model.info.kind == "encoder" else None
    if isinstance(text, Record) and target is not None and token is None:
        raise SettingError(later("This record has its output already: leave the target out, or give the text."))
    question = asked(
        model,
        record,
        token=token,
        contrast=contrast,
        step=step,
        cancelled=cancelled,
        report=lambda share: on_progress(note, share),
    )
    if chosen.always_contrasts:
        question = question.contrasted
    with torch.no_grad():
        parts = COMPUTED[method](question)
    return _answered(question, chosen, parts)


def captured(model: Model, text: str, target: str | int | None, cancelled: Callable[[], bool]) -> Record:
    """The record of a text, in which ``<mask>`` is the model's own mask token."""
    mask = model.tokenizer.mask_token
    if mask is not None:
        text = text.replace("<mask>", mask)
    given = None if target is None or model.info.kind == "encoder" else str(target)
    return capture(
        model, text, target=given, allow_special=mask is not None and mask in text, top_k=1, cancelled=cancelled
    )


def _answered(question: Question, method: Method, parts: Parts) -> Attribution:
    """The numbers with their axes. What a causal row does not see yet is exactly 0."""
    record, rows = question.record, question.rows
    causal = record.attention("decoder").query if record.cross is not None else None
    source = parts.source if question.kind != "decoder" else _before(parts.source, question)
    others: list[int] = [] if question.against is None else np.unique(question.against).tolist()
    return Attribution(
        record.model.name,
        method,
        _steps(question),
        rows,
        question.explained,
        Axis.of(record.source, *(() if record.reads_own_text else record.texts)),
        source,
        None if parts.earlier is None or causal is None else Axis.of(causal, *_written(record)),
        None if parts.earlier is None else _before(parts.earlier, question),
        tokenize.label(question.model.tokenizer, others[0]) if len(others) == 1 else None,
        question.kind,
    )


def _written(record: Record) -> tuple[str, ...]:
    """What the spans of output tokens index into; nothing of a decoder alone, which goes on with the text it reads."""
    return () if record.reads_own_text or record.target_text is None else (record.target_text,)


def _before(values: Floats, question: Question) -> Floats:
    """The numbers (T, n) of the tokens that are read up to each step."""
    seen = np.arange(values.shape[1]) <= question.rows[:, None]
    return np.where(seen, values, np.float32(0))


def _steps(question: Question) -> Axis:
    """The tokens that are explained: of a model that writes those of its output, which follow each other."""
    rows, output = question.rows, question.record.output
    if output is not None and len(rows) == rows[-1] - rows[0] + 1:
        return Axis.of(output.take(slice(int(rows[0]), int(rows[-1]) + 1)), *_written(question.record))
    return Axis.apart(question.replay.labels(rows, question.ids.tolist()))
