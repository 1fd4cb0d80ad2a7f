"""A training that is over, moment by moment: the replay that ships, that of a setting, or a visitor's own file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import streamlit as st

from bartviz.analysis.head_names import NAMES
from bartviz.app.components import served
from bartviz.app.controls import pick, show
from bartviz.app.state import own_replay
from bartviz.corpus.replay import SETTING, SHIPPED, Replay, open_replay
from bartviz.drawing import theme
from bartviz.errors import BartvizError
from bartviz.features.born.parts import STYLE
from bartviz.language import _, mark

_COMPONENT = served.Served.of(Path(__file__).parent / "replay", STYLE)
WORDS: Mapping[str, str] = {
    "play": mark("Play"),
    "pause": mark("Pause"),
    "slider": mark("Moment of the training"),
    "state": mark("Step {step}: moment {at} of {all}."),
    "guess": mark("Guess first: in which head will “{measure}” be strongest at the end?"),
    "writes": mark("At this moment it writes:"),
    "example": mark("Text"),
    "kind": mark("Attention"),
    "measure": mark("Curves of"),
    "of": mark("Head"),
    "given": mark("{head} at step {step}, while it reads the right output: a row for each word, a column for each "
                  "that it may read"),
    "map": mark("{head} at step {step}: a row for each word, a column for each that it may read"),
    "curves": mark("Against the step, which is drawn on a log scale: “{measure}” of every head"),
    "chosen": mark("{head}, with its 95% interval"),
    "others": mark("the other heads, each with its 95% interval (pale): touch a curve to choose it"),
    "pointed": mark("the other heads: their 95% intervals overlap, so point at a curve to see its own, or touch it "
                    "to choose it"),
    "later": mark("The curves are drawn up to this moment. At the last one it says which head it is, and since when."),
    "most": mark("“{measure}” is strongest in {head}: {share}."),
    "fits": mark("Your guess was right: {head}."),
    "fails": mark("You guessed {guess}, and it is {head}."),
    "begins": mark("{head} passes half of its way at step {step} (95% interval {low} to {high}): the mark below its "
                   "curve."),
    "none": mark("{head} has no change point: its whole change is less than a tenth, or may be none."),
}  # fmt: skip


def draw() -> None:
    """The replay, if there is one."""
    found = _found()
    if found is not None:
        _draw(found)


def taught() -> bool:
    """Whether the page is shown by a lesson, which is about the replay that ships."""
    return "lesson" in st.query_params


def _draw(found: Replay) -> None:
    st.subheader(_("Moment by moment"), anchor=False)
    show.lead(
        _(
            "A training at {count} moments, from random weights on, over {texts} texts. Move the slider, or press "
            "Play: the heads find their jobs one after the other.",
            count=len(found.steps),
            texts=f"{found.about['texts']:,}",
        )
    )
    if whole := found.about.get("whole"):
        last = found.steps[-1]
        show.note(
            _(
                "Its last moment is step {last} of the {whole} that were planned ({share:.0%}): a moment of a longer "
                "training, and not the translator that the other pages show.",
                last=f"{last:,}",
                whole=f"{whole:,}",
                share=last / whole,
            )
        )
    with st.container(key="moments"):
        _COMPONENT(data=payload(found), key="replay")
    if found.about["source"]:
        show.note(_(found.about["source"]))


def _found() -> Replay | None:
    """The visitor's own, that of the setting, or the one that ships, which a lesson is about; None if there is none."""
    own = own_replay.own()
    if own is not None and not taught():
        return own
    path = SHIPPED if taught() else Path(os.environ.get(SETTING) or SHIPPED)
    if not path.is_file():
        return None
    try:
        return _read(path, path.stat().st_mtime_ns)
    except BartvizError as error:
        st.error(show.plain(str(error)))
        return None


@lru_cache(maxsize=2)
def _read(path: Path, _changed: int) -> Replay:
    """The replay of a file, read once for all visitors, and again when it has changed."""
    return open_replay(path)


def payload(found: Replay) -> bytes:
    """What the component is given: the replay, with the words of the reader's language and the colours."""
    named = {
        "words": {name: _(text) for name, text in WORDS.items()},
        "measures": {name: _(text) for name, text in NAMES.items()},
        "named": {kind: pick.kind_name(kind) for kind in found.about["kinds"]},
        "stops": {kind: [list(theme.stops(kind)), list(theme.stops(kind, dark=True))] for kind in found.about["kinds"]},
    }
    return replace(found, about={**found.about, **named}).payload()
