"""The decoding settings of the sidebar: only those that apply are drawn. Values from the URL are checked on reading."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus

import streamlit as st

from bartviz.analysis import sentence_words
from bartviz.app.controls import expander, pick, show
from bartviz.app.controls.setting_names import OWN, USED
from bartviz.app.state import session, url_state
from bartviz.errors import SettingError, choices
from bartviz.language import _, later, mark, named
from bartviz.record.vocabulary import BRANCHED_AT, CHOSEN_BY_YOU, MODES
from bartviz.record.vocabulary import STOPS as STOPPED
from bartviz.serving.search import BEAMS, NGRAMS, PENALTY, SEED, TEMPERATURE, By, Early, Search

if TYPE_CHECKING:
    from bartviz.families.family import ModelKind
    from bartviz.record.record import Record

MOST_TOKENS, MOST_CANDIDATES, MOST_KEPT = 512, 50, 1000
OTHER_TEXT = "b_text"  # the text that another one is compared with
TEXTS = ("text", "pair", "target", OTHER_TEXT)  # what a visitor typed: in a link only if they want it
LONG_LINK = 2000  # characters; many programs truncate longer links
SEARCHES: Mapping[str, By] = {"greedy": "greedy", "beams": "beams", "sampling": "sampling", "checkpoint": "checkpoint"}
SEARCH_NAMES = {
    "greedy": mark("greedy"),
    "beams": mark("beams"),
    "sampling": mark("sampling"),
    "checkpoint": mark("checkpoint"),
}
HINTS = {
    "greedy": mark("The most probable token, step by step."),
    "beams": mark("Several candidate texts are kept at each step; the one with the best total score wins."),
    "sampling": mark("Each token is drawn at random by its probability; the same seed gives the same text."),
    "checkpoint": mark("The checkpoint's own settings: beams, lengths and sampling."),
}
_FIRST = Search()
GREEDY: Mapping[str, str | float] = {
    "search": _FIRST.by,
    "temperature": _FIRST.temperature,
    "draw_k": _FIRST.top_k,
    "draw_p": _FIRST.top_p,
    "seed": _FIRST.seed,
}
"""What a draw changes, as the app begins: the most probable token at each step."""
STOPS: Mapping[str, Early | None] = {"model": None, "enough": True, "likely": False, "possible": "never"}
STOP_NAMES = {
    "model": mark("the model's own settings"),
    "enough": mark("enough texts have ended"),
    "likely": mark("a better one is unlikely"),
    "possible": mark("a better one is impossible"),
}
KEYS = (
    "max_new_tokens",
    "top_k",
    "search",
    "beams",
    "length_penalty",
    "stop",
    "temperature",
    "draw_k",
    "draw_p",
    "seed",
    "min_new_tokens",
    "ngrams",
)


def draw(kind: ModelKind) -> None:
    """The folded decoding settings; opening and changing them does not redraw the page."""
    if kind != "encoder":
        st.fragment(_section)()


def read() -> Search:
    """The search that the controls describe. Checks each value, which may come from a link. Raises SettingError."""
    value = st.session_state.get
    by = _chosen(SEARCHES, value("search"), mark("search"), "greedy")
    at_least = int(_number("min_new_tokens", 0))
    ngrams = value("ngrams")
    common: dict[str, Any] = {
        "by": by,
        "min_new_tokens": at_least or None,
        "ngrams": None if ngrams is None else int(ngrams),
    }
    if by == "beams":
        penalty = value("length_penalty")
        common |= {
            "beams": int(_number("beams", 4)),
            "length_penalty": None if penalty is None else float(penalty),
            "early_stopping": _chosen(STOPS, value("stop"), mark("stopping rule"), "model"),
        }
    if by == "sampling":
        common |= {
            "temperature": float(_number("temperature", 1.0)),
            "top_k": int(_number("draw_k", 0)),
            "top_p": float(_number("draw_p", 1.0)),
            "seed": int(_number("seed", 0)),
        }
    return Search(**common)


def of_draw() -> dict[str, str | float]:
    """The present settings of those that a draw changes."""
    held = {key: st.session_state.get(key) for key in GREEDY}
    return {key: GREEDY[key] if value is None else value for key, value in held.items()}


def limits() -> tuple[int | None, int]:
    """The maximum of new tokens (None: the model's own limit) and of candidates per step. Raises SettingError."""
    most, kept = _number("max_new_tokens", 0), _number("top_k", 10)
    if not (0 <= most <= MOST_TOKENS and 1 <= kept <= MOST_CANDIDATES):
        message = later(
            "New tokens go from 0 to {tokens}, candidates from 1 to {candidates}.",
            tokens=MOST_TOKENS,
            candidates=MOST_CANDIDATES,
        )
        raise SettingError(message)
    return int(most) or None, int(kept)


def used(record: Record, *, without: Container[str] = ()) -> str:
    """The settings that a run used, in words, ``without`` some by name; empty if none were recorded."""
    values = {name: _shown_value(record, name, value) for name, value in record.provenance.settings.items()}
    parts = [f"{_(USED.get(name, name))}: {text}" for name, text in values.items() if text and name not in without]
    stopped = record.provenance.stopped
    return "; ".join([*parts, *([_("stopped by: {reason}", reason=_translated(stopped))] if stopped else [])])


def own() -> Mapping[str, Any] | None:
    """The chosen checkpoint's own decoding settings; None until it is loaded."""
    known = session.engine().about(str(st.session_state.get("model", "")))
    return None if known is None else known.generation


def _section() -> None:
    """Drawn from the first opening on: a field that is not drawn would lose its value."""
    with expander.section(_("Decoding settings"), key="decoding") as opened:
        if opened or are_drawn():
            _fields()


def are_drawn() -> bool:
    """Whether the fields of the section are drawn, also where it is closed."""
    return expander.requested("decoding", KEYS)


def link_draw() -> None:
    """Put the numbers of a draw into the address before their fields are first drawn: a field that begins with a value
    set by a callback does not."""
    numbers = {key: str(value) for key, value in of_draw().items() if value != GREEDY[key] and key != "search"}
    st.query_params.update(numbers)


def _fields() -> None:
    generation = own()
    by = pick.select(_("Search"), named(SEARCH_NAMES), key="search")
    given = bool(st.session_state.get("target"))
    show.note(_("A given output is read, not generated, so these settings have no effect.") if given else _(HINTS[by]))
    if by == "beams":
        _beams(generation)
    if by == "sampling":
        _sampling()
    if by == "checkpoint":
        show.note(_own_settings(generation))
    of_model = _("the model's")
    left, right = st.columns(2)
    with left:
        hint = _(
            "New tokens. The end token is not allowed before that; 1 allows any length. Leave this empty for "
            "the model's own rule."
        )
        _field(_("At least"), "min_new_tokens", (1, MOST_TOKENS), None, own=of_model, hint=hint)
    with right:
        hint = _("New tokens. Leave this empty for the model's own limit.")
        _field(_("At most"), "max_new_tokens", (1, MOST_TOKENS), None, own=of_model, hint=hint)
    hint = _(
        "No n-gram of this size may repeat: 3 is usual for summaries, 0 allows every repetition. Leave this "
        "empty for the model's own rule."
    )
    own_size = of_model if generation is None else str(generation.get("no_repeat_ngram_size") or 0)
    _field(_("Never repeat an n-gram of"), "ngrams", NGRAMS, None, own=own_size, hint=hint)
    _field(_("Candidates kept per step"), "top_k", (1, MOST_CANDIDATES), 10)
    record = session.current_record()
    if record is not None and record.model.name == st.session_state.get("model") and used(record):
        show.note(_("The last run: {settings}.", settings=used(record)))


def _beams(generation: Mapping[str, Any] | None) -> None:
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        _field(_("Beams"), "beams", BEAMS, 4, hint=_("Candidate texts kept at each step."))
    penalty = (generation or {}).get("length_penalty")
    own_penalty = _("the model's") if penalty is None else f"{penalty:g}"
    hint = _(
        "A text's score is its log p divided by its length to this power: above 0 favours long texts, below "
        "0 short ones. Leave this empty for the model's own."
    )
    with right:
        _field(_("Length penalty"), "length_penalty", PENALTY, None, own=own_penalty, step=0.1, hint=hint)
    pick.select(_("Stop when"), named(STOP_NAMES), key="stop")


def _sampling() -> None:
    _field(
        _("Temperature"),
        "temperature",
        TEMPERATURE,
        1.0,
        step=0.05,
        hint=_("Logits are divided by it: below 1 favours probable tokens, above 1 gives the others more of a chance."),
    )
    left, right = st.columns(2)
    with left:
        _field(
            _("Top-k"), "draw_k", (0, MOST_KEPT), 0, hint=_("Draw from the k most probable tokens; 0 draws from all.")
        )
    with right:
        hint = _("Draw from the fewest tokens whose probabilities add up to this share.")
        _field(_("Top-p"), "draw_p", (0.01, 1.0), 1.0, step=0.01, hint=hint)
    _field(_("Seed"), "seed", SEED, 0, hint=_("The same seed draws the same tokens."))


def _own_settings(generation: Mapping[str, Any] | None) -> str:
    if generation is None:
        return _("They are known once the model is loaded.")
    beams = generation.get("num_beams") or 1
    drawn = _("drawn at random") if generation.get("do_sample") else _("greedy")
    parts = [_("{count} beams", count=beams) if beams > 1 else drawn]
    for name, message in OWN.items():
        value = generation.get(name)
        if value and (beams > 1 or name not in ("length_penalty", "early_stopping")):
            shown = _("on") if value is True else f"{value:g}" if isinstance(value, float) else value
            parts.append(_(message, value=shown))
    return _("Set by the checkpoint: {settings}.", settings=", ".join(parts))


def _field(
    label: str,
    key: str,
    ends: tuple[float, float],
    first: float | None,
    *,
    own: str = "",
    step: float = 1,
    hint: str | None = None,
) -> None:
    """A number field, kept within ``ends``. Where ``first`` is None the field may be empty: then the model's own value
    holds, ``own`` in words."""
    wrong = url_state.within(key, *ends, whole=isinstance(step, int))
    value = st.number_input(
        label,
        *ends,
        first,
        step=step,
        key=key,
        bind="query-params",
        persist_state="session",
        placeholder=own or None,
        help=hint,
    )
    url_state.number(key, wrong, own if value is None else value)


def _number(key: str, first: float) -> float:
    value = st.session_state.get(key)
    return first if value is None else value


def _chosen(names: Mapping[str, Any], value: object, what: str, first: str) -> Any:
    name = first if value is None else value
    if name not in names:
        raise SettingError(later("There is no such {what}: choose {names}.", what=later(what), names=choices(names)))
    return names[str(name)]


def _shown_value(record: Record, name: str, value: object) -> str:
    """A setting's value as the pages show it: steps count from 1, tokens appear by label."""
    if name == "forced":
        return ", ".join(
            _("step {step} “{token}”", step=step.position + 1, token=step.chosen.label)
            for step in record.steps
            if step.rule == CHOSEN_BY_YOU
        )
    if name == BRANCHED_AT and isinstance(value, int):
        return _("step {step}", step=value + 1)
    if name == "early_stopping":
        means = {early: word for word, early in STOPS.items()}
        return f"{value} ({_(STOP_NAMES[means[value]])})" if value in means else _listed(value)
    return _listed(value) if value not in ((), None, "") else ""


def _listed(value: object) -> str:
    values = value if isinstance(value, (tuple, list)) else (value,)
    return ", ".join(_translated(str(part)) for part in values)


def _translated(value: str) -> str:
    """A value of a run's settings: known words are translated, others stay unchanged."""
    return _(value) if value in MODES | STOPPED else sentence_words.rule(value)


def long_link() -> None:
    """A warning if the texts make the link longer than many programs accept."""
    state = st.session_state
    count = sum(len(quote_plus(state.get(key) or "")) for key in TEXTS)
    if count > LONG_LINK:
        message = _(
            "With its texts this link has {count:,} characters. This app opens it, but mail and chat "
            "programs often cut such links off; send the text separately.",
            count=count,
        )
        show.note(message)
