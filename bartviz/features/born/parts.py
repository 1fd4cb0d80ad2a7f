"""The controls of the training, and the component that runs it in the browser: nothing of it goes to the server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from bartviz.app.components import served
from bartviz.app.controls import pick
from bartviz.app.state import url_state
from bartviz.browser import PANEL
from bartviz.browser.scripts import bundle
from bartviz.drawing import theme
from bartviz.explorer.learning import WORKER
from bartviz.language import _, mark

_COMPONENT = served.Served.of(Path(__file__).parent / "training", PANEL)
SCRIPT = bundle(WORKER)  # what the worker runs
NAME = "learning"  # of its folder
SEEDS = 99  # the largest
TASKS = {"reverse": mark("Reverse letters"), "sort": mark("Sort letters"), "translate": mark("Translate forty words")}
WIDTHS, HEADS, LAYERS, RATES = ("16", "32", "64"), ("1", "2", "4"), ("1", "2"), ("0.001", "0.005", "0.02")
NAMES = ("width", "heads", "layers", "rate", "mask", "seed")  # of the address
WORDS: Mapping[str, str] = {
    "start": mark("Start training"),
    "stop": mark("Stop"),
    "go": mark("Go on"),
    "before": mark("It should turn “{text}” into “{answer}”. Nothing has been learned yet: its numbers are random."),
    "comes": mark("Its learning curves will appear here."),
    "now": mark("Step {step}: {own} of {all} texts that it has never seen are right."),
    "both": mark(
        "Step {step}: {told} of {all} texts that it has never seen are right if the words before are told, "
        "and {own} if it writes itself."
    ),
    "stopped": mark("Stopped."),
    "learnt": mark("Learned."),
    "broken": mark("Your browser could not start the training: it needs web workers. Another browser will have them."),
    "head": mark("Head {head} of layer {layer}"),
    "share": mark("{share} in the right place"),
    "map": mark(
        "Cross-attention of head {head} of layer {layer}: a row for each letter or word that it should write, "
        "a column for each that it reads"
    ),
    "rows": mark("writes ↓"),
    "columns": mark("reads →"),
    "against": mark("{what}, against the step."),
    "shares": mark("How much it gets right"),
    "axis": mark("steps"),
    "own": mark("texts it gets right"),
    "told": mark("right if told"),
    "weight": mark("each head's weight in the right place"),
    "loss": mark("Training loss (0: sure of the right answer)"),
    "guess": mark("Guess first: which cells will stand out?"),
    "same": mark("a line from top left to bottom right"),
    "mirrored": mark("a line from top right to bottom left"),
    "right": mark("one in each row, scattered"),
    "other": mark("none of these"),
    "fits": mark("Your guess was right: {answer}."),
    "fails": mark("You guessed: {guess}. It became: {answer}."),
    "line": mark("Head {head} of layer {layer} has {share} of its weight on {answer}."),
    "scattered": mark(
        "Head {head} of layer {layer} has {share} of its weight on the place that the word comes from."
    ),
    "measured": mark(
        "Head {head} of layer {layer} has {same} of its weight on the place with the same number, {mirrored} on the "
        "one counted from the end, and {right} on the one that the word comes from."
    ),
    "ahead": mark(
        "Without the mask it reads the next word from the answer, so its training loss falls, and it need not look at "
        "the text. When it writes itself there is no answer to read: {own} of {all} are right."
    ),
    "elsewhere": mark(
        "The row of “{row}” looks most at “{column}” ({share}), not at “{place}”, and is right all the same: the "
        "encoder has mixed each word with the others before a head looks, so another column can hold what the "
        "row needs."
    ),
    "end": mark("“</s>” is the end of the text."),
    "text": mark("A text of your own"),
    "try": mark("Try"),
    "letters": mark("Only the letters a to h, at most {most}."),
    "known": mark("Only these words, at most {most}: {words}"),
    "writes": mark("It writes"),
    "should": mark("It should write"),
    "correct": mark("right"),
    "wrong": mark("wrong"),
}  # fmt: skip


class Network(NamedTuple):
    """What the training begins with. ``rate``: the step of Adam."""

    width: int = 32
    heads: int = 2
    layers: int = 1
    rate: float = 0.005
    causal: bool = True
    seed: int = 1


def task() -> str:
    """The task (URL ``task``)."""
    with st.container(key="born_task"):
        return pick.one_of(_("It learns to"), {word: _(name) for word, name in TASKS.items()}, key="task")


def again() -> None:
    """A button for other random numbers."""
    st.button(
        _("New random numbers"),
        on_click=_other_seed,
        help=_("Begin again from other random numbers, those of another seed."),
    )


def _other_seed() -> None:
    held = url_state.number_chosen("seed") or Network().seed
    url_state.put_number("seed", held % SEEDS + 1)


def network(opened: bool) -> Network:
    """The network (URL ``width``, ``heads``, ``layers``, ``rate``, ``mask``, ``seed``); as it is at first, if the
    section is closed, but for its seed."""
    usual = Network()
    if not opened:
        seed = url_state.number_chosen("seed")
        return usual._replace(seed=min(max(seed or usual.seed, 1), SEEDS))
    left, middle, right = st.columns(3)
    with left:
        width = pick.one_of(_("Width"), WIDTHS, key="width", default=str(usual.width))
        rate = pick.one_of(_("Learning rate"), RATES, key="rate", default=str(usual.rate))
    with middle:
        heads = pick.one_of(_("Heads in a layer"), HEADS, key="heads", default=str(usual.heads))
        layers = pick.one_of(_("Layers on each side"), LAYERS, key="layers", default=str(usual.layers))
    with right:
        seed = pick.slider(_("Seed"), 1, SEEDS, usual.seed, 1, key="seed")
        causal = pick.switch(
            _("Causal mask"),
            key="mask",
            default=True,
            hint=_("Without it the decoder sees the words that it is to write."),
        )
    return Network(int(width), int(heads), int(layers), float(rate), causal, seed)


def draw(task: str, network: Network) -> None:
    """The training of this network on this task."""
    _COMPONENT(data=json.dumps(payload(task, network)).encode(), key="training")


def payload(task: str, network: Network) -> dict[str, object]:
    """The component's data: plain JSON. ``worker`` is an address, or the script itself if no file can be written."""
    return {
        "settings": {"task": task, **network._asdict()},
        "words": {name: _(text) for name, text in WORDS.items()},
        "stops": [list(theme.stops("cross")), list(theme.stops("cross", dark=True))],
        "worker": served.worker(NAME, SCRIPT),
    }
