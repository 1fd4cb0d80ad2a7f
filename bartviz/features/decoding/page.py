"""How is each word chosen? The steps of one output, played in the browser."""

from functools import partial

import streamlit as st

from bartviz.analysis import decoding, plain_words
from bartviz.app.components.player import player
from bartviz.app.controls import pick, show
from bartviz.app.frame import levels, output_confidence, page, page_hooks, related_links, row_names
from bartviz.app.state import session, url_state
from bartviz.families.catalogue import CATALOGUE
from bartviz.features.decoding import numbers_others, parts
from bartviz.features.decoding import parts_branches as branches
from bartviz.features.decoding import parts_temperature as temperature
from bartviz.features.decoding.figure import decoding as figure
from bartviz.features.decoding.parts_first_token import first_token
from bartviz.features.decoding.parts_output_layer import output_layer
from bartviz.language import _, mark
from bartviz.record.attention import Head
from bartviz.record.record import Record

TO_DO = mark("Press play, or touch a word below “All steps”, to see how it was chosen.")


def advise(record: Record) -> None:
    """Advice if nothing was decoded: an encoder-only model, or a record without steps."""
    if record.decoder is None:
        names = ", ".join(f"`{known.name}`" for known in CATALOGUE if known.kind != "encoder")
        st.info(
            _(
                "This model is an encoder: it reads the whole text at once and writes none, so there are no steps to "
                "play. Choose one of these in the sidebar (on a phone: Menu) and run again: {names}.",
                names=names,
            )
        )
        page.link("heads", _("See where its words look, on the page Heads"))
    elif record.from_weights:
        with show.or_missing():
            record.expect_model()
    else:
        st.info(
            _(
                "This record has no decoding steps. Press **Run** in the sidebar (on a phone: Menu) to decode the text "
                "again."
            )
        )


def main() -> None:
    record = page.begin("decoding")
    if not record.steps:
        advise(record)
        return
    related_links.text_to_word(record, "output", "word")
    led = page_hooks.current().leads()
    detailed = levels.at_least("intermediate") or page_hooks.current().asks_numbers()
    columns = st.columns([4, 1], vertical_alignment="center") if parts.offered() else [st.container(), st.container()]
    lead, settings = columns  # an empty container takes no room on a phone, an empty column does
    with lead:
        if detailed:  # a beginner reads the sentence of the step alone: two about different words confuse
            with show.place("lead"):
                show.lead(decoding.notice(record))
        elif not led:
            with show.place("decoding_do"):
                show.what_to_do(f"{plain_words.head()} {_(TO_DO)}")
        output_confidence.warning(record)
    with settings:
        layer, head = parts.choices(record)
    parts.style(plain=not detailed)
    heat = None if led else temperature.found(record)
    if heat is None:
        parts.draw_again(record)
    branch = branches.current(record)
    handle = partial(branches.handle, record)
    place = player(
        record,
        layer=layer,
        head=head,
        place=parts.asked(record),
        branch=branch,
        follows=branches.asked(),
        costs=levels.at_least("intermediate"),
        plain=not detailed,
        heat=heat,
        colors=pick.colors_of_words(record),
        naming=row_names.offered(),
        on_request=handle,
        key="player",
    )
    parts.leads_to(record, place)
    if place.reading != row_names.USUAL or row_names.switched():
        url_state.choose(row_names.KEY, (place.reading,))
    if session.running() is None:  # a link's position belongs to the text that is still running
        st.query_params.update(step=str(place.step + 1), reading=place.reading)
    if head is not None and layer is not None:
        related_links.to_other_views(
            record, "decoding", Head(decoding.kind_of(record), layer, head), record.steps[place.step].row
        )
    if branch is not None:
        branches.numbers(record, branch)
    parts.all_heads(record, place, layer, head)
    output_layer(record, place.step)
    if levels.at_least("intermediate"):
        first_token(record)
    if detailed:
        parts.made(record)
    parts.given_output(record)
    parts.beam_tree(record, place.step)
    levels.explain("decoding", how=numbers_others.sentences(record))
    show.downloads(
        "decoding",
        table=lambda: decoding.steps_table(record),
        arrays=lambda: decoding.arrays(record, layer=layer, head=head),
        figure=lambda: figure(record, layer=layer, head=head, reading=place.reading, dark=page.dark()),
        record=record,
    )
    temperature.ask(record, heat)
