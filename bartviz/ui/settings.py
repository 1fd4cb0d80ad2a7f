"""The decoding settings of the sidebar: only what applies is drawn; each value is in the URL and checked when read."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from bartviz.errors import SettingError
from bartviz.ui import session, show
from bartviz.ui.search import BEAMS, PENALTY, SEED, TEMPERATURE, By, Early, Search

if TYPE_CHECKING:
    from transformers import GenerationConfig

    from bartviz.record import ModelKind, Record

MOST_TOKENS, MOST_CANDIDATES, MOST_KEPT = 512, 50, 1000
SEARCHES: Mapping[str, tuple[By, str]] = {
    "greedy": ("greedy", "The most probable token, step by step."),
    "beams": ("beams", "Several texts are written side by side; the best whole one wins."),
    "sampling": ("sampling", "A token is drawn by its probability; the same seed draws the same."),
    "checkpoint": ("checkpoint", "As the model was made to decode: its own beams, lengths and draws."),
}
STOPS: Mapping[str, Early | None] = {
    "as the model came": None, "enough texts have ended": True, "no better one is likely": False,
    "no better one is possible": "never",
}  # fmt: skip
KEYS = (
    "max_new_tokens", "top_k", "search", "beams", "length_penalty", "stop", "temperature", "draw_k", "draw_p", "seed",
    "min_new_tokens", "ngrams",
)  # fmt: skip


def draw(kind: ModelKind) -> None:
    """The folded decoding settings; a change of them redraws no page."""
    if kind != "encoder":
        with st.expander("Decoding"):
            st.fragment(_fields)()


def read() -> Search:
    """The search that the controls ask for, each value checked again: it may come from a link. Raises SettingError."""
    value = st.session_state.get
    by, _ = _chosen(SEARCHES, value("search"), "search", "greedy")
    at_least = int(_number("min_new_tokens", 0))
    common: dict[str, Any] = {"by": by, "min_new_tokens": at_least or None, "blocks": bool(value("ngrams", True))}
    if by == "beams":
        penalty = value("length_penalty")
        common |= {
            "beams": int(_number("beams", 4)), "length_penalty": None if penalty is None else float(penalty),
            "early_stopping": _chosen(STOPS, value("stop"), "rule to stop", "as the model came"),
        }  # fmt: skip
    if by == "sampling":
        common |= {
            "temperature": float(_number("temperature", 1.0)), "top_k": int(_number("draw_k", 0)),
            "top_p": float(_number("draw_p", 1.0)), "seed": int(_number("seed", 0)),
        }  # fmt: skip
    return Search(**common)


def limits() -> tuple[int | None, int]:
    """New tokens at most (None: the model's own limit) and candidates kept per step. Raises SettingError."""
    most, kept = _number("max_new_tokens", 0), _number("top_k", 10)
    if not (0 <= most <= MOST_TOKENS and 1 <= kept <= MOST_CANDIDATES):
        raise SettingError(f"New tokens go from 0 to {MOST_TOKENS}, candidates from 1 to {MOST_CANDIDATES}.")
    return int(most) or None, int(kept)


def used(record: Record, *, without: Container[str] = ()) -> str:
    """What a run really had, in words, but for some settings by name; empty where nothing was kept of it."""
    found = [(name, value) for name, value in record.provenance.settings.items() if name not in without]
    said = [f"{name.replace('_', ' ')}: {_listed(value)}" for name, value in found if value not in ((), None, "")]
    stopped = record.provenance.stopped
    return "; ".join([*said, *([f"stopped by: {stopped}"] if stopped else [])])


def own() -> GenerationConfig | None:
    """What the chosen checkpoint says of decoding; None until it is loaded."""
    model = session.engine().models.peek(str(st.session_state.get("model", "")))
    return getattr(model, "generation", None)


def _fields() -> None:
    generation = own()
    by, hint = SEARCHES[_select("Search", SEARCHES, "search")]
    show.note(hint if not st.session_state.get("target") else "A given output is read, not searched: these rest.")
    if by == "beams":
        _beams(generation)
    if by == "sampling":
        _sampling()
    if by == "checkpoint":
        show.note(_own_said(generation))
    left, right = st.columns(2)
    with left:
        _field("At least", "min_new_tokens", (0, MOST_TOKENS), 0, hint="New tokens; 0 leaves the model's own rule, 1 "
               "allows any length. Before that the end token is not allowed.")  # fmt: skip
    with right:
        _field("At most", "max_new_tokens", (0, MOST_TOKENS), 0, hint="New tokens; 0 leaves the model's own limit.")
    if getattr(generation, "no_repeat_ngram_size", 0) or st.session_state.get("ngrams", True) is False:
        size = getattr(generation, "no_repeat_ngram_size", 0) or "n"
        st.toggle(
            f"No {size} tokens twice", True, key="ngrams", bind="query-params",
            help="The model's own rule against repetition: it forbids a token that would repeat a run of so many.",
        )  # fmt: skip
    _field("Candidates kept per step", "top_k", (1, MOST_CANDIDATES), 10)
    record = session.current_record()
    if record is not None and record.model.name == st.session_state.get("model") and used(record):
        show.note(f"The last run: {used(record)}.")


def _beams(generation: GenerationConfig | None) -> None:
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        _field("Beams", "beams", BEAMS, 4, hint="Texts that are kept at every step.")
    penalty = getattr(generation, "length_penalty", None)
    with right:
        st.number_input(
            "Length penalty", PENALTY[0], PENALTY[1], None, step=0.1, key="length_penalty", bind="query-params",
            placeholder="the model's" if penalty is None else f"{penalty:g}",
            help="A text's score is its log p divided by its length to this power: above 0 favours long texts, below 0 "
            "short ones. Empty leaves the model's own.",
        )  # fmt: skip
    _select("Stop when", STOPS, "stop")


def _sampling() -> None:
    _field("Temperature", "temperature", TEMPERATURE, 1.0, step=0.05, hint="Logits are divided by it: below 1 the "
           "probable gets more probable, above 1 the rest gets its chance.")  # fmt: skip
    left, right = st.columns(2)
    with left:
        _field("Top-k", "draw_k", (0, MOST_KEPT), 0, hint="Draw from the k most probable tokens; 0 from all.")
    with right:
        _field("Top-p", "draw_p", (0.01, 1.0), 1.0, step=0.01, hint="Draw from the fewest tokens that have this share.")
    _field("Seed", "seed", SEED, 0, hint="The same seed draws the same tokens.")


def _own_said(generation: GenerationConfig | None) -> str:
    if generation is None:
        return "What that is will be known when the model has been loaded."
    beams = generation.num_beams or 1
    found = [f"{beams} beams" if beams > 1 else "drawn at random" if generation.do_sample else "greedy"]
    names = {
        "min_length": "length at least {}", "min_new_tokens": "at least {} new tokens",
        "max_length": "length at most {}", "max_new_tokens": "at most {} new tokens",
        "length_penalty": "length penalty {}", "early_stopping": "early stopping {}",
        "no_repeat_ngram_size": "no {} tokens twice",
    }  # fmt: skip
    for name, said in names.items():
        value = getattr(generation, name, None)
        if value and (beams > 1 or name not in ("length_penalty", "early_stopping")):
            found.append(said.format("on" if value is True else f"{value:g}" if isinstance(value, float) else value))
    return "It says: " + ", ".join(found) + "."


def _select(label: str, names: Mapping[str, object], key: str) -> str:
    chosen = st.selectbox(label, list(names), key=key, bind="query-params", persist_state="session")
    return chosen if chosen in names else next(iter(names))


def _field(
    label: str, key: str, ends: tuple[float, float], first: float, *, step: float = 1, hint: str | None = None
) -> None:
    """A number between two ends; what a link or an earlier model left outside of them goes back to the first value."""
    held = st.session_state.get(key)
    if held is not None and not ends[0] <= held <= ends[1]:
        st.session_state[key] = first
    low, high = ends
    st.number_input(
        label, low, high, first, step=step, key=key, bind="query-params", persist_state="session", help=hint
    )


def _number(key: str, first: float) -> float:
    value = st.session_state.get(key)
    return first if value is None else value


def _chosen(names: Mapping[str, Any], said: object, what: str, first: str) -> Any:
    name = first if said is None else said
    if name not in names:
        raise SettingError(f"There is no such {what}: choose {', '.join(names)}.")
    return names[str(name)]


def _listed(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
