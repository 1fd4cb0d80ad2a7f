"""All uses of an open record: each figure of the library, the canvas, the saved file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import bartviz
from bartviz import figures
from bartviz.app.controls import export
from bartviz.browser.canvas.data import Choice, Picture, Shown
from bartviz.drawing import theme
from bartviz.errors import BudgetError, RecordError, SettingError
from bartviz.language import Later
from bartviz.record import store
from bartviz.record.attention import Attention
from bartviz.record.record import Record

Use = tuple[str, Callable[[], object]]


class NotUsed(Exception):
    """Something that has opened could not be used: the use, and what it raised."""

    def __init__(self, use: str, cause: BaseException) -> None:
        super().__init__(use)
        self.__cause__ = cause


def use(record: Record, random: Random, folder: Path, most: int) -> None:
    """Save the record, open it again, and draw ``most`` of its figures. Raises NotUsed for what fails.

    A figure may say that there is nothing to draw. A number that overflows is a failure.
    """
    file = folder / "again.safetensors"
    every = list(_of_record(record))
    for kind in record.kinds:
        every += _of_attention(record.attention(kind))
    chosen: list[Use] = [("save", lambda: record.save(file)), ("open", lambda: bartviz.open(file, allow_unsound=True))]
    for name, draw in [*chosen, *random.sample(every, min(most, len(every)))]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                made = draw()
                if isinstance(made, theme.Figure):
                    made.to_json()
        except (SettingError, BudgetError):
            continue
        except RecordError as error:  # said to a reader: this record has nothing of the kind
            if not isinstance(error.args[0], Later):
                raise NotUsed(name, error) from error
        except Exception as error:
            raise NotUsed(name, error) from error


def _of_record(record: Record) -> Iterator[Use]:
    yield "repr", lambda: (repr(record), record.nbytes, record.log_probability)
    yield "encode", lambda: store.encode(record)
    yield "check", lambda: (record.check(), record.sound)
    yield "ribbons", lambda: figures.ribbons(record)
    for view in ("pattern", "additive", "weights"):
        yield f"masks {view}", lambda view=view: figures.masks(record, view=view)  # type: ignore[misc]
    yield "decoding", lambda: figures.decoding(record)
    yield "decoding of a step", lambda: figures.decoding(record, layer=0, head=0, step=len(record.steps) // 2)
    yield "beams", lambda: figures.beams(record)
    yield "branches", lambda: figures.branches(record, record)
    yield "alignment", lambda: figures.alignment(record)
    yield "alignment matrix", lambda: figures.alignment(record, ["cross L0H0"], view="matrix", reading="reads")
    yield "activation", lambda: figures.activation(record)
    yield "norms", lambda: figures.norms(record)
    yield "gap", lambda: figures.gap(record)
    yield "page", lambda: export.offline_html(figures.ribbons(record), record.source_text)
    for kind in record.kinds:
        for view in ("head", "model"):
            yield f"classic {kind} {view}", lambda kind=kind, view=view: figures.classic(record, kind, view=view)  # type: ignore[misc]


def _of_attention(attention: Attention) -> Iterator[Use]:
    layers, heads, rows, _ = attention.shape
    layer, head, row = layers - 1, heads - 1, rows - 1

    def named(name: str, draw: Callable[[], object]) -> Use:
        return f"{attention.kind} {name}", draw

    yield named("heads", lambda: figures.heads(attention))
    yield named("heads of a layer", lambda: figures.heads(attention, layer=layer, hide_sinks=True, renormalise=True))
    yield named("one head", lambda: figures.heads(attention, layer=layer, head=head, words=True))
    yield named("mean", lambda: figures.heads(attention, layer=0, mean=True))
    yield named("points", lambda: figures.compare(attention, x="distance", y="previous"))
    yield named("two heads", lambda: figures.compare(attention, a=(0, 0), b=(layer, head), words=True))
    yield named("likeness", lambda: figures.likeness(attention))
    yield named("rollout", lambda: figures.rollout(attention))
    yield named("contribution", lambda: figures.contribution(attention, layer, head))
    yield named("inside", lambda: figures.inside(attention, layer, head, row))
    yield named("score", lambda: figures.score(attention, layer, head, row))
    yield named("share", lambda: figures.share(attention, layer, head, row))
    yield named("scaling", lambda: figures.scaling(attention, layer))
    yield named("growth", lambda: figures.growth(attention, row))
    yield named("bias", lambda: figures.bias(attention))
    yield named("pattern", lambda: figures.pattern(attention, "window"))
    yield named("canvas", lambda: Picture(attention, Shown()).pack(Choice(), 1))
    yield named("canvas of words", lambda: Picture(attention, Shown(words=True, hide_sinks=True)).pack(Choice(), 1))
