"""What happens inside one head? One query token, every number from its query to what the head adds."""

from functools import partial

import streamlit as st

from bartviz.analysis import inside as analysis
from bartviz.figures import inside as figure
from bartviz.language import _
from bartviz.ui import inside
from bartviz.ui.controls import show
from bartviz.ui.frame import levels, page


def main() -> None:
    record = page.begin("inside")
    place = st.container()
    picked = inside.choose(record)
    above, below = st.container(), st.container()
    with below:
        chosen = inside.choose_key(picked)
    with place:
        show.lead(analysis.sentence(chosen.one, inside.predicts(record, chosen.one)))
    with above:
        inside.row(record, chosen)
        inside.text(record, chosen)
        show.table(partial(analysis.table, chosen.one), title=_("The row of arithmetic as a table"))
    with below:
        inside.key(chosen)
    with levels.aside(
        _("More: the layer around the head, the scaling, the norms"), key="inside", names=["whole", "around"]
    ) as opened:
        if opened:
            inside.share(chosen)
            inside.around(record, chosen)
    levels.explain("inside")
    one = chosen.one
    show.downloads(
        "inside",
        table=lambda: analysis.table(one),
        arrays=lambda: analysis.arrays(one),
        figure=lambda: figure(
            chosen.attention, one.layer, one.head, one.row, key=chosen.key, which=chosen.which, dark=page.dark()
        ),
        record=record,
        of=chosen.stem,
    )


main()
