"""The options of ``export`` that draw a picture for paper, or write a table of measures or weights."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from bartviz.errors import SettingError, choices
from bartviz.language import later
from bartviz.record.attention import KINDS, Head
from bartviz.record.record import Reading, Record

if TYPE_CHECKING:
    from bartviz.drawing.paper import Picture

PICTURES = ("map", "lines", "text", "ribbons", "alignment", "overview", "rollout", "contributions")
SUFFIXES = (".svg", ".pdf", ".png", ".tex", ".csv", ".npz")
OF_AN_ATLAS = ("against", "measure", "by")  # options that say nothing about a record


def add_arguments(export: argparse.ArgumentParser) -> None:
    """Add the options to the parser."""
    group = export.add_argument_group(
        "pictures and tables (files that end in .svg, .pdf, .png, .tex, or .csv and .npz for the weights)"
    )
    group.add_argument("--picture", choices=PICTURES, default="map", help="what to draw (%(default)s)")
    group.add_argument("--kind", choices=KINDS, help="kind of attention; by default cross where there is one")
    group.add_argument("--layer", type=int, help="counted from 0; by default the mean of all heads, of weights all")
    group.add_argument("--head", help='counted from 0, or "cross L3H2"; by default the mean of the layer')
    group.add_argument("--row", type=int, help="the row of text and lines, counted from 0")
    group.add_argument("--reading", choices=get_args(Reading), help="name rows of a decoder by the token that they ...")
    group.add_argument("--words", action="store_true", help="merge pieces into words")
    group.add_argument("--width", type=float, default=240.0, help="points (%(default)g)")
    group.add_argument("--ppi", type=int, default=300, help="pixels per inch of a .png (%(default)s)")
    group.add_argument(
        "--columns",
        help="measures of a .tex, such as entropy,previous, by default those that fit a page; of an atlas, columns",
    )
    group.add_argument("--no-caption", action="store_true", help="omit the caption")


def write(record: Record, path: Path, options: argparse.Namespace) -> None:
    """Write the file. Raises BartvizError, OSError."""
    from bartviz.drawing import paper
    from bartviz.drawing.paper.caption import caption
    from bartviz.record import store

    given = [name for name in OF_AN_ATLAS if getattr(options, name) is not None]
    if given:
        raise SettingError(
            f"--{given[0]} is for an atlas, and this is a record: --columns chooses the measures of its .tex."
        )
    _read_head(record, options)
    kind = options.kind or ("cross" if record.cross is not None else record.kinds[0])
    suffix = path.suffix.lower()
    if suffix in (".csv", ".npz"):
        store.replace(path, _weights(record, suffix, options))
    elif suffix == ".tex":
        from bartviz.drawing.paper import table

        columns = table.short(record, kind) if options.columns is None else options.columns.split(",")
        rows = paper.measures(record, kind, columns, with_units=False)
        said = caption(record, f"{kind} heads ({table.units(columns)})")
        store.replace(path, paper.latex(rows, caption="" if options.no_caption else said).encode())
    else:
        _drawn(record, kind, options).save(path, ppi=options.ppi)


def _weights(record: Record, suffix: str, options: argparse.Namespace) -> bytes:
    """The weights as numbers: of a kind if one is named, of a layer or a head of it; a line a cell, or arrays."""
    layers, heads = (slice(None) if one is None else slice(one, one + 1) for one in (options.layer, options.head))
    if options.layer is not None or options.head is not None:
        if options.kind is None:
            raise SettingError(f"Name the kind of attention as well: {choices(record.kinds)}.")
        record.attention(options.kind).check(options.layer or 0, options.head or 0)
    kinds = () if options.kind is None else (options.kind,)
    if suffix == ".npz":
        file = io.BytesIO()
        arrays: dict[str, Any] = {kind: one[layers, heads] for kind, one in record.to_numpy(*kinds).items()}
        np.savez_compressed(file, **arrays)
        return file.getvalue()
    table = record.to_dataframe(*kinds, reading=options.reading)
    for name in ("layer", "head"):
        chosen = getattr(options, name)
        table = table if chosen is None else table[table[name] == chosen]
    return table.to_csv(index=False).encode()


def _read_head(record: Record, options: argparse.Namespace) -> None:
    """Put a head that is given by its name, such as "cross L3H2", into kind, layer and head. Raises SettingError."""
    if options.head is None:
        return
    if options.head.isdecimal():
        options.head = int(options.head)
        return
    head = Head.parse(options.head, kinds=record.kinds if options.kind is None else (options.kind,))
    if options.kind not in (None, head.kind) or options.layer not in (None, head.layer):
        raise SettingError(f"The head {head} has its kind and its layer in its name: leave out --kind and --layer.")
    options.kind, options.layer, options.head = head.kind, head.layer, head.head


def _drawn(record: Record, kind: Any, options: argparse.Namespace) -> Picture:
    from bartviz.drawing import paper

    size: dict[str, Any] = {"width": options.width, "captioned": not options.no_caption}
    head = None
    if options.layer is not None and options.head is not None:
        record.attention(kind).check(options.layer, options.head)
        head = Head(kind, options.layer, options.head)
    if options.picture == "overview":
        return paper.overview(record, kind, **size)
    if options.picture == "rollout":
        return paper.rollout(record, options.kind, options.layer, **size)
    if options.picture == "contributions":
        return paper.contributions(record, kind, options.layer, options.head, reading=options.reading, **size)
    if options.picture in ("ribbons", "alignment"):
        if head is None and (options.layer is not None or options.head is not None):
            raise SettingError(later("Name both layer and head, or leave both out for the head that aligns best."))
        if options.picture == "ribbons":
            return paper.ribbons(record, head, **size)
        reading = {} if options.reading is None else {"reading": options.reading}
        return paper.alignment(record, None if head is None else [head], **reading, **size)
    one: dict[str, Any] = {"reading": options.reading, "words": options.words, **size}
    if options.picture == "map":
        return paper.map(record, kind, options.layer, options.head, **one)
    draw = paper.lines if options.picture == "lines" else paper.text
    return draw(record, kind, options.layer, options.head, row=options.row, **one)
