"""A drawing in points that becomes SVG: text stays text, nothing is loaded, and the same drawing gives the same bytes.

Widths of texts are estimated, because the fonts of the reader's machine are not known here: a text that is cut ends in
an ellipsis and is there in full as its ``<title>``.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterator

import regex

from bartviz.drawing.colors import LIGHT
from bartviz.drawing.paper.picture import Picture
from bartviz.language import current
from bartviz.text.labels import clusters, normalized

INK, FAINT, GRID, MASKED, HATCH = (getattr(LIGHT, name) for name in ("ink", "faint", "grid", "masked", "hatch"))
FACE = "Helvetica, Arial, 'Liberation Sans', 'Noto Sans', 'Noto Sans CJK KR', sans-serif"
MONO = "'Source Code Pro', Menlo, Consolas, 'DejaVu Sans Mono', 'Noto Sans Mono', 'Noto Sans Mono CJK KR', monospace"
SMALL = 6.5  # points: the font size of captions and titles
LEADING = 1.25  # from line to line, in font sizes
CAPTION_LINES = 6
_FORBIDDEN = regex.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # by XML 1.0
_NARROW, _WIDE = frozenset("iljtfrI.,:;'|!()[]{}/\\ -·’“”"), frozenset("mwMW@%—…→↓")


class Sheet:
    """The elements of one picture, ``width`` points wide, y downwards."""

    def __init__(self, width: float) -> None:
        self.width = width
        self._parts: list[str] = []

    def rect(self, x: float, y: float, wide: float, high: float, fill: str, **more: object) -> None:
        """A rectangle; ``more``: other attributes, an underscore for a hyphen."""
        place = f'x="{number(x)}" y="{number(y)}" width="{number(wide)}" height="{number(high)}"'
        self._parts.append(f'<rect {place} fill="{fill}"{_attributes(more)}/>')

    def path(self, steps: str, **more: object) -> None:
        self._parts.append(f'<path d="{steps}"{_attributes(more)}/>')

    def circle(self, x: float, y: float, radius: float, fill: str, **more: object) -> None:
        place = f'cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"'
        self._parts.append(f'<circle {place} fill="{fill}"{_attributes(more)}/>')

    def begin(self, **more: object) -> None:
        """Open a group; ``end`` closes it."""
        self._parts.append(f"<g{_attributes(more)}>")

    def end(self) -> None:
        self._parts.append("</g>")

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = SMALL,
        *,
        mono: bool = False,
        anchor: str = "start",
        fill: str = INK,
        turn: int = 0,
        room: float | None = None,
    ) -> None:
        """A line of text, its baseline at ``y``, turned by ``turn`` degrees; cut to ``room`` points, with all of it as
        the title."""
        text = normalized("NFC", text)  # converters find fonts for whole characters more often
        shown = text if room is None else fitted(text, size, room, mono=mono)
        turned = f' transform="rotate({turn} {number(x)} {number(y)})"' if turn else ""
        face = MONO if mono else FACE
        placed = f'x="{number(x)}" y="{number(y)}" font-size="{number(size)}" text-anchor="{anchor}" fill="{fill}"'
        line = f'<text {placed} font-family="{face}" xml:space="preserve"{turned}>{escape(shown)}</text>'
        self._parts.append(line if shown == text else f"<g><title>{escape(text)}</title>{line}</g>")

    def paragraph(self, y: float, text: str, *, fill: str = FAINT, most: int | None = None) -> float:
        """Lines as wide as the sheet from ``y`` on, up to a limit; returns where they end."""
        lines = list(wrapped(text, SMALL, self.width))
        if most is not None and len(lines) > most:
            lines = [*lines[: most - 1], fitted(" ".join(lines[most - 1 :]), SMALL, self.width)]
        for line in lines:
            self.text(0, y + SMALL, line, SMALL, fill=fill)
            y += SMALL * LEADING
        return y

    def picture(self, height: float, caption: str, *, written: bool, most: int = CAPTION_LINES) -> Picture:
        """The drawing, with its caption below if it is ``written``, up to ``most`` lines, and in any case as its
        description."""
        if written:
            height = self.paragraph(height + SMALL, caption, most=most) + 2
        size = f'width="{number(self.width)}pt" height="{number(height)}pt"'
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {number(self.width)} {number(height)}" '
            f'role="img" lang="{escape(current())}"><desc>{escape(caption)}</desc>'
            f'<rect width="100%" height="100%" fill="#ffffff"/>'
        )
        return Picture("\n".join([head, *self._parts, "</svg>\n"]), self.width, round(height, 2), caption)


def number(value: float) -> str:
    """Two decimals, without zeros at the end."""
    return f"{round(float(value), 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def escape(text: str) -> str:
    """The text for XML; characters that XML forbids become U+FFFD."""
    return html.escape(_FORBIDDEN.sub("\ufffd", text), quote=True)


def measure(text: str, size: float, *, mono: bool = False) -> float:
    """About the width of a text in points, rather too wide than too narrow."""
    return size * sum(_em(char, mono) for char in text)


def fitted(text: str, size: float, room: float, *, mono: bool = False) -> str:
    """The text, or as much of it as fits with an ellipsis, cut between characters as readers see them."""
    if measure(text, size, mono=mono) <= room:
        return text
    left = room - measure("…", size, mono=mono)
    kept = ""
    for cluster in clusters(text):
        left -= measure(cluster, size, mono=mono)
        if left < 0:
            break
        kept += cluster
    return f"{kept}…"


def wrapped(text: str, size: float, room: float) -> Iterator[str]:
    """The text in lines that fit; a word that is too long is broken."""
    # the line and its width: measuring it again each time is slow where characters have no width
    line, filled = "", 0.0
    space = measure(" ", size)
    for word in text.split():
        width = measure(word, size)
        longer = filled + space + width if line else width
        if longer <= room:
            line, filled = f"{line} {word}" if line else word, longer
            continue
        if line:
            yield line
        line, filled = "", 0.0
        for cluster in clusters(word):
            width = measure(cluster, size)
            if line and filled + width > room:
                yield line
                line, filled = "", 0.0
            line, filled = line + cluster, filled + width
    if line:
        yield line


def _em(char: str, mono: bool) -> float:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.0
    if mono:
        return 0.61
    return 0.34 if char in _NARROW else 0.92 if char in _WIDE else 0.68 if char.isupper() else 0.56


def _attributes(more: dict[str, object]) -> str:
    return "".join(f' {name.rstrip("_").replace("_", "-")}="{escape(_value(value))}"' for name, value in more.items())


def _value(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)
