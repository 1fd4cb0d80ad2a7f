"""How far does the news of one changed word come in one step? The articles' sentence, three masks, layer by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis import edits as analysis
from bartviz.figures.edits import MASKS, reach
from bartviz.ui import page, pick, show
from bartviz.ui.experiments.asking import ask

if TYPE_CHECKING:
    from bartviz.analysis.edits import Reach
    from bartviz.attention import Tokens
    from bartviz.gate import Ticket
    from bartviz.models import Model
    from bartviz.record import Record

SENTENCE = (
    "The house is beautiful and well located in the middle of the city "
    "where it is easily accessible by public transport"
)
TEXTS = {"article": "the house and “it”", "own": "this text"}
NEWS, EAR = "house", "it"
WINDOW, WIDEST = "window", 8
MOST = 512  # tokens: a mask is held as n x n cells
EXPLAIN = """
**One layer is one step.** In a bidirectional encoder a token's new state is a weighted sum over *all* positions: the
news of a changed word is everywhere after a single layer, however far away. That is what is meant by relating "it" to
"house" in one operation. A window lets the news travel only so many positions a layer; a causal mask lets it travel in
one step too, but only to the right. A recurrent network hands it on from word to word: one step for each.

**Counted exactly:** in the sentence 12 words stand *between* "house" and "it", so "it" is the 13th word after it. In
this model's tokens the distance may be larger, since some words are several tokens.

**The masks are laid on this model's own weights,** which were trained with one of them. Only *where* something changed
counts here, not what such a model would say. A written 0 is exact: equal to the last bit.

That the news *can* arrive does not say that the model uses it.
"""


def draw(record: Record) -> Reach | None:
    """The whole part; gives what was found, for the downloads."""
    said = st.container()
    which = pick.one_of("In", TEXTS, key="sentence")
    tokens = record.source if which == "own" else _sentence(record)
    if tokens is None:
        return None
    if len(tokens) > MOST:
        show.note(f"This part takes up to {MOST} tokens, and the text has {len(tokens):,}: take the other sentence.")
        return None
    first, second, third = st.columns([2, 2, 1], gap="medium")
    with first:
        position = pick.index("Changed", len(tokens), key="changed", default=_find(tokens, NEWS, 1))
    with second:
        place = pick.index("Felt at", len(tokens), key="felt", default=_find(tokens, EAR, len(tokens) - 2))
    with third:
        window = _window(min(WIDEST, len(tokens)))
    found = _reach(record, which, position, window)
    if found is None:
        return None
    with said:
        show.lead(analysis.reach_notice(found, place))
    _maps(found, place)
    show.table(analysis.reach_table(found), title="The first layer that feels it, at every position")
    return found


def _window(most: int) -> int:
    """Positions on each side that a window shows."""
    if most < 2:
        return 1
    if WINDOW in st.session_state:
        st.session_state[WINDOW] = min(max(int(st.session_state[WINDOW]), 1), most)
    return int(st.slider("Window, each side", 1, most, min(2, most), key=WINDOW, bind="query-params"))


def _sentence(record: Record) -> Tokens | None:
    def work(model: Model, ticket: Ticket[Tokens]) -> Tokens:
        from bartviz.runs import prepare

        ticket.report("Reading the sentence")
        return prepare(model, SENTENCE).tokens

    return ask("sentence", record, {}, work, lambda tokens: 200 * len(tokens))


def _find(tokens: Tokens, word: str, otherwise: int) -> int:
    found = [i for i, label in enumerate(tokens.labels) if label.lower() == word]
    return found[0] if found else max(0, min(otherwise, len(tokens) - 1))


def _reach(record: Record, which: str, position: int, window: int) -> Reach | None:
    def work(model: Model, ticket: Ticket[Reach]) -> Reach:
        from bartviz.edits import reach

        ticket.report("Running the sentence under three masks")
        text = record if which == "own" else SENTENCE
        return reach(model, text, position, window=window, cancelled=ticket.cancelled)

    key: dict[str, object] = {"sentence": which, "position": position, "window": window}
    return ask("reach", record, key, work, lambda found: found.nbytes)


def _maps(found: Reach, place: int) -> None:
    """The three masks under each other: long sentences need the width."""
    for mask in found.changes:
        layer = int(found.first_layer(mask)[place])
        title = MASKS[mask].format(found.window)
        alt = f"{title}: {'never felt there' if layer < 0 else f'felt there after {layer} layers'}."
        figure = reach(found, masks=[mask], place=place, dark=page.dark())
        show.figure(figure, key=f"reach_{mask}", alt=alt)
    show.note(
        f"{found.old} became {found.new}. Relative change of each state: layers down, positions across, in powers of "
        "ten; 0: equal to the last bit. The tall frame is the changed token, the cells framed one by one are where "
        "it is felt."
    )
