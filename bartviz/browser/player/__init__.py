"""The decoding player: ``data`` and ``words`` for any host, ``component`` for Streamlit."""
