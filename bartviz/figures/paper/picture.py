"""A finished vector picture: SVG, and PDF and PNG made from it."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from bartviz.errors import PackageError, SettingError, needs
from bartviz.language import later
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
        options: dict[str, Any] = {"format": form, "ppi": float(ppi), "sys_inputs": {"svg": self.svg}}
        made: bytes = typst.compile(_PAGE.encode(), **options)
        return made
