"""All that knows Streamlit: the frame of a page, the shared controls, pickers, and how things are shown.

A page reads like a sentence::

    from bartviz.ui import page, pick, show

    record = page.begin("heads")          # guard, title, status line; the current record or an empty state
    kind = pick.kind(record)              # bound to the URL, clamped to the record
    layer = pick.layer(record, kind)
    show.figure(figures.heads(record.attention(kind), layer=layer, dark=page.dark()), key="map", alt="...")
    show.explain("...")
    show.downloads("heads", table=..., figure=...)
"""
