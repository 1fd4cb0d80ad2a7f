"""What does a language model look at? The saved record at once, or what the visitor ran."""

from functools import partial

import streamlit as st

from bartviz.analysis import start
from bartviz.record import Record
from bartviz.ui import page, ribbons, session, show, sidebar

EXPLAIN = """
**A ribbon is a weight.** While the model wrote a word below, it looked back at the words above; the wider the ribbon,
the more it looked. The weights of one word below always sum to 1, so its ribbons share one width between them.

**Which head?** The model looks in many ways at once: each *head* of each layer has weights of its own. Shown is the
head whose words choose each other most: a word below looks mostly at a word above, and no other word below looks at
that one as much. Other heads look elsewhere, often at `<s>`, `</s>` or the full stop.

**"Chosen with 92 %"** is the probability that the model gave to the word before it wrote it; for a word in several
pieces it is the product over them. **Attention shows where a word looked, not why it was chosen.**
"""


def picture(record: Record, found: start.Ribbons) -> None:
    show.lead(start.notice(found))
    cross = found.head.kind == "cross"
    above, below = ("source text", "output") if cross else ("text, looked at", "text, looking")
    ribbons.show(found.first(), key="ribbons", above=above, below=below)
    layers, heads = record.attention(found.head.kind).shape[:2]
    said = f"{found.head}: of {layers * heads} heads the one whose words choose each other most ({found.score:.2f})."
    longest = max(len(found.above), len(found.below))
    cut = f" The first {start.MOST_WORDS} of {longest:,} words are drawn." if longest > start.MOST_WORDS else ""
    show.note(said + cut)


def cards() -> None:
    step, look, own = st.container(key="cards").columns(3, gap="medium")
    with step.container(border=True, height="stretch", gap="xsmall"):
        page.link("decoding", "**Step through it**")
        show.note("How was each word chosen, and from what?")
    with look.container(border=True, height="stretch", gap="xsmall"):
        page.link("heads", "**Look inside a head**")
        show.note("Every layer and every head of this text, one of them large.")
    with own.container(border=True, height="stretch"), st.form("own", border=False, clear_on_submit=True):
        text, button = st.columns([3, 1], vertical_alignment="bottom", gap="small")
        text.text_input("Use your own text", key="own_text", placeholder="I want to buy a car.")
        button.form_submit_button("Run", width="stretch", on_click=sidebar.start_with_own, args=("own_text",))


def main() -> None:
    record = page.begin("start", needs_record=False)
    if record is None:
        cards()
        return
    found = session.derived("ribbons", record, partial(start.ribbons, record))
    picture(record, found)
    cards()
    show.explain(EXPLAIN)
    show.downloads("start", table=partial(start.table, found), arrays={"weights": found.weights}, record=record)


main()
