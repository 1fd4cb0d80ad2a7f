"""How does the classic view draw it? The head view and the model view of bertviz, without the network."""

from bartviz.language import _
from bartviz.ui import classic
from bartviz.ui.controls import show
from bartviz.ui.frame import levels, page


def main() -> None:
    record = page.begin("classic")
    chosen = classic.choose(record)
    show.lead(classic.notice(chosen))
    show.note(classic.cap(chosen))
    drawn = classic.picture(chosen)
    page.link("heads", _("The same weights as maps and tables"))
    levels.explain("classic")
    figure = (lambda: classic.file(chosen)) if drawn else None
    show.downloads("classic", arrays=lambda: classic.arrays(chosen), figure=figure, record=record)


main()
