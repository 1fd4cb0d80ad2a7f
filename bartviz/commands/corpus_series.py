"""``corpus --checkpoints``: the checkpoints of a training over a file of texts, and when each head found its role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bartviz.commands.output import print_json, rows_of, say
from bartviz.errors import SettingError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from bartviz.corpus.workers import Progress


def run(options: argparse.Namespace, report: Callable[[Progress], None]) -> int:
    """Print progress to stderr, and the roles of the last moment with their change points to stdout."""
    from bartviz.corpus.own import imported
    from bartviz.corpus.read import Columns, Form, notices
    from bartviz.corpus.run import SIZE
    from bartviz.corpus.run_replay import curves_of
    from bartviz.corpus.run_series import left_out, series

    unfit = {"--name": options.name, "--edges": options.edges, "--silence": options.silence or None}
    if given := [option for option, value in unfit.items() if value is not None]:
        raise SettingError(f"A series has no {given[0]}: leave it out, or measure one checkpoint with --model.")
    columns = Columns(options.column, options.pair, options.target, options.gold)
    form = Form(options.header, options.quotes, options.encoding)
    notes = [*notices(options.corpus, columns, form)]
    if others := left_out(options.checkpoints):
        notes.append(f"Left out, because they hold no config.json: {', '.join(others)}.")
    for note in notes:
        say(note, error=True)
    found = series(
        options.corpus,
        options.checkpoints,
        options.out,
        steps=options.steps,
        columns=columns,
        form=form,
        paragraphs=options.paragraphs,
        device=options.device,
        workers=options.workers,
        ray=options.ray,
        resume=options.resume,
        truncate=options.truncate,
        values=options.values is not False,
        measures=dict(imported(one) for one in options.measure),
        unique=options.unique,
        curves=None if options.curve is None else curves_of(*options.curve),
        size=SIZE if options.size is None else options.size,
        report=report,
    )
    last = found.atlases[-1]
    roles = found.roles() if last.has_values else last.roles
    if options.json:
        counts = {"texts": last.description["texts"], "steps": [*found.steps]}
        print_json({**counts, "notices": notes, "roles": rows_of(roles), "saved": str(options.out)})
        return 0
    say(f"texts    {last.description['texts']:,}")
    say(f"steps    {', '.join(f'{step:,}' for step in found.steps)}")
    for row in roles.to_dict("records"):
        begins = ""
        if row.get("step", float("nan")) >= 0:
            begins = f", from step {row['step']:,.0f} ({row['step_low']:,.0f} to {row['step_high']:,.0f})"
        say(f"{row['role']}: {row['kind']} L{row['layer']}H{row['head']} {row['mean']:.2f}{begins}")
    say(f"saved    {options.out}")
    return 0
