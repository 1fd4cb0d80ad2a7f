"""How does the classic view draw it? The head view and the model view of bertviz, without the network."""

from bartviz.language import _
from bartviz.ui.controls import show
from bartviz.ui.frame import levels, page
from bartviz.ui.views.classic import parts


def main() -> None:
    record = page.begin("classic")
    chosen = parts.choose(record)
    show.lead(parts.notice(chosen))
    show.note(parts.cap(chosen))
    drawn = parts.picture(chosen)
    page.link("heads", _("The same weights as maps and tables"))
    levels.explain("classic")
    figure = (lambda: parts.file(chosen)) if drawn else None
    show.downloads("classic", arrays=lambda: parts.arrays(chosen), figure=figure, record=record)


main()
