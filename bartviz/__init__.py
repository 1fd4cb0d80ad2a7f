"""See, step through and test attention in BERT, BART and their relatives.

    import bartviz

    model = bartviz.load("bart-tiny-en-de")
    record = bartviz.capture(model, "I want to buy a car.")
    record.head("cross L2H5")                    # (target tokens, source tokens), rows sum to 1
    bartviz.figures.heads(record.attention("cross"), layer=2)

Names are loaded when they are first used: a saved record opens, and every figure draws, without torch.
"""

from importlib import import_module

from bartviz import hooks, lazy

hooks.pages = ("bartviz.analysis", "bartviz.drawing", "bartviz.app", "bartviz.features")
hooks.explorer = lambda: import_module("bartviz.explorer.file")
hooks.trainings = lambda: import_module("bartviz.explorer.replayed")
hooks.attributions = lambda: import_module("bartviz.drawing.attribution")
hooks.live = lambda: import_module("bartviz.explorer.live")
__getattr__, __dir__, __all__ = lazy.attach(__name__, __file__)
