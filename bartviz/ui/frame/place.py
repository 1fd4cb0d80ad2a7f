"""Where the app lies: beside the package in a copy of the repository, inside the package where a wheel put it."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[2]
_INSIDE = _PACKAGE / "site"

ROOT = _INSIDE if _INSIDE.is_dir() else _PACKAGE.parent  # the folder of app.py and pages/
APP = ROOT / "app.py"
