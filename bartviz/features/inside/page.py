"""What happens inside one head? One query token, every number from its query to what the head adds."""

from functools import partial

import streamlit as st

from bartviz.analysis import inside as analysis
from bartviz.app.controls import prediction, show
from bartviz.app.frame import levels, page, page_hooks, related_links
from bartviz.features.inside import parts
from bartviz.features.inside.figure import inside as figure
from bartviz.language import _, mark
from bartviz.record.attention import Head

LIBRARY = mark(
    "How? As in a library, a word’s question (query, q) is compared with each label (key, k): the better the fit, the "
    "more of the contents (value, v) the word takes. In the picture, each stripe is a number: "
    "coloured if positive, grey if negative; softmax turns scores into shares that add up to 100%."
)


def table(one: analysis.Inside) -> None:
    show.table(partial(analysis.table, one), title=_("The row of arithmetic as a table"))


def main() -> None:
    record = page.begin("inside")
    prediction.section(record)
    strip = show.place("strip")
    lead = show.place("inside_lead")
    plain = not levels.at_least("intermediate")
    if plain and not page_hooks.current().leads():
        with st.container(key="inside_colours"):  # on a phone, where the paragraph follows the picture
            show.note(_("Each stripe is a number: coloured if positive, grey if negative."))
        with show.place("inside_library"):
            show.what_to_do(_(LIBRARY))
    picked = parts.choose(record)
    with strip:
        related_links.text_to_word(record, picked.one.kind)
    above, below = show.place("inside_plain_above" if plain else "inside_above"), st.container()
    with (
        below,
        levels.aside(
            _("More: the products of one key, step by step"), key="inside_key", names=["token", "follow", "order"]
        ) as opened,
    ):
        chosen = parts.choose_key(picked) if opened else picked
        with lead:
            show.lead(analysis.sentence(chosen.one, parts.predicted(record, chosen.one), plain=plain))
        with above:
            parts.row(record, chosen)
            if not plain:
                parts.text(record, chosen)
                table(chosen.one)
        if opened:
            parts.key(chosen)
            if plain:
                table(chosen.one)
    one = chosen.one
    related_links.to_other_views(record, "inside", Head(one.kind, one.layer, one.head), one.row)
    with levels.aside(
        _("More: the layer around the head, the scaling, the layer norms"), key="inside", names=["whole", "around"]
    ) as opened:
        if opened:
            parts.share(chosen)
            parts.around(record, chosen)
    levels.explain("inside")
    show.downloads(
        "inside",
        table=lambda: analysis.table(one),
        arrays=lambda: analysis.arrays(one),
        figure=lambda: figure(
            chosen.attention,
            one.layer,
            one.head,
            one.row,
            key=chosen.key,
            which=chosen.which,
            predicts=parts.predicts(record, one),
            dark=page.dark(),
        ),
        record=record,
        of=chosen.stem,
    )
