"""Where does each word look? Every layer and head of the text, one of them large."""

from bartviz.analysis import head_view as analysis
from bartviz.analysis import plain_words
from bartviz.app.controls import prediction, show
from bartviz.app.frame import fill_masks, levels, page, related_links
from bartviz.drawing.heads import heads as figure
from bartviz.features.heads import parts
from bartviz.features.heads import parts_classic as classic


def main() -> None:
    record = page.begin("heads")
    prediction.section(record)
    fill_masks.section(record)
    strip, lead = show.place("strip"), show.place("lead")
    chosen, hero = parts.choose(record)
    with strip:
        related_links.text_to_word(record, chosen.attention.kind)
    if isinstance(chosen, classic.Chosen):
        with hero:
            classic.draw(record, chosen)
        return
    shown = chosen.view()
    with lead:
        said, explains = parts.notice(record, chosen, shown)
        show.lead(said if levels.at_least("intermediate") else f"{plain_words.head()} {said}", explains)
    with hero:
        choice = parts.large(chosen)
        parts.note(record, chosen, shown)
    parts.roads_from(record, chosen, choice)
    parts.numbers(shown, choice)
    levels.explain("heads", how=parts.habit(record, chosen))
    show.downloads(
        "heads",
        table=lambda: analysis.table(shown),
        arrays=lambda: analysis.arrays(chosen.attention, chosen.layer, chosen.rows, shown=shown),
        figure=lambda: figure(
            chosen.attention,
            layer=None if chosen.what == "all" else chosen.layer,
            head=chosen.head if chosen.what == "head" else None,
            mean=chosen.what != "head",
            query=chosen.rows,
            words=chosen.words,
            hide_sinks=chosen.hide_sinks,
            renormalise=chosen.renormalise,
            range=chosen.range,
            dark=page.dark(),
        ),
        picture=parts.paper(record, chosen, shown, choice),
        record=record,
        of=chosen.stem,
    )
