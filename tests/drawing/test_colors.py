"""The table of colours is the only home of the colours of kinds and roles."""

from __future__ import annotations

import re
from pathlib import Path

from bartviz.drawing import colors, theme
from bartviz.record.attention import KINDS
from scripts.layers import PACKAGE


def texts(*endings: str) -> dict[str, str]:
    """Our files with these endings; the table itself is not among them."""
    files = [file for ending in endings for file in PACKAGE.rglob(f"*.{ending}")]
    return {
        str(file.relative_to(PACKAGE)): file.read_text("utf-8")
        for file in files
        if file.parent.name != "vendor" and file != Path(colors.__file__)
    }


def test_a_colour_of_a_kind_or_a_role_is_written_in_the_table_alone() -> None:
    own = {color for pair in [*colors.KIND.values(), *colors.LETTERS.values()] for color in pair}
    own |= {color for pair in colors.RAMPS.values() for ramp in pair for color in ramp[1:]}
    written = {
        name: set(re.findall(r"#[0-9a-f]{6}\b", text.lower())) & own
        for name, text in texts("py", "css", "js", "html").items()
    }
    assert {name: copies for name, copies in written.items() if copies} == {}


def test_styles_name_the_colours_of_the_figures() -> None:
    named = dict(re.findall(r"--bv-(\w+): (light-dark\([^)]*\));", colors.variables()))
    for kind in KINDS:
        assert named[kind] == f"light-dark({theme.kind_color(kind)}, {theme.kind_color(kind, dark=True)})"
    for name, role in (("query", colors.QUERY), ("key", colors.KEY), ("value", colors.VALUE)):
        assert named[name] == f"light-dark({theme.letters(role)}, {theme.letters(role, dark=True)})"
    assert named["page"] == f"light-dark({theme.palette().background}, {theme.palette(dark=True).background})"


def test_every_variable_that_styles_use_is_set_and_every_kind_is_used() -> None:
    colored = set(re.findall(r"--bv-\w+(?=:)", colors.variables()))
    used = {name for text in texts("css").values() for name in re.findall(r"var\((--bv-\w+)", text)}
    others = {name for text in texts("css", "js", "py").values() for name in re.findall(r"--bv-\w+(?=[:'\"])", text)}
    assert used - others - colored == set()
    assert {"--bv-page", *(f"--bv-{kind}" for kind in KINDS)} <= used
