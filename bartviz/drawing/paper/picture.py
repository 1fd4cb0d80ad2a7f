"""A finished vector picture: SVG, and PDF and PNG made from it."""

from __future__ import annotations

import html
import re
import unicodedata
import warnings
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from bartviz.errors import FontWarning, PackageError, SettingError, needs
from bartviz.language import _, later
from bartviz.record import store

PPI = 300  # pixels per inch of a PNG: what printers ask for
MOST_PPI = 1200
SUFFIXES = (".svg", ".pdf", ".png")
# typst sets the fonts, and keeps the text of the SVG as text of the PDF. Without a date, the same bytes each time.
_PAGE = """\
#set page(width: auto, height: auto, margin: 0pt)
#set document(date: none)
#image(bytes(sys.inputs.svg), format: "svg")
"""
# A file for archives must not have a box in place of a character: typst refuses it and names the character.
_CHECKED = _PAGE.replace("date: none", "date: datetime(year: 2000, month: 1, day: 1)")
_ARCHIVE = "a-2b"
_NO_FONT = re.compile(r"the text `\"(.+?)\"` could not be displayed")
_UNUSUAL = re.compile(r"[^\x00-\u024f\u2010-\u2027\u22ef]")  # the others are in fonts of every machine
_MOST_SCRIPTS = 12
_FONTS = {**dict.fromkeys(("Cjk", "Hangul", "Hiragana", "Katakana"), "Noto Sans CJK"), "symbols": "Noto Color Emoji"}


@dataclass(frozen=True, slots=True)
class Picture:
    """A vector picture. ``svg`` is the text of the file, ``width`` and ``height`` are in points, and ``caption`` says
    what is drawn, for your own caption."""

    svg: str
    width: float
    height: float
    caption: str

    def __repr__(self) -> str:
        return f"<Picture of {self.width:g} x {self.height:g} pt>"

    def _repr_svg_(self) -> str:
        """A notebook shows the picture."""
        return self.svg

    def pdf(self) -> bytes:
        """A PDF of one page of that size, with text as text. Raises PackageError without the extra ``paper``."""
        return self._converted("pdf", PPI)

    def png(self, ppi: int = PPI) -> bytes:
        """Pixels, ``ppi`` of them per inch. Raises SettingError, PackageError without the extra ``paper``."""
        if not 1 <= ppi <= MOST_PPI:
            raise SettingError(later("A PNG has 1 to {most} pixels per inch.", most=MOST_PPI))
        return self._converted("png", ppi)

    def save(self, path: str | PathLike[str], *, ppi: int = PPI) -> None:
        """Write a file that is SVG, PDF or PNG by the end of its name; ``ppi`` is for PNG alone.

        Raises SettingError for another ending, PackageError without the extra ``paper`` (PDF and PNG), OSError.
        """
        suffix = Path(path).suffix.lower()
        if suffix not in SUFFIXES:
            raise SettingError(later("A picture is a file that ends in .svg, .pdf or .png."))
        made = self.svg.encode() if suffix == ".svg" else self.pdf() if suffix == ".pdf" else self.png(ppi)
        store.replace(path, made)

    def _converted(self, form: str, ppi: int) -> bytes:
        try:
            import typst
        except ModuleNotFoundError:
            raise PackageError(needs(f"{form.upper()}", "typst")) from None
        if missing := self._without_font():
            scripts = list(dict.fromkeys(map(_script, missing)))
            warnings.warn(
                _(
                    "No font on this machine has the characters {characters} ({scripts}), so they are drawn "
                    "as boxes. Install a font for them, such as {fonts}, or use the SVG on a machine that "
                    "has one.",
                    characters=" ".join(missing),
                    scripts=", ".join(scripts),
                    fonts=", ".join(dict.fromkeys(_FONTS.get(script, f"Noto Sans {script}") for script in scripts)),
                ),
                FontWarning,
                stacklevel=3,
            )
        options: dict[str, Any] = {"format": form, "ppi": float(ppi), "sys_inputs": {"svg": self.svg}}
        made: bytes = typst.compile(_PAGE.encode(), **options)
        return made

    def _without_font(self) -> list[str]:
        """A character of each script for which this machine has no font."""
        import typst

        text = html.unescape("".join(re.findall(r">([^<>]+)</text>", self.svg)))
        missing: list[str] = []
        rest = {*_UNUSUAL.findall(text)}
        while rest and len(missing) < _MOST_SCRIPTS:
            svg = self.svg.translate(
                dict.fromkeys({ord(char) for char in text if _UNUSUAL.match(char)} - {*map(ord, rest)}, " ")
            )
            try:
                options: dict[str, Any] = {"format": "pdf", "pdf_standards": [_ARCHIVE], "sys_inputs": {"svg": svg}}
                typst.compile(_CHECKED.encode(), **options)
            except typst.TypstError as error:
                found = _NO_FONT.search(str(error))
                char = next((char for char in found[1] if char in rest), None) if found else None
                if char is None:  # something else that an archive does not allow
                    break
                missing.append(char)
                rest = {other for other in rest if _script(other) != _script(char)}
            else:
                break
        return missing


def _script(char: str) -> str:
    """The script of a character by its name in Unicode, such as Thai; "symbols" for what is no letter."""
    if unicodedata.category(char)[0] not in "LMN":
        return "symbols"
    return unicodedata.name(char, "unknown").split()[0].title()
