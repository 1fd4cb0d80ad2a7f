"""The table of colours is the only home of the colours of kinds and roles."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from bartviz.drawing import colors, theme
from bartviz.record.attention import KINDS
from scripts.layers import PACKAGE
from tests.support.contrast import contrast


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


def linear(color: str) -> np.ndarray:
    """Linear RGB, 0..1 each."""
    shares = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def lab(light: np.ndarray) -> np.ndarray:
    """CIELAB of linear RGB, for D65."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(np.maximum(to_xyz @ light / np.array([0.9505, 1, 1.089]), 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB
SIGHT = {
    "usual": np.eye(3),
    "protanopia": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "deuteranopia": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "tritanopia": np.array([[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]),
}


@pytest.mark.parametrize("dark", [False, True])
def test_words_colours_stand_out_from_the_background(dark: bool) -> None:
    weights = np.array([0.2126, 0.7152, 0.0722])
    for pair in colors.WORDS:
        one, other = sorted(float(weights @ linear(color)) for color in (pair[dark], theme.palette(dark).background))
        assert (other + 0.05) / (one + 0.05) >= 3, pair[dark]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("sight", list(SIGHT))
def test_words_colours_are_told_apart(sight: str, dark: bool) -> None:
    """By everyone: words side by side by far, and any two of the palette."""
    seen = [lab(np.clip(SIGHT[sight] @ linear(pair[dark]), 0, 1)) for pair in colors.WORDS]
    apart = np.array([[np.linalg.norm(a - b) for b in seen] for a in seen])
    beside = [apart[at, (at + 1) % len(seen)] for at in range(len(seen))]
    assert min(beside) >= 35
    assert apart[~np.eye(len(seen), dtype=bool)].min() >= 20


def test_places_repeat_and_a_word_without_a_colour_has_none() -> None:
    count = len(colors.WORDS)
    assert colors.word_places([0, count - 1, count, 2 * count + 1, -1]) == [0, count - 1, 0, 1, -1]


@pytest.mark.parametrize("palette", [colors.LIGHT, colors.DARK])
def test_what_is_chosen_is_told_from_the_page_and_its_text_can_be_read(palette: colors.Palette) -> None:
    """The text on it has the colour of the page (WCAG 2: 4.5 for a text, 3 for a control)."""
    assert contrast(palette.background, colors.PRIMARY[palette is colors.DARK]) >= 4.5


def test_the_primary_colour_is_not_written_again_in_a_style() -> None:
    pair = f"light-dark({', '.join(colors.PRIMARY)})"
    assert not [name for name, text in texts("css").items() if pair in text]
