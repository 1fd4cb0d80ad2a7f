"""The documents around the code name what is there: version, licence, settings, files and commands."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.version import Version

import bartviz
from bartviz.analysis.corpus_measures import ALL
from bartviz.analysis.head_measures import Measure

ROOT = Path(__file__).parent.parent
NOTES = sorted((ROOT / "benchmarks").rglob("*.md"))
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / ".github").glob("*.md"), *(ROOT / "docs").rglob("*.md"), *NOTES])
PAGES = [
    path for folder in ("docs", "docs/guides") for path in sorted((ROOT / folder).glob("*.md")) if path.stem != "index"
]
BUILT = re.compile(
    r"(\.\./)?(views/\w+|glossary|reference|contributing)\.md"
)  # pages of make docs: tests/browser/test_site.py


def test_the_citation_names_this_version_and_licence() -> None:
    citation = dict(re.findall(r"^([a-z-]+): (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.M))
    assert citation["version"] == bartviz.__version__
    assert citation["license"] == "Apache-2.0"
    assert citation["title"].startswith('"bartviz')


def test_the_changelog_begins_with_this_version() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "docs" / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert headings[0] == bartviz.__version__
    assert headings == sorted({*headings}, key=Version, reverse=True)


def test_badges_say_what_the_package_says() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    versions = [line.rsplit(" ", 1)[1] for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)]
    told = {"version": bartviz.__version__, "python": ", ".join(versions), "licence": project["license"]}
    for name, value in told.items():
        badge = (ROOT / "docs" / "badges" / f"{name}.svg").read_text("utf-8")
        assert re.findall(r"<(?:title|text)[^>]*>([^<]+)<", badge) == [f"{name}: {value}", name, value]
    shown = re.findall(r"!\[(\w+) ([^]]+)\]\(docs/badges/(\w+)\.svg\)", (ROOT / "README.md").read_text("utf-8"))
    assert {file: (word.lower(), value) for word, value, file in shown} == {
        name: (name, value) for name, value in told.items()
    }


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_says_first_for_whom_it_is(path: Path) -> None:
    title, reader, _ = path.read_text("utf-8").split("\n\n", 2)
    assert title.startswith("# ")
    assert re.fullmatch(r"\*For .+\.\*|\*.+ 위한 .+\.\*", reader)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_within_the_repository_lead_to_files(path: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", path.read_text("utf-8"))
    assert [name for name in targets if not BUILT.fullmatch(name) and not (path.parent / name).exists()] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_make_targets_that_are_named_exist(path: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    assert set(re.findall(r"`make ([a-z]+)", path.read_text("utf-8"))) <= targets


def _range(one: Measure) -> str:
    if one.lowest is None:
        return ""
    return ", 0 to 1" if one.highest else ", from 0"


def test_the_page_of_measures_lists_each_with_its_unit_and_source() -> None:
    text = (ROOT / "docs" / "measures.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{name}` | {one.title} | {one.unit}{_range(one)} | {one.source} |" for name, one in ALL.items()]
