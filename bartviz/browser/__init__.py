"""Code for the browser: scripts, and the Python that gives them their data; no Streamlit."""

from pathlib import Path

BROWSER = Path(__file__).parent
PANEL = BROWSER / "shared/panel.css"  # the style that the pictures of a training share
