"""PDF and PNG of a picture for paper, made without a browser."""

from __future__ import annotations

import io
import re
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pypdf import PdfReader

import bartviz
from bartviz import paper
from bartviz.errors import FontWarning, PackageError, SettingError
from bartviz.record.record import Record
from tests.support import stand_in


def test_a_pdf_has_the_size_and_the_text_and_the_same_bytes_twice(tmp_path: Path) -> None:
    picture = paper.map(stand_in.record(("<s>", " 한국어", " car", "</s>")), "encoder", 0, 0, width=240)
    picture.save(tmp_path / "head.pdf")
    made = (tmp_path / "head.pdf").read_bytes()
    assert made == picture.pdf()
    (page,) = PdfReader(io.BytesIO(made)).pages
    assert tuple(map(float, page.mediabox)) == pytest.approx((0, 0, 240, picture.height), abs=0.1)
    read = page.extract_text()
    assert "car" in read
    assert "한국어" in read
    assert "Encoder L0H0 of stand-in" in read
    assert not page.images


def test_a_png_has_its_pixels_per_inch(tmp_path: Path, record: Record) -> None:
    picture = paper.overview(record, "cross", width=240)
    picture.save(tmp_path / "heads.PNG", ppi=144)
    made = (tmp_path / "heads.PNG").read_bytes()
    wide, high = struct.unpack(">II", made[16:24])
    assert (wide, high) == pytest.approx((480, 2 * picture.height), abs=1)
    assert len(set(_pixels(made))) > 20
    assert picture.png(144) == made
    for ppi in (0, 1201):
        with pytest.raises(SettingError, match="1 to 1200"):
            picture.png(ppi)


def _pixels(png: bytes) -> bytes:
    """The bytes of all rows."""
    at, packed = 8, b""
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            packed += png[at + 8 : at + 8 + length]
        at += length + 12
    return zlib.decompress(packed)


def test_an_svg_is_saved_as_it_is_and_other_endings_are_refused(tmp_path: Path, record: Record) -> None:
    picture = paper.text(record, "cross", 0, 0)
    picture.save(tmp_path / "text.svg")
    assert (tmp_path / "text.svg").read_text("utf-8") == picture.svg == picture._repr_svg_()
    with pytest.raises(SettingError, match=r"\.svg, \.pdf or \.png"):
        picture.save(tmp_path / "text.eps")


def test_without_the_extra_svg_is_drawn_and_the_rest_names_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, record: Record
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    picture = paper.map(record, "cross", 0, 0)
    picture.save(tmp_path / "head.svg")
    for name in ("head.pdf", "head.png"):
        with pytest.raises(PackageError, match=r"pip install '\.\[paper\]'"):
            picture.save(tmp_path / name)
        assert not (tmp_path / name).exists()


def test_a_script_without_a_font_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which fonts there are depends on the machine: typst itself says what it cannot draw."""
    import typst

    class RefusedError(typst.TypstError):
        def __init__(self, text: str) -> None:
            Exception.__init__(self, text)

    compile_ = typst.compile

    def without_thai(source: bytes, **options: Any) -> bytes:
        if "pdf_standards" in options and any("\u0e00" <= sign <= "\u0e7f" for sign in options["sys_inputs"]["svg"]):
            raise RefusedError('PDF/A-2b error: the text `"\u0e2a"` could not be displayed with a font')
        made: bytes = compile_(source, **options)
        return made

    monkeypatch.setattr(typst, "compile", without_thai)
    thai = bartviz.from_attentions(encoder=np.full((1, 1, 2, 2), 0.5), tokens=["\u0e2a\u0e27\u0e31", "hello"])
    with pytest.warns(FontWarning, match=r"\u0e2a \(Thai\).*Noto Sans Thai"):
        bartviz.paper.text(thai, "encoder", captioned=False).pdf()
    latin = bartviz.from_attentions(encoder=np.full((1, 1, 2, 2), 0.5), tokens=["na\u00efve", "hello"])
    bartviz.paper.text(latin, "encoder").pdf()  # no warning


@pytest.mark.parametrize("tokens", [["\u05e9\u05dc\u05d5\u05dd", "\u05e2\u05d5\u05dc\u05dd"], ["hello", "you"]])
def test_a_text_is_drawn_in_its_direction(tokens: list[str]) -> None:
    record = bartviz.from_attentions(encoder=np.full((1, 1, 2, 2), 0.5), tokens=tokens)
    svg = bartviz.paper.text(record, "encoder", row=0, captioned=False).svg
    first, second = places(svg)
    assert (first < second) == (tokens[0] == "hello")
    drawn = bartviz.paper.ribbons(record, captioned=False).svg
    at = {word: float(x) for x, word in re.findall(r'<text x="([\d.]+)"[^>]*>([^<]+)</text>', drawn) if word in tokens}
    assert (at[tokens[0]] < at[tokens[1]]) == (tokens[0] == "hello")


def places(svg: str) -> list[float]:
    """Where the cells of a text are, in the order of its tokens."""
    cells = re.findall(r'<rect x="([\d.]+)"[^>]*data-cell="(\d+)"', svg)
    return [float(x) for x, _ in sorted(cells, key=lambda cell: int(cell[1]))]
