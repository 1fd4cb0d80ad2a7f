"""The version, stated once, and what else a result was computed with."""

from __future__ import annotations

import json
import shutil
import subprocess
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

__version__ = "0.1.0"
_LONGEST = 5.0  # seconds until git is no longer waited for


@cache
def versions() -> dict[str, str]:
    """What a result is computed with: the versions of bartviz, transformers, torch and NumPy, as far as they are
    installed, and the commit of bartviz, where it is known; none of them is imported."""
    found = {"bartviz": __version__}
    for name in ("transformers", "torch", "numpy"):
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    known = commit()
    return found | ({"commit": known} if known else {})


@cache
def commit() -> str:
    """The commit of bartviz: of the repository that it runs from, with "+changes" where a file differs from it, or that
    pip installed it from. Empty where it is not known."""
    root = Path(__file__).parents[1]
    if (root / ".git").exists():
        git = shutil.which("git")
        return "" if git is None else _of_repository(git, root)
    with suppress(metadata.PackageNotFoundError, ValueError, AttributeError):
        written = metadata.distribution("bartviz").read_text("direct_url.json")
        return str(json.loads(written or "{}").get("vcs_info", {}).get("commit_id", ""))
    return ""


def _of_repository(git: str, root: Path) -> str:
    def said(*arguments: str) -> str:
        done = subprocess.run(
            [git, "-C", str(root), *arguments], capture_output=True, text=True, check=True, timeout=_LONGEST
        )
        return done.stdout.strip()

    with suppress(OSError, subprocess.SubprocessError):
        changed = said("status", "--porcelain", "--untracked-files=no", "--", "bartviz")
        return said("rev-parse", "HEAD") + ("+changes" if changed else "")
    return ""
