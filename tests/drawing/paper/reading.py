"""What a picture for paper says, read back from its SVG."""

from __future__ import annotations

from xml.etree import ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"


def texts(root: ET.Element) -> list[str]:
    """The lines of text, in the order in which they were drawn."""
    return [line.text or "" for line in root.iter(f"{SVG}text")]


def cells(root: ET.Element) -> dict[tuple[int, ...], ET.Element]:
    """(row, column) -> the element that draws that weight; a text has (column,) alone."""
    return {
        tuple(map(int, element.attrib["data-cell"].split())): element
        for element in root.iter()
        if "data-cell" in element.attrib
    }
