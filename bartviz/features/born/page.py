"""How are heads born? A small network that learns before the reader's eyes."""

from __future__ import annotations

from bartviz.app.controls import show
from bartviz.app.frame import levels, page
from bartviz.features.born import parts, parts_replay
from bartviz.language import _


def main() -> None:
    page.begin("born", needs_record=False)
    if not parts_replay.taught():
        _live()
    parts_replay.draw()
    levels.explain("born")


def _live() -> None:
    """The network that learns in the browser."""
    with show.place("born_lead"):
        show.lead(
            _(
                "This network starts with random numbers, so where its heads look means nothing yet. In the maps "
                "below, a row is what it writes, a column what it reads: the darker, the more a head looks. Guess "
                "which cells will stand out, then start the training."
            )
        )
    task = parts.task()
    place = show.place("born")
    parts.again()
    with levels.aside(_("More: the network, its seed, its mask"), key="born", names=parts.NAMES) as opened:
        network = parts.network(opened)
    with place:
        parts.draw(task, network)
