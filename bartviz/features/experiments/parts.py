"""The parts of the experiments page: silence heads, change a token, and follow how far a change reaches."""

from __future__ import annotations

from bartviz.app.controls import pick, show
from bartviz.language import _, mark, named

NAMES = {"ablation": mark("silence heads"), "edit": mark("change a token"), "reach": mark("how far a change spreads")}
EXPERIMENTS = {
    "ablation": mark("A head is one small part of the model. Here you switch one off and see what changes."),
    "edit": mark("What changes inside the model when one token is replaced?"),
    "reach": mark("How many steps (layers) does a change take to reach a word far away? Three masks compared."),
}


def choose() -> str:
    """The experiment (URL ``experiment``), below what it is about."""
    about = show.place("experiment_about")
    chosen = pick.one_of(_("Experiment"), named(NAMES), key="experiment")
    with about:
        show.what_to_do(_(EXPERIMENTS[chosen]))
    return chosen
