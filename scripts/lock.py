"""The exact packages that everything is installed from: ``make lock`` writes both files with uv.

requirements.txt is for people: what the app runs on and what installs it, with versions. scripts/requirements.lock has
the same packages with the hashes of their files, and below them those that checking and testing need. A version that
still fits is kept; ``--upgrade`` takes the newest. ``--check`` compares the files with pyproject.toml and each other,
without a network.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
EXACT, LOCK = "requirements.txt", "scripts/requirements.lock"
FREE = "torch"  # its build differs from index to index: a version, no hash
# What some builds of torch ask for, and others do not.
ACCELERATORS = (
    "cuda-bindings",
    "cuda-toolkit",
    "nvidia-cudnn-cu13",
    "nvidia-cusparselt-cu13",
    "nvidia-nccl-cu13",
    "nvidia-nvshmem-cu13",
    "triton",
)
HEADER = "# Written by `make lock` from the ranges in pyproject.toml; not by hand.\n"
EXACT_NOTE = """\
# What the app and the library run on, exactly. torch is built for several processors: the index that is asked decides
# which build this is, and brings what that build needs (CUDA's libraries or nothing), so neither is named here.
"""
LOCK_NOTE = """\
# The packages of requirements.txt with the hashes of their files, for Python 3.11 to 3.13 on every platform. Without
# torch, which is not the same file everywhere: install this with --require-hashes --no-deps, then requirements.txt.
"""
DEVELOPERS = "# For developers"  # the Makefile and deploy/Containerfile read the file down to here
DEVELOPERS_NOTE = f"{DEVELOPERS}: what checking, testing, measuring and training need in addition.\n"


@dataclass(frozen=True)
class Pin:
    """A package in one version, as a file has it, with its hashes and the packages that need it."""

    requirement: Requirement
    text: str

    @property
    def name(self) -> str:
        return canonicalize_name(self.requirement.name)

    @property
    def exactly(self) -> tuple[str, str]:
        return self.name, str(self.requirement.specifier)


def read(text: str) -> list[Pin]:
    """The packages of a file."""
    blocks = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    return [Pin(Requirement(re.split(r" \\$|\n", block, flags=re.MULTILINE)[0]), block) for block in blocks]


def wanted(folder: Path) -> tuple[list[Requirement], list[Requirement]]:
    """The requirements in pyproject.toml: for the app (the package with the extra ``all`` and what that names, and what
    installs it), and for developers."""
    file = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    project, dev = file["project"], [Requirement(line) for line in file["dependency-groups"]["dev"]]
    app = [Requirement(line) for line in (*file["build-system"]["requires"], *project["dependencies"])]
    extras = ["all"]
    for extra in extras:
        for requirement in map(Requirement, project["optional-dependencies"][extra]):
            if requirement.name == project["name"]:
                extras += sorted(requirement.extras)
            else:
                app.append(requirement)
    return app, dev


def faults(folder: Path = ROOT) -> list[str]:
    """Where the files do not fit the ranges of pyproject.toml, or each other."""
    app, dev = wanted(folder)
    exact, lock = (read((folder / name).read_text(encoding="utf-8")) for name in (EXACT, LOCK))
    above = read((folder / LOCK).read_text(encoding="utf-8").split(DEVELOPERS)[0])
    found = [f"{EXACT}: {fault}" for fault in _unfit(app, exact)]
    found += [f"{LOCK}: {fault}" for fault in _unfit([need for need in (*app, *dev) if need.name != FREE], lock)]
    direct = {canonicalize_name(need.name) for need in (*app, *dev)}
    for pin in lock:
        if "(pyproject.toml" in pin.text and pin.name not in direct:
            found.append(f"{LOCK}: pyproject.toml no longer asks for {pin.name}")
        if "--hash=sha256:" not in pin.text:
            found.append(f"{LOCK}: {pin.name} has no hash")
    if {pin.exactly for pin in exact if pin.name != FREE} != {pin.exactly for pin in above}:
        found.append(f"{LOCK} does not begin with the packages of {EXACT}")
    for pin in (*exact, *lock):
        if pin.name.startswith(("nvidia-", "cuda-", "triton")):
            found.append(f"{pin.name} belongs to a build of torch")
    return found


def _unfit(asked: list[Requirement], pins: list[Pin]) -> list[str]:
    """Which requirements have no package in a version within their range."""
    found = []
    for need in asked:
        versions = [str(pin.requirement.specifier)[2:] for pin in pins if pin.name == canonicalize_name(need.name)]
        if not any(need.specifier.contains(version, prereleases=True) for version in versions):
            found.append(f"{need} has {', '.join(versions) or 'no version'}")
    return found


def write(*options: str) -> None:
    """Resolve the ranges for every Python and platform at once. Needs uv and a network."""
    kept = {name: [str(pin.requirement) for pin in read((ROOT / name).read_text("utf-8"))] for name in (EXACT, LOCK)}
    torch = [line for line in kept[EXACT] if line.startswith(f"{FREE}==") and FREE not in options]
    exact = _resolved(kept[EXACT], torch, "--no-annotate", *options)
    (ROOT / EXACT).write_text(HEADER + EXACT_NOTE + exact, encoding="utf-8")
    pins = [str(pin.requirement) for pin in read(exact)]
    developers = ("--group", "pyproject.toml:dev", "--generate-hashes", "--no-emit-package", FREE)
    app = {pin.name for pin in read(exact)}
    lock = read(_resolved(kept[LOCK], pins, *developers, *options))
    first, rest = ("".join(pin.text for pin in lock if (pin.name in app) is which) for which in (True, False))
    (ROOT / LOCK).write_text(HEADER + LOCK_NOTE + first + DEVELOPERS_NOTE + rest, encoding="utf-8")


def _resolved(kept: list[str], constraints: list[str], *options: str) -> str:
    """The output of uv for the app, and with a group for developers; ``kept``: the lines of the file before."""
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        raise SystemExit("uv is not here: pip install uv")
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    with tempfile.TemporaryDirectory() as scratch:
        files = {"left_out": ACCELERATORS, "constraints": constraints, "build": build, "out": kept}
        for name, lines in files.items():
            Path(scratch, name).write_text("\n".join(lines), encoding="utf-8")
        left_out, held, builds, out = (str(Path(scratch, name)) for name in files)
        command = [uv, "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--no-header"]
        command += ["--fork-strategy", "fewest", "--no-emit-index-url", "--excludes", left_out, "--constraints", held]
        command += ["pyproject.toml", builds, "--extra", "all", *options, "--output-file", out]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        text = Path(out).read_text(encoding="utf-8").split("\n# The following packages")[0]
        lines = text.replace(f"-r {builds}", "bartviz (pyproject.toml)").splitlines()
        return "".join(f"{line}\n" for line in lines if not line.strip().startswith("#   -c "))


def main(arguments: list[str]) -> int:
    """Write the files, or with ``--check`` print what is wrong with them; the exit status."""
    if arguments != ["--check"]:
        write(*arguments)
    wrong = faults()
    print("\n".join([*wrong, "Run: make lock"] if wrong else ["The lock files fit pyproject.toml."]))
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
