"""``make dist``: the source archive, and the wheel that is built from it, in dist/."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def build(folder: Path) -> tuple[Path, Path]:
    """Build the source archive and the wheel into the folder, without a network. Raises CalledProcessError."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        _run([sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", scratch])
        (archive,) = Path(scratch).glob("*.tar.gz")
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
        _run([*pip, "--wheel-dir", scratch, str(archive)])
        (wheel,) = Path(scratch).glob("*.whl")
        return Path(shutil.move(archive, folder / archive.name)), Path(shutil.move(wheel, folder / wheel.name))


def _run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        done.check_returncode()


if __name__ == "__main__":
    for file in build(ROOT / "dist"):
        print(f"{file.relative_to(ROOT)}  {file.stat().st_size / 1e6:.1f} MB")
