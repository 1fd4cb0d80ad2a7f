"""What changes if ...? Heads silenced, a token changed, and how far a change is felt in one step."""

from bartviz.analysis import ablation, edits
from bartviz.figures import ablation as heads_figure
from bartviz.figures import edits as token_figure
from bartviz.language import _
from bartviz.record import Record
from bartviz.ui import levels, page, show
from bartviz.ui.experiments import choose, heads, step, token


def silence(record: Record) -> None:
    found, sweep = heads.draw(record)
    levels.explain("ablation")
    if sweep is not None:
        show.note(_("Every head, ranked"))
        show.downloads(
            "sweep",
            table=lambda: ablation.sweep_table(sweep),
            arrays=lambda: ablation.sweep_arrays(sweep),
            figure=lambda: heads_figure(sweep, dark=page.dark()),
        )
    if found is not None:
        show.note(_("The ablation of the chosen heads; the record is that of the changed run"))
        show.downloads(
            "ablation",
            table=lambda: ablation.rows_table(found),
            arrays=lambda: ablation.arrays(found),
            figure=lambda: heads_figure(found, dark=page.dark()),
            record=found.changed,
        )


def change(record: Record) -> None:
    found = token.draw(record)
    levels.explain("edit")
    if found is not None:
        show.downloads(
            "edit",
            table=lambda: edits.hidden_table(found),
            arrays=lambda: edits.arrays(found),
            figure=lambda: token_figure(found, dark=page.dark()),
            record=found.changed,
        )


def far(record: Record) -> None:
    found = step.draw(record)
    levels.explain("reach")
    if found is not None:
        show.downloads(
            "reach",
            table=lambda: edits.reach_table(found),
            arrays=lambda: dict(found.changes),
            figure=lambda: token_figure(found, dark=page.dark()),
        )


PARTS = {"ablation": silence, "edit": change, "reach": far}


def main() -> None:
    record = page.begin("experiments")
    PARTS[choose()](record)


main()
