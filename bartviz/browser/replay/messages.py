"""The messages of a replay, in the reader's language, and the colours of its maps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bartviz.analysis import sentence_words
from bartviz.analysis.head_names import NAMES
from bartviz.drawing import theme
from bartviz.language import _, mark
from bartviz.record.attention import Kind

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
    "rows": mark("word ↓"),
    "columns": mark("looks at →"),
    "curves": mark("Against the step, which is drawn on a log scale: “{measure}” of every head"),
    "chosen": mark("{head}, with its 95% interval"),
    "others": mark("the other heads, each with its 95% interval (faint): touch a curve to choose it"),
    "pointed": mark("the other heads: their 95% intervals overlap, so touch a curve to choose it and see its own, "
                    "or point at it"),
    "later": mark("The curves are drawn up to this moment. At the last one it says which head it is, and since when."),
    "most": mark("“{measure}” is strongest in {head}: {share}."),
    "fits": mark("Your guess was right: {head}."),
    "fails": mark("You guessed {guess}, and it is {head}."),
    "begins": mark("{head} passes half of its way at step {step} (95% interval {low} to {high}): the mark below its "
                   "curve."),
    "none": mark("{head} has no change point: its whole change is less than a tenth, or may be none."),
}  # fmt: skip


def described(kinds: Iterable[Kind]) -> dict[str, Any]:
    """What the script needs besides a replay of these kinds of attention, for its description."""
    shown = list(kinds)
    return {
        "words": {name: _(text) for name, text in WORDS.items()},
        "measures": {name: _(text) for name, text in NAMES.items()},
        "named": {kind: sentence_words.kind_alone(kind) for kind in shown},
        "stops": {kind: [list(theme.stops(kind)), list(theme.stops(kind, dark=True))] for kind in shown},
    }


def said(about: Mapping[str, Any]) -> dict[str, str]:
    """What a page says of a training with this description; empty where there is nothing to say."""
    last, whole, texts = about["steps"][-1], about.get("whole"), about["texts"]
    return {
        "title": _("Moment by moment"),
        "lead": _(
            "A training at {count} moments, from random weights on, over {texts} texts. Move the slider, or press "
            "Play: the heads find their jobs one after the other.",
            count=len(about["steps"]),
            texts=f"{texts:,}",
        ),
        "unfinished": _(
            "Its last moment is step {last} of the {whole} that were planned ({share:.0%}): a moment of a longer "
            "training.",
            last=f"{last:,}",
            whole=f"{whole:,}",
            share=last / whole,
        )
        if whole
        else "",
        "source": _(about["source"]) if about["source"] else "",
    }
