"""What docs/citing.md says is what CITATION.cff and the package say."""

from __future__ import annotations

import re
from pathlib import Path

from bartviz.version import __version__

ROOT = Path(__file__).parent.parent


def test_the_bibtex_entry_is_the_citation_file() -> None:
    cited = dict(re.findall(r'^(\w+): "?(.*?)"?$', (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE))
    written = (ROOT / "docs" / "citing.md").read_text("utf-8")
    entry = dict(re.findall(r"^  (\w+)\s*= \{+(.*?)\}+,?$", written, re.MULTILINE))
    assert {name: entry[name] for name in ("title", "version", "license")} == {
        name: cited[name] for name in ("title", "version", "license")
    }
    assert entry["version"] == __version__
    assert f"name: {entry['author']}" in (ROOT / "CITATION.cff").read_text("utf-8")
