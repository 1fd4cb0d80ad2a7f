"""What does each head do over a corpus of texts? Every head: interval, distribution, examples, passport."""

from functools import partial

from bartviz.ui.controls import show
from bartviz.ui.frame import levels, page
from bartviz.ui.views.corpus import beside, finding, own, parts


def main() -> None:
    page.begin("corpus", needs_record=False)
    chosen = parts.choose()
    show.lead(parts.notice(chosen))
    parts.picture(chosen)
    parts.values(chosen)
    parts.examples(chosen)
    finding.section(chosen)
    parts.known(chosen)
    beside.two(chosen)
    own.section()
    levels.explain("corpus")
    show.downloads(
        "corpus",
        table=partial(parts.passport, chosen),
        passport=lambda: chosen.of.passport(chosen.head, measure=chosen.measure),
        figure=lambda: parts.all_heads(chosen, dark=page.dark()),
        of=str(chosen.head).replace(" ", "-"),
    )


main()
