"""The attention canvas: ``data`` and ``words`` for any host, ``component`` for Streamlit."""
