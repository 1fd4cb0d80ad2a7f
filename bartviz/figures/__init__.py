"""Arrays and records -> plotly figures, one function per feature word; neither torch nor streamlit is imported here.

Every view of the app, as a notebook calls it (``att`` is one of ``record.encoder``, ``.decoder``, ``.cross``):

    start        ribbons(record)
    inputs       inputs(one), positions(one), shift(one) of ``experiments.embeddings.inputs(model, record)``; bias(att)
    masks        masks(record, view=...), pattern(att, "window"),
                 recurrence(one) of ``analysis.recurrence.recurrence(record)``
    inside       inside(att, layer, head, row), score(...) of one key, share(...), scaling(att, layer),
                 growth(att, row), activation(record), norms(record),
                 residual(one) of ``experiments.residual.residual(model, record, stack, layer, row)``,
                 lens(one) of ``bartviz.lens(model, record, stack="encoder")``
    heads        heads(att), heads(att, layer=2), heads(att, layer=2, head=0), heads(att, layer=2, mean=True)
    compare      compare(att, x=..., y=...), compare(att, a=(2, 0), b=(3, 1)), likeness(att), rollout(att),
                 contribution(att, layer, head)
    decoding     decoding(record, step=...), beams(record), branches(record, other)
                 output_layer(one) of ``experiments.output_layer.output_layer(model, record, step)``
    denoising    denoising(found) of ``bartviz.experiments.repair.repair(model, text, noise)``
    experiments  ablation(found), moved(found), edits(found, view=...) of what ``bartviz.ablate``, ``ablate_sweep``,
                 ``edit`` and ``reach`` give, patch_map(found) of ``bartviz.patch(model, clean, corrupted)``
    alignment    alignment(record), alignment(record, ["cross L1H0"], view="matrix")
    classic      classic(record, ...)
    parameters   parameters(name), cost(name, length, view=...), sizes()
    models       models(names)
    pitfalls     gap(record), quiet(sweep, record)

Of ``bartviz.attribute(model, record, method=...)``: ``attribution(found)``, or ``attribution(found.words())``.

Of a corpus: ``atlas(heads, measure="previous", kind="encoder")`` of ``bartviz.open_atlas(folder).heads``,
``atlas_pair(heads, other)`` of two of them, ``distribution(histograms, measure="previous", head=Head("encoder", 0,
1))`` of ``.histograms``, and ``distances(table, head=Head("encoder", 0, 1))`` of ``.distances()``.

Each takes ``dark=True``. Plotly's ``figure.write_html("map.html")`` saves a figure that needs no network. For arguments
that a figure cannot draw it raises a SettingError, which says what it accepts.
"""

from bartviz import lazy

__getattr__, __dir__, __all__ = lazy.attach(__name__, __file__)
