"""Arrays and records -> plotly figures, one word per feature; neither torch nor streamlit is imported here."""
