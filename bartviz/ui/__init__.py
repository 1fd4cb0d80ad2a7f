"""All that knows Streamlit: the frame of a page, the shared controls, pickers, and how things are shown.

A page reads like a sentence::

    from bartviz.ui.controls import pick, show
    from bartviz.ui.frame import levels, page

    record = page.begin("heads")          # guard, title, status line; the current record or an empty state
    kind = pick.kind(record)              # a word of the address, clamped to the record
    layer = pick.layer(record, kind)
    show.figure(figures.heads(record.attention(kind), layer=layer, dark=page.dark()), key="map", alt="...")
    levels.explain("heads")
    show.downloads("heads", table=..., figure=...)
"""

import os

# NumPy's own threads wait for each other on cores that are busy with the models, which can make a measure of all heads
# many times slower; the matrices here are small. To be said before NumPy is imported; what the owner has said counts.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
