"""The exact packages that everything is installed from: ``python -m scripts.lock`` writes the three files anew.

The ranges in pyproject.toml are written by hand, and what follows from them is not: requirements.txt (the app, every
package with its version), requirements.lock (the same with hashes) and requirements-dev.lock (what checking and testing
need beside it). A version that still fits is kept; ``--upgrade`` takes the newest. ``--check`` reads the files without
a network and says where they are out of step.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
EXACT, LOCK, DEV = "requirements.txt", "requirements.lock", "requirements-dev.lock"
FREE = "torch"  # its build differs from index to index: a version, no hash
BUILT_FOR = ("nvidia-", "cuda-", "triton")  # what some of its builds ask for, and others do not
ACCELERATORS = (
    "cuda-bindings",
    "cuda-toolkit",
    "nvidia-cudnn-cu13",
    "nvidia-cusparselt-cu13",
    "nvidia-nccl-cu13",
    "nvidia-nvshmem-cu13",
    "triton",
)
PYTHONS = ("3.11", "3.12", "3.13")
PLATFORMS = (
    {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "platform_machine": "x86_64"},
    {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "platform_machine": "aarch64"},
    {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix", "platform_machine": "arm64"},
    {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt", "platform_machine": "AMD64"},
)
HEADER = "# Written by `make lock` from the ranges in pyproject.toml; not by hand.\n"
NOTES = {
    EXACT: """\
# What the app and the library run on, exactly. torch is built for several processors: the index that is asked decides
# which build this is, and brings what that build needs (CUDA's libraries or nothing), so neither is named here.
""",
    LOCK: """\
# The packages of requirements.txt with the hashes of their files, for Python 3.11 to 3.13 on every platform. Without
# torch, which is not the same file everywhere: install this with --require-hashes --no-deps, then requirements.txt.
""",
    DEV: """\
