"""The options of ``export`` that write a table or a picture of an atlas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bartviz.errors import SettingError, choices

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    import pandas as pd

    from bartviz.corpus.atlas import Atlas
    from bartviz.drawing.paper import Picture

TABLES = ("heads", "roles", "examples", "histograms", "relations", "bad", "stability")


PICTURES = (".svg", ".pdf", ".png")


def add_arguments(export: argparse.ArgumentParser) -> None:
    """Add the options to the parser."""
    group = export.add_argument_group(
        "tables and pictures of an atlas (give its folder as FILE, and a file that ends in .csv, .tex, .svg, .pdf or "
        ".png)"
    )
    group.add_argument("--table", choices=TABLES, default="heads", help="which table (%(default)s)")
    group.add_argument(
        "--size",
        type=int,
        metavar="N",
        help="of --table stability: draw blocks of N neighbouring rows again, of an atlas with --values",
    )
    group.add_argument("--against", metavar="DIR", help="another atlas: all heads of both, with their difference")
    group.add_argument(
        "--measure",
        help="what a picture shows of each head (previous); of a .tex one or more, such as entropy,previous",
    )
    group.add_argument("--by", metavar="MEASURE", help="draw each head as a point, with this measure across")


def write(folder: Path, path: Path, options: argparse.Namespace) -> None:
    """Write a table or a picture of the atlas in a folder. Raises BartvizError, OSError."""
    from bartviz.corpus.atlas import open_atlas
    from bartviz.record import store

    suffix = path.suffix.lower()
    if suffix not in (".csv", ".tex", *PICTURES):
        raise SettingError(
            f"What is written of an atlas is a file that ends in {choices(('.csv', '.tex', *PICTURES))}; a page of one "
            "head is bartviz passport."
        )
    atlas = open_atlas(folder)
    if suffix in PICTURES:
        _drawn(atlas, options).save(path, ppi=options.ppi)
    elif suffix == ".tex":
        store.replace(path, _latex(atlas, options).encode())
    else:
        store.replace(path, _table(atlas, options).to_csv(index=False).encode())


def _drawn(atlas: Atlas, options: argparse.Namespace) -> Picture:
    from bartviz.corpus.atlas import open_atlas
    from bartviz.drawing import paper

    size: dict[str, Any] = {"width": options.width, "captioned": not options.no_caption}
    measure = options.measure or "previous"
    if options.against is not None and options.by is not None:
        raise SettingError("Choose --by, one measure by another, or --against, what differs from another atlas.")
    if options.against is not None:
        return paper.atlas_pair(atlas, open_atlas(options.against), measure, options.kind, **size)
    if options.by is not None:
        return paper.scatter(atlas, options.by, measure, options.kind, **size)
    return paper.atlas(atlas, measure, options.kind, **size)


def _latex(atlas: Atlas, options: argparse.Namespace) -> str:
    from bartviz.drawing import paper

    chosen = None if options.columns is None else options.columns.split(",")
    if options.measure is None:
        return paper.latex(paper.rounded(_table(atlas, options)), columns=chosen)
    measures = options.measure.split(",")
    kind = options.kind or atlas.kinds[-1]
    caption = "" if options.no_caption else paper.heads_caption(atlas, kind, measures)
    return paper.latex(paper.heads(atlas, kind, measures), columns=chosen, caption=caption)


def _table(atlas: Atlas, options: argparse.Namespace) -> pd.DataFrame:
    if options.against is not None:
        return atlas.against(options.against)
    if options.table == "stability":
        return atlas.stability(size=options.size)
    if options.size is not None:
        raise SettingError("--size is of --table stability: it has the rows of a block.")
    table: pd.DataFrame = getattr(atlas, options.table)
    return table
