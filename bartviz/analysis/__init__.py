"""Records and configurations -> arrays and tables, NumPy and pandas; neither torch nor streamlit is imported here."""
