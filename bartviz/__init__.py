"""See, step through and test attention in BERT, BART and their relatives.

    import bartviz

    model = bartviz.load("bart-tiny-en-de")
    record = bartviz.capture(model, "I want to buy a car.")
    record.cross.head(2, 5)                      # (target tokens, source tokens), rows sum to 1
    bartviz.figures.heads(record.cross, layer=2)

Names are loaded when they are first used: a saved record opens, and every figure draws, without torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bartviz.version import __version__

if TYPE_CHECKING:
    from bartviz import figures
    from bartviz.analysis.parameters import parameters
    from bartviz.corpus.atlas import open_atlas
    from bartviz.experiments.ablation import ablate, ablate_sweep
    from bartviz.experiments.edits import edit, reach
    from bartviz.experiments.verify import verify
    from bartviz.figures import paper
    from bartviz.models.load import load
    from bartviz.models.wrap import wrap
    from bartviz.record.given import from_attentions
    from bartviz.record.record import open_record as open  # noqa: A004
    from bartviz.run.branches import branch
    from bartviz.run.forward import capture, capture_batch
    from bartviz.run.generate import decode, decode_batch
    from bartviz.run.sampling import Sampling
    from bartviz.ui.components.explorer.file import save
    from bartviz.ui.components.explorer.widget import explore

_HOMES = {
    "load": ("bartviz.models.load", "load"),
    "capture": ("bartviz.run.forward", "capture"),
    "capture_batch": ("bartviz.run.forward", "capture_batch"),
    "decode": ("bartviz.run.generate", "decode"),
    "decode_batch": ("bartviz.run.generate", "decode_batch"),
    "branch": ("bartviz.run.branches", "branch"),
    "Sampling": ("bartviz.run.sampling", "Sampling"),
    "ablate": ("bartviz.experiments.ablation", "ablate"),
    "ablate_sweep": ("bartviz.experiments.ablation", "ablate_sweep"),
    "edit": ("bartviz.experiments.edits", "edit"),
    "reach": ("bartviz.experiments.edits", "reach"),
    "from_attentions": ("bartviz.record.given", "from_attentions"),
    "open_atlas": ("bartviz.corpus.atlas", "open_atlas"),
    "open": ("bartviz.record.record", "open_record"),
    "save": ("bartviz.ui.components.explorer.file", "save"),
    "explore": ("bartviz.ui.components.explorer.widget", "explore"),
    "parameters": ("bartviz.analysis.parameters", "parameters"),
    "verify": ("bartviz.experiments.verify", "verify"),
    "wrap": ("bartviz.models.wrap", "wrap"),
    "figures": ("bartviz.figures", None),
    "paper": ("bartviz.figures.paper", None),
}

__all__ = [
    "Sampling",
    "__version__",
    "ablate",
    "ablate_sweep",
    "branch",
    "capture",
    "capture_batch",
    "decode",
    "decode_batch",
    "edit",
    "explore",
    "figures",
    "from_attentions",
    "load",
    "open",
    "open_atlas",
    "paper",
    "parameters",
    "reach",
    "save",
    "verify",
    "wrap",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bartviz' has no attribute '{name}'")
    home, attribute = _HOMES[name]
    try:
        module = import_module(home)
    except ModuleNotFoundError as error:
        message = import_module("bartviz.errors").needs(f"bartviz.{name}", error.name)
        raise ModuleNotFoundError(message, name=error.name) from error
    except ValueError:  # the hub's library, with an HF_ENDPOINT that is no address
        import_module("bartviz.safety.addresses").check_hub()
        raise
    value = module if attribute is None else getattr(module, attribute)
    globals()[name] = value
    return value
