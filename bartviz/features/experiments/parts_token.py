"""Change one token: which encodings, attention rows and predictions it affects, and which stay bit-equal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np
import streamlit as st

from bartviz.analysis import edits as analysis
from bartviz.analysis import sentence_words
from bartviz.analysis.masks import quote
from bartviz.app.controls import expander, pick, show
from bartviz.app.controls.experiment_tasks import ask, large, note_ablated
from bartviz.app.frame import levels, page
from bartviz.features.experiments import parts_headline as headline
from bartviz.features.experiments.figure import View, edits
from bartviz.features.experiments.figure_panels import SIDE, written
from bartviz.features.experiments.parts_patching import patching
from bartviz.language import _, later, mark, named
from bartviz.language.percentages import percent

if TYPE_CHECKING:
    from bartviz.analysis.edits import Edit, Part
    from bartviz.features.experiments.run_suggestions import Suggestion
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket
    from bartviz.text.tokens import Tokens

Suggested = tuple["tuple[Suggestion, ...]", "Suggestion | None"]

PARTS = {"source": mark("the source"), "target": mark("the output")}
VIEWS = {"encodings": mark("encodings"), "attention": mark("rows of attention")}
REPLACE = "replace"
LONGEST = 60  # letters of a replacement
MOST_SUGGESTED = 6  # tokens, one line of buttons
LONG = 48  # tokens from which the text is below the maps instead of above
NARROW = 24  # positions; the minimum width of a map


@dataclass(frozen=True, slots=True)
class Place:
    """The token to change."""

    part: Part
    position: int


def draw(record: Record) -> Edit | None:
    """Draw this part; returns the result, for the downloads."""
    lead, words = st.container(key="edit_answer"), st.container(key="edit_words")
    note_ablated(record)
    more = levels.at_least("intermediate") or expander.requested("edit_settings", ("moved",))
    first, *middle, position_place, last = st.columns(
        [1.2, 1.5, 1.7, 1.3] if more else [1.2, 1.7, 1.3], gap="small", vertical_alignment="center"
    )
    with first:
        part = _part(record)
    view: View = "encodings"
    for place_of_view in middle:
        with place_of_view:
            view = cast("View", pick.one_of(_("Show the change of"), named(VIEWS), key="moved"))
    tokens = _tokens(record, part)
    with position_place:
        position = pick.index(_("Position"), len(tokens), key="position", default=_word(tokens), names=tokens.labels)
    place = Place(part, position)
    long = len(tokens) > LONG
    with words:
        left, right = (None, st.container()) if long else st.columns([1, 1], gap="medium")
    if left is not None:
        with left:
            _text(record, place)
    with right:
        suggested, telling = _suggested(record, place)
        _suggestion_buttons(suggested, tokens.labels[position])
    with last:
        token = _replacement(telling)
    result = _edit(record, place, token) if token else None
    with lead:
        _answer(result, telling)
    if result is not None:
        _maps(result, view)
    if long:
        _text(record, place)
    if result is not None:
        _outputs(result)
        show.table(analysis.hidden_table(result), title=_("Every state of every layer"))
        if part == "source" and result.before is not None:
            with levels.aside(
                _("Which heads carry the change? Put each back"), key="patching", names=["put"]
            ) as opened:
                if opened:
                    patching(record, result)
    return result


def _answer(result: Edit | None, telling: Suggestion | None) -> None:
    """What the change does: a large sentence, its meaning, and from Intermediate on the numbers."""
    if result is None:
        headline.sentence(_("Which numbers does one changed token affect?"))
        return
    headline.sentence(headline.replaced(result))
    parts, more = [headline.felt(result)], levels.at_least("intermediate")
    if more and telling is not None and result.new_id == telling.token_id and result.before is not None:
        assert result.after is not None
        turned = bool((result.before.best != result.after.best).any())
        parts.append(
            _("Of the tokens that fit here, it is the first that makes another word the likeliest.")
            if turned
            else _("None of the tokens that fit here makes another word the likeliest; this one changes most.")
        )
    show.lead(" ".join(parts))
    if more:
        show.note(analysis.notice(result))


def _tokens(record: Record, part: Part) -> Tokens:
    return record.source if part == "source" else record.attention("decoder").query


def _part(record: Record) -> Part:
    if record.cross is None:
        return "source"
    return "target" if pick.one_of(_("Change a token of"), named(PARTS), key="side") == "target" else "source"


def _word(tokens: Tokens) -> int:
    """A word in the middle of the text, so that tokens follow it."""
    words = [i for i, label in enumerate(tokens.labels) if not tokens.special[i] and label.isalpha()]
    return words[len(words) // 2] if words else len(tokens) // 2


def _text(record: Record, place: Place) -> None:
    label = (
        _("The source; the framed token is replaced.")
        if place.part == "source"
        else _("What the decoder reads; the framed token is replaced.")
    )
    show.running_text(
        _tokens(record, place.part),
        None,
        chosen=place.position,
        kind="decoder" if place.part == "target" or record.reads_own_text else "encoder",
        label=label,
        key="edit_text",
    )


def _replacement(telling: Suggestion | None) -> str:
    """The typed replacement, or the suggestion that changes something."""
    typed = st.text_input(
        _("Replace it by"),
        key=REPLACE,
        bind="query-params",
        max_chars=LONGEST,
        placeholder=telling.label if telling else _("one token"),
        help=_(
            "One token of the model's vocabulary. If this is empty: the first suggestion that changes a prediction."
        ),
    )
    return (typed or "").strip() or (telling.typed if telling else "")


def _suggested(record: Record, place: Place) -> Suggested:
    """The tokens that are offered, and the first of them that changes a prediction (of a large model, the first)."""
    quick = not large(record, MOST_SUGGESTED)

    def work(model: Model, ticket: Ticket[Suggested]) -> Suggested:
        from bartviz.features.experiments.run_suggestions import suggestions, telling

        ticket.report(later("Finding tokens that fit here"))
        found = suggestions(model, record, place.position, part=place.part)[:MOST_SUGGESTED]
        if not quick:
            return found, next(iter(found), None)
        return found, telling(model, record, place.position, found, part=place.part, cancelled=ticket.cancelled)

    key: dict[str, object] = {"part": place.part, "position": place.position}
    return ask("suggestions", record, key, work) or ((), None)


def _suggestion_buttons(suggested: tuple[Suggestion, ...], token: str) -> None:
    """Buttons for the tokens that are suggested instead of ``token``."""
    if not suggested:
        return
    if not levels.at_least("intermediate"):
        show.note(_("Replace {token} by one of these", token=quote(token)))
    elif suggested[0].why == "probability":
        show.note(_("Tokens that fit there, by the model's own probability"))
    else:
        show.note(_("Tokens with similar embeddings"))
    with st.container(horizontal=True, gap="small", key="offered"):
        for number, suggestion in enumerate(suggested):
            value = (
                _("probability {share}", share=percent(suggestion.value))
                if suggestion.why == "probability"
                else _("similarity of the embeddings: {value:.2f} of at most 1", value=suggestion.value)
            )
            st.button(
                show.plain(suggestion.label), key=f"offer_{number}", help=value, on_click=_use, args=(suggestion.typed,)
            )


def _use(typed: str) -> None:
    st.session_state[REPLACE] = typed


def _edit(record: Record, place: Place, token: str) -> Edit | None:
    def work(model: Model, ticket: Ticket[Edit]) -> Edit:
        from bartviz.experiments.edits import edit

        ticket.report(later("Running both texts"))
        return edit(model, record, place.position, token, part=place.part, cancelled=ticket.cancelled)

    key: dict[str, object] = {"part": place.part, "position": place.position, "token": token}
    return ask("edit", record, key, work)


def _maps(result: Edit, view: View) -> None:
    """Layers by positions for each stack or kind of attention, side by side if there is space."""
    kinds = list(result.hidden if view == "encodings" else result.attention)
    lengths = [len(result.record.attention(kind).query) for kind in kinds]
    wide = sum(lengths) > SIDE
    containers = [st.container() for _kind in kinds] if wide else st.columns(_widths(lengths), gap="small")
    for column, kind in zip(containers, kinds, strict=True):
        change = result.hidden[kind] if view == "encodings" else result.rows_changed(kind)
        zero = int(np.sum(change == 0)) if view == "encodings" else int(result.equal[kind].all(axis=1).sum())
        alt = _(
            "{kind} {what} by layer and position: {zero} of {count} cells are exactly 0.",
            kind=sentence_words.capitalized(sentence_words.kind(kind)),
            what=_(VIEWS[view]),
            zero=zero,
            count=change.size,
        )
        with column:
            show.figure(
                partial(edits, result, view=view, kinds=[kind], dark=page.dark()), key=f"edit_{view}_{kind}", alt=alt
            )
    message = mark("Layers down, positions across. 0: exactly as before. The framed column is the changed token.")
    if not all(written(change) for change in result.hidden.values()):
        message = mark(
            "Layers down, positions across. 0, or grey: exactly as before. The framed column is the changed token."
        )
    each = "" if view == "encodings" else _("Each cell is the mean over the heads of its layer.")
    show.note(f"{_(message)} {each}".strip())


def _widths(lengths: list[int]) -> list[int]:
    """The relative widths of maps with these many positions; 4 extra for the layer names."""
    return [max(length, NARROW) + 4 for length in lengths]


def _outputs(result: Edit) -> None:
    """The model's prediction at each row, before and after."""
    if result.before is None:
        show.note(_("This model does not predict tokens, so there are no predictions to compare."))
        return
    st.markdown(_("**What the model predicts when one token changes**"))
    same = int(result.same.sum())
    alt = _(
        "Probabilities before and after; {same} of {rows} rows are bit-identical.", same=same, rows=len(result.rows)
    )
    show.figure(partial(edits, result, view="outputs", dark=page.dark()), key="edit_outputs", alt=alt)
    message = (
        mark("Each pair of bars is a position in the text, labelled with the token that was likeliest there before.")
        if result.record.output is None
        else mark("Each pair of bars is a step, labelled with the token of the output there.")
    )
    said = [_(message), _("An arrow names the token that is likeliest now, where that has changed.")]
    if levels.at_least("intermediate"):
        said.append(_("{same} of {rows} rows of logits are bit-identical.", same=same, rows=len(result.rows)))
    show.note(" ".join(said))
    show.table(analysis.rows_table(result), title=_("Every prediction, before and after"))
