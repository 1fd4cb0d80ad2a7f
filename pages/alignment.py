"""Which word became which? Word links read from cross-attention, judged by hand, and the heads that align."""

from bartviz.analysis import alignment as analysis
from bartviz.language import _
from bartviz.ui import alignment, linked
from bartviz.ui.controls import show
from bartviz.ui.frame import doubt, levels, page


def main() -> None:
    record = alignment.aligning(page.begin("alignment"))
    chosen = alignment.choose(record)
    show.lead(analysis.notice(chosen.shown, chosen.links, chosen.gold))
    doubt.line(record)
    drawn = linked.picture(chosen)
    alignment.numbers(record, chosen)
    with levels.aside(_("More: the links as a line, and every head ranked"), key="alignment") as opened:
        if opened:
            alignment.line(chosen)
            alignment.ranking(chosen)
    table = analysis.link_table(chosen.shown, chosen.links, chosen.gold)
    show.table(table, title=_("Every link with its weight as a table"))
    levels.explain("alignment")
    show.downloads(
        "alignment",
        table=table,
        arrays=lambda: alignment.arrays(chosen),
        figure=drawn,
        record=record,
    )


main()
