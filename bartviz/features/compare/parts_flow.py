"""Beyond one head's weights: attention rollout through the layers, and weights next to contributions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis import attention_vs_contribution, contributions, sentence_words
from bartviz.analysis.head_view import mean
from bartviz.analysis.rollout import rollout
from bartviz.app.controls import pick, show
from bartviz.app.frame import page
from bartviz.app.state.result_cache import cached
from bartviz.arrays import Floats
from bartviz.features.compare import figure_flow as flow
from bartviz.features.compare.parts import Chosen
from bartviz.language import _
from bartviz.record.attention import Attention, Kind
from bartviz.record.validation import weights_only
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    import pandas as pd

HEIGHT = 430  # pixels of each map


def rolled_out(chosen: Chosen) -> None:
    """A layer's mean attention next to the rollout from the input up to that layer."""
    kinds: list[Kind] = [kind for kind in chosen.record.kinds if kind != "cross"]
    kind = chosen.kind if chosen.kind in kinds else kinds[0]
    attention = chosen.record.attention(kind)
    if chosen.kind == "cross":
        show.note(_("Rollout is not defined for cross-attention; the encoder's is shown instead."))
    layer = pick.index(_("Up to layer"), attention.shape[0], key="upto", default=attention.shape[0] - 1)
    rolled = cached(partial(rollout, attention, layer))
    left, right = st.columns(2, gap="medium")
    with left:
        caption = _(
            "Mean of the {count} {kind} heads of only layer {layer}",
            count=attention.shape[1],
            kind=sentence_words.kind(kind),
            layer=layer,
        )
        _map(mean(attention, layer), attention, attention.query, chosen, "compare_layer", caption)
    with right:
        caption = _(
            "Rollout: {kind} layers 0 to {layer}, half of each row the token itself",
            kind=sentence_words.kind(kind),
            layer=layer,
        )
        _map(rolled, attention, attention.query, chosen, "compare_rollout", caption, flow.REACHES)
    show.note(
        _(
            "Abnar and Zuidema 2020: heads are averaged, the residual connection is half of each row (0.5 W "
            "+ 0.5 I), and layers are multiplied. Values, feed-forward layers and norms are left out: it "
            "shows what would arrive if there were only attention, and does not bound what does."
        )
    )
    show.downloads(
        "rollout",
        title=_("Rollout"),
        of=f"{kind}-to-L{layer}",
        table=lambda: _table(rolled, attention.query.labels),
        arrays=lambda: {"rollout": rolled, "layer": layer, "tokens": attention.query.labels},
        figure=lambda: flow.rollout(attention, layer, range=chosen.range, dark=page.dark()),
    )


def _table(weights: Floats, labels: tuple[str, ...]) -> pd.DataFrame:
    """One line per row and one column per token that it reaches, both named by position and token."""
    import pandas as pd

    names = [f"{position} {label}" for position, label in enumerate(labels)]
    frame = pd.DataFrame(weights, columns=names)
    frame.insert(0, "query", names)
    return frame


def _map(
    weights: Floats,
    attention: Attention,
    rows: Tokens,
    chosen: Chosen,
    key: str,
    caption: str,
    words: tuple[str, str] = flow.WEIGHT,
) -> None:
    drawn = partial(
        flow.flow_map, weights, attention, rows=rows, words=words, range=chosen.range, height=HEIGHT, dark=page.dark()
    )
    show.figure(drawn, key=key, alt=caption)
    show.note(f"{caption}. {_('A row attends to columns.')}" if words == flow.WEIGHT else f"{caption}.")


def weighed(chosen: Chosen) -> None:
    """Head A twice in the same colours: its weights, and the norms of its contributions."""
    pin = chosen.a
    if not pin.attention.has_scores:
        show.missing(weights_only())
        return
    if not contributions.available(pin.attention):
        show.note(_("This run was saved without its values, so contributions are unknown. Run the text again."))
        return
    comparison = attention_vs_contribution.weigh(pin.attention, *pin.place, query=pin.rows)
    st.text(attention_vs_contribution.notice(comparison, pin.label()))
    left, right = st.columns(2, gap="medium")
    with left:
        _map(
            comparison.attention,
            pin.attention,
            pin.rows,
            chosen,
            "compare_weights",
            _("Weights of A, {head}", head=pin.label()),
        )
    with right:
        caption = _("Contribution: the length of weight times projected value, each row divided by its sum")
        _map(comparison.contribution, pin.attention, pin.rows, chosen, "compare_norms", caption, flow.TAKES)
    show.note(
        _(
            "Kobayashi et al. 2020, equation 3. Both maps have the same colours, and the rows of both sum to "
            "1. A typical difference: a special token or full stop with a large weight and a short value."
        )
    )
    frame = attention_vs_contribution.table(comparison)
    show.table(frame, title=_("Where the two differ most"))
    show.downloads(
        "contribution",
        title=_("Attention and contribution"),
        of=f"{pin.head.kind}-{pin.head.short}",
        table=frame,
        arrays=lambda: {
            "attention": comparison.attention,
            "contribution": comparison.contribution,
            "rank": comparison.rank,
        },
        figure=lambda: flow.contribution(
            pin.attention, *pin.place, query=pin.rows, range=chosen.range, dark=page.dark()
        ),
    )
