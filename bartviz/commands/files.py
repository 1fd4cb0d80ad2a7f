"""The commands ``export`` and ``open``: saved records as one HTML file or a picture, and in the app."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bartviz import hooks
from bartviz.commands import app, atlas_tables, pictures
from bartviz.commands.output import EXAMPLES, in_bytes, print_json, say
from bartviz.errors import SettingError, choices
from bartviz.record.record import PAGES, open_record

if TYPE_CHECKING:
    import argparse

    from bartviz.corpus.replay import Replay


def add(commands: Any) -> None:
    """Add both commands to the parser."""
    export = commands.add_parser(
        "export",
        help="write saved records or a training as one HTML file, or a record as a picture or table for a paper",
        epilog=EXAMPLES
        + "bartviz export car.safetensors car.html\n  "
        + "bartviz export greedy.safetensors beams.safetensors both.html --exact\n  "
        + "bartviz export car.safetensors head.svg --kind cross --layer 3 --head 2\n  "
        + "bartviz export car.safetensors heads.pdf --kind encoder --picture overview --width 480\n  "
        + "bartviz export car.safetensors measures.tex --kind encoder\n  "
        + "bartviz export car.safetensors weights.csv --head 'cross L3H2'\n  "
        + "bartviz export series born.html\n  bartviz export atlas heads.csv\n  "
        + "bartviz export atlas both.csv --against other\n  "
        + "bartviz export atlas heads.svg --measure previous --kind encoder\n  "
        + "bartviz export atlas heads.tex --measure previous,entropy --kind encoder",
    )
    export.add_argument("records", nargs="+", type=Path, metavar="FILE", help="saved records; each becomes a tab")
    export.add_argument(
        "page",
        type=Path,
        metavar="OUT",
        help="the file to write: .html, .svg, .pdf, .png, .tex, .csv; of a record .npz, too",
    )
    export.add_argument("--exact", action="store_true", help="keep every weight, however large the file")
    export.add_argument("--json", action="store_true", help="print JSON")
    pictures.add_arguments(export)
    atlas_tables.add_arguments(export)
    export.set_defaults(run=_export, refuse=export.error)

    opened = commands.add_parser(
        "open",
        help="open a saved record, an atlas or a training in the app",
        epilog=EXAMPLES + "bartviz open car.safetensors --port 8600\n  bartviz open atlas",
    )
    opened.add_argument("file", **app.FILE)
    app.add_arguments(opened)
    opened.set_defaults(run=app.start)


def _export(options: argparse.Namespace) -> int:
    if options.page.suffix.lower() in PAGES and (training := _training(options.records[0])):
        if len(options.records) > 1:
            options.refuse("a page shows one training")
        hooks.trainings().save(training, options.page)
    elif options.records[0].is_dir():
        if len(options.records) > 1:
            options.refuse("a table shows one atlas; add another with --against")
        atlas_tables.write(options.records[0], options.page, options)
    elif options.page.suffix.lower() in pictures.SUFFIXES:
        if len(options.records) > 1:
            options.refuse("a picture or table shows one record")
        pictures.write(open_record(options.records[0]), options.page, options)
    elif options.page.suffix.lower() not in PAGES:
        raise SettingError(
            f"What is written of a record is a file that ends in {choices((PAGES[0], *pictures.SUFFIXES))}."
        )
    else:
        from bartviz.explorer.data import MOST
        from bartviz.explorer.file import save

        save([open_record(file) for file in options.records], options.page, most=None if options.exact else MOST)
    size = options.page.stat().st_size
    if options.json:
        print_json({"records": [str(file) for file in options.records], "saved": str(options.page), "bytes": size})
    else:
        say(f"saved    {options.page} ({in_bytes(size)})")
    return 0


def _training(path: Path) -> Replay | None:
    """The training in a series' folder or a ``replay.zip``; None for what is something else."""
    from bartviz.corpus import replay

    file = path / replay.FILE if path.is_dir() else path
    return replay.open_replay(file) if file.is_file() and replay.is_one(file.read_bytes()) else None
