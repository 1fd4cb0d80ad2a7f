"""The Streamlit app: the frame of a page, shared controls, pickers, and helpers that show results.

A page reads like a sentence::

    from bartviz.app.controls import pick, show
    from bartviz.app.frame import levels, page

    record = page.begin("heads")          # guard, title, status line; the current record or an empty state
    kind = pick.kind(record)              # a word of the address, clamped to the record
    layer = pick.layer(record, kind)
    show.figure(figures.heads(record.attention(kind), layer=layer, dark=page.dark()), key="map", alt="...")
    levels.explain("heads")
    show.downloads("heads", table=..., figure=...)
"""

import os

# NumPy's threads compete with the models for the cores, which can make measures of all heads many times slower; the
# matrices here are small. Set before NumPy is imported; a value in the environment takes precedence.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
