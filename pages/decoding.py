"""How is each word chosen? The steps of one output, played in the browser."""

from functools import partial

import streamlit as st

from bartviz.analysis import decoding
from bartviz.catalogue import CATALOGUE
from bartviz.figures.decoding import decoding as figure
from bartviz.record import Record
from bartviz.ui import branches, page, session, show
from bartviz.ui import decoding as parts
from bartviz.ui.components.player import player

EXPLAIN = """
**A step is a row.** The decoder reads the tokens that it has so far and gives every token of its vocabulary a
probability; the best one is written down and read at the next step. Row *t* **reads** token *t* and **predicts** token
*t* + 1: the same row of weights can be named by either, and an alignment is right only for the token that is predicted.

**Shading** is the share of attention that this step gives to a token: over the source (cross-attention, violet) and
over the output so far (the decoder's own attention, vermilion). Rows sum to 1. Weight on `<s>` and `</s>` is normal.

**Candidates** show probabilities from the raw logits, before any rule. Where a rule decided (a forced token, a minimum
length, a blocked repetition) it is named, and its bar is hatched in the film.

**What if it had said ...** Click a candidate, or type a word, and the model writes the text again from there. The
second film strip is that branch: pale where both say the same. Its log p beside the first one's says which whole text
the model holds for more probable.

**How sure:** probabilities of the steps multiply, so their logarithms add up: log p(output | source) is their sum.
Entropy says how many bits of choice were left: 0 when one token has it all, 1 when two are even.

**The cache:** the encoder runs once. Its keys and values for cross-attention are computed at the first step; after that
each step computes one new row and reuses everything else. Operations count multiplications and additions of the
decoder's attention in the whole model, not of the feed-forward layers.

Attention shows where a step looked, not why the token was chosen.
"""


def advise(record: Record) -> None:
    """What to do where nothing was decoded: an encoder-only model, or a record without steps."""
    if record.decoder is None:
        names = ", ".join(f"`{known.name}`" for known in CATALOGUE if known.kind != "encoder")
        st.info(
            "This model is an encoder: it reads the whole text at once and writes none, so there are no steps to play. "
            f"Choose one of these in the sidebar and run again: {names}."
        )
        page.link("heads", "See where its words look, on the page Heads")
    else:
        st.info("This record has no decoding steps. Press **Run** in the sidebar to decode the text again.")


def main() -> None:
    record = page.begin("decoding")
    if not record.steps:
        advise(record)
        return
    said, settings = st.columns([4, 1], vertical_alignment="center")
    with said:
        show.lead(decoding.notice(record))
    with settings, st.popover("Layer and head", width="stretch"):
        layer, head = parts.choices(record)
    parts.style()
    branch = branches.current(record)
    hear = partial(branches.hear, record)
    place = player(record, layer=layer, head=head, place=parts.asked(record), branch=branch, on_wish=hear, key="player")
    if session.running() is None:  # a link's place is that of the text which its run will bring
        st.query_params.update(step=str(place.step + 1), reading=place.reading)
    if branch is not None:
        branches.numbers(record, branch)
    parts.all_heads(record, place, layer, head)
    parts.made(record)
    parts.given_output(record)
    parts.beam_tree(record, place.step)
    show.explain(EXPLAIN)
    show.downloads(
        "decoding",
        table=lambda: decoding.steps_table(record),
        arrays=lambda: decoding.arrays(record, layer=layer, head=head),
        figure=lambda: figure(record, layer=layer, head=head, reading=place.reading, dark=page.dark()),
    )


main()