# What checking, testing, measuring and training need beside requirements.lock.
""",
}


@dataclass
class Locked:
    """One line of a file: a package in one version, where it is installed, and how many of its files are known."""

    requirement: Requirement
    hashes: int = 0
    asked: bool = False  # for in pyproject.toml itself
    version: str = field(init=False)

    def __post_init__(self) -> None:
        (only,) = self.requirement.specifier
        self.version = only.version

    def applies(self, environment: dict[str, str]) -> bool:
        return self.requirement.marker is None or self.requirement.marker.evaluate(environment)


def read(file: Path) -> dict[str, list[Locked]]:
    """Package -> its lines."""
    found: dict[str, list[Locked]] = {}
    last: Locked | None = None
    for line in file.read_text(encoding="utf-8").splitlines():
        said = line.strip().removesuffix("\\").strip()
        if said.startswith("--hash=sha256:") and last is not None:
            last.hashes += 1
        elif said.startswith("#"):
            if last is not None and "pyproject.toml" in said:
                last.asked = True
        elif said:
            last = Locked(Requirement(said))
            found.setdefault(canonicalize_name(last.requirement.name), []).append(last)
    return found


def environments() -> Iterator[dict[str, str]]:
    """Every Python on every platform that the files are for."""
    for version in PYTHONS:
        for platform in PLATFORMS:
            here = {name: str(value) for name, value in default_environment().items()}
            yield here | platform | {"python_version": version, "python_full_version": f"{version}.0", "extra": ""}


def wanted(folder: Path) -> tuple[list[Requirement], list[Requirement]]:
    """What pyproject.toml asks for: for the app (the package with the extra ``all`` and what that names), and for
    developers."""
    file = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    project, dev = file["project"], [Requirement(line) for line in file["dependency-groups"]["dev"]]
    app, extras = [Requirement(line) for line in project["dependencies"]], ["all"]
    for extra in extras:
        for requirement in map(Requirement, project["optional-dependencies"][extra]):
            if requirement.name == project["name"]:
                extras += sorted(requirement.extras)
            else:
                app.append(requirement)
    return app, dev


def faults(folder: Path = ROOT) -> list[str]:
    """Where the files are out of step with the ranges, with each other or with what the packages themselves need."""
    app, dev = wanted(folder)
    exact, lock, tools = (read(folder / name) for name in (EXACT, LOCK, DEV))
    said = []
    for name, file, ranges in ((LOCK, lock | {FREE: exact.get(FREE, [])}, app), (DEV, tools, dev)):
        direct = {canonicalize_name(one.name) for one in ranges}
        said += [f"{name}: {one} is not there" for one in sorted(direct - file.keys())]
        asked = {one for one, lines in file.items() if any(line.asked for line in lines)}
        said += [f"{name}: pyproject.toml asks no longer for {one}" for one in sorted(asked - direct)]
        said += [f"{name}: {fault}" for one in ranges for fault in _unfit(one, file)]
    if _versions(exact) != _versions(lock) | {FREE: _versions(exact).get(FREE)}:
        said.append(f"{LOCK} and {EXACT} name other versions")
    said += [
        f"{DEV}: {one} is another than in {EXACT}"
        for one in sorted(exact.keys() & tools.keys())
        if {line.version for line in exact[one]} != {line.version for line in tools[one]}
    ]
    for name, file in ((LOCK, lock), (DEV, tools)):
        said += [f"{name}: {one} has no hash" for one, lines in file.items() if not all(line.hashes for line in lines)]
    said += [
        f"{name}: {one} belongs to a build of torch"
        for name, file in ((EXACT, exact), (LOCK, lock), (DEV, tools))
        for one in file
        if one.startswith(BUILT_FOR)
    ]
    return [*said, *_incomplete(exact), *_incomplete(tools)]


def _versions(file: dict[str, list[Locked]]) -> dict[str, object]:
    return {name: {(line.version, str(line.requirement.marker)) for line in lines} for name, lines in file.items()}


def _unfit(asked: Requirement, file: dict[str, list[Locked]]) -> Iterator[str]:
    """Where a package that is asked for is not there exactly once, or not in a version within the range."""
    lines = file.get(canonicalize_name(asked.name), ())
    for environment in environments():
        if asked.marker is not None and not asked.marker.evaluate(environment):
            continue
        here = [line for line in lines if line.applies(environment)]
        if len(here) != 1 or not asked.specifier.contains(here[0].version, prereleases=True):
            found = ", ".join(line.version for line in here) or "none"
            yield f"{asked} has {found} for Python {environment['python_version']} on {environment['sys_platform']}"
            return


def _incomplete(file: dict[str, list[Locked]]) -> Iterator[str]:
    """What a package, as it is installed here, needs and its file lacks; what is not installed cannot be asked."""
    here = {name: str(value) for name, value in default_environment().items()} | {"extra": ""}
    for name in file:
        try:
            needs = [Requirement(line) for line in requires(name) or ()]
        except PackageNotFoundError:
            continue
        for need in needs:
            if need.name.startswith(BUILT_FOR) or (need.marker is not None and not need.marker.evaluate(here)):
                continue
            lines = [line for line in file.get(canonicalize_name(need.name), ()) if line.applies(here)]
            if len(lines) != 1 or not need.specifier.contains(lines[0].version, prereleases=True):
                yield f"{name} needs {need.name}{need.specifier}"


def write(*options: str) -> None:
    """Resolve the ranges for every Python and platform at once. Needs uv, and a network."""
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        raise SystemExit("uv is not here: pip install uv")
    with tempfile.TemporaryDirectory() as scratch:
        left_out, held = Path(scratch, "left_out"), Path(scratch, "held")
        left_out.write_text("\n".join(ACCELERATORS), encoding="utf-8")
        known = read(ROOT / EXACT).get(FREE) if FREE not in options else None
        held.write_text(f"{FREE}=={known[0].version}" if known else "", encoding="utf-8")
        command = [
            uv,
            "pip",
            "compile",
            "--quiet",
            "--universal",
            "--python-version",
            PYTHONS[0],
            "--no-header",
            "--fork-strategy",
            "fewest",
            "--no-emit-index-url",
            "--excludes",
            str(left_out),
        ]
        hashed = ["--generate-hashes", "--no-emit-package", FREE, "--constraints", EXACT]
        for name, more in (
            (EXACT, ["pyproject.toml", "--extra", "all", "--no-annotate", "--constraints", str(held), *options]),
            (LOCK, ["pyproject.toml", "--extra", "all", *hashed]),
            (DEV, ["--group", "pyproject.toml:dev", *hashed, *options]),
        ):
            pins = [str(line.requirement) for lines in read(ROOT / name).values() for line in lines]
            (ROOT / name).write_text("\n".join(pins), encoding="utf-8")  # uv keeps these, and would keep old hashes too
            subprocess.run([*command, *more, "--output-file", name], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
            lines = (ROOT / name).read_text(encoding="utf-8").splitlines(keepends=True)
            kept = [line for line in lines if not line.strip().startswith("#   -c ")]
            (ROOT / name).write_text(HEADER + NOTES[name] + "".join(kept), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Write the files, or with ``--check`` print what is wrong with them; the exit status."""
    if arguments != ["--check"]:
        write(*arguments)
    wrong = faults()
    print("\n".join([*wrong, "Run: make lock"] if wrong else ["The lock files fit pyproject.toml."]))
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
