"""The folder of the app: next to the package in a checkout, inside the package when installed from a wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[2]
_INSIDE = _PACKAGE / "site"

ROOT = _INSIDE if _INSIDE.is_dir() else _PACKAGE.parent  # the folder of app.py and pages/
APP = ROOT / "app.py"
