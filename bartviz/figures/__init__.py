"""Arrays and records -> plotly figures, one function per feature word; neither torch nor streamlit is imported here."""

from bartviz.figures.masks import masks

__all__ = ["masks"]
