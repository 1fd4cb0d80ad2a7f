"""The options of ``export`` that write a table of an atlas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bartviz.errors import SettingError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    import pandas as pd

    from bartviz.corpus.atlas import Atlas

TABLES = ("heads", "roles", "examples", "histograms", "relations", "bad", "stability")


def add_arguments(export: argparse.ArgumentParser) -> None:
    """Add the options to the parser."""
    group = export.add_argument_group("tables of an atlas (give its folder as FILE, and a file that ends in .csv)")
    group.add_argument("--table", choices=TABLES, default="heads", help="which of them (%(default)s)")
    group.add_argument("--against", metavar="DIR", help="another atlas: all heads of both, with their difference")


def write(folder: Path, path: Path, options: argparse.Namespace) -> None:
    """Write a table of the atlas in a folder. Raises BartvizError, OSError."""
    from bartviz.corpus.atlas import open_atlas
    from bartviz.record import store

    if path.suffix.lower() != ".csv":
        raise SettingError("A table of an atlas is a file that ends in .csv; a page of one head is bartviz passport.")
    store.replace(path, _table(open_atlas(folder), options).to_csv(index=False).encode())


def _table(atlas: Atlas, options: argparse.Namespace) -> pd.DataFrame:
    if options.against is not None:
        return atlas.against(options.against)
    table: pd.DataFrame = atlas.stability() if options.table == "stability" else getattr(atlas, options.table)
    return table
