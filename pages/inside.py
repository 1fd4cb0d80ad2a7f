"""What happens inside one head? One query token, every number from its query to what the head adds."""

import streamlit as st

from bartviz.analysis import inside as analysis
from bartviz.figures import inside as figure
from bartviz.ui import inside, page, show

EXPLAIN = """
**From left to right.** Each token has a *query* (what it looks for), a *key* (what it offers) and a *value* (what it
gives). The query of one token is multiplied with every key, dimension by dimension; the products of a key are summed
and scaled: that is the key's **score**. The softmax turns the scores of a row into **weights** that sum to 1. The
**output** is the sum of the values, each times its weight.

**The scale** is one over the square root of the head's width: without it, long vectors give large scores and the
softmax sees only the largest (*Attention is all you need*, section 3.2.1). T5 leaves it out and learned without it.

**The bias** is T5's: a number for each distance between two positions, the same in every layer of a stack.

**The mask** makes the score of what may not be seen minus infinity; its weight is then exactly 0.

**The layer's output.** The outputs of all heads, side by side, are multiplied with one matrix. That is the same as
giving each head its own part of the matrix and adding up, so each head's share can be told apart. The lengths of those
parts are what the shares compare; a share is not a reason.

**Others.** Of a long text the strongest keys are shown one by one. The rest is one row, so that nothing is left out:
its score is the logarithm of the sum of all their e^score, its value the mean of theirs by weight.

Every number is from the model's own pass over your text, in 32-bit numbers.
"""


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
        show.table(analysis.table(chosen.one), title="The row of arithmetic as a table")
    with below:
        inside.key(chosen)
    inside.share(chosen)
    inside.around(record, chosen)
    show.explain(EXPLAIN)
    one = chosen.one
    show.downloads(
        "inside",
        table=lambda: analysis.table(one),
        arrays=lambda: analysis.arrays(one),
        figure=lambda: figure(
            chosen.attention, one.layer, one.head, one.row, key=chosen.key, which=chosen.which, dark=page.dark()
        ),
        record=record,
    )


main()
