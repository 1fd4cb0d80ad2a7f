"""What the test of all pages reads of this feature."""

from bartviz.app.components import served
from bartviz.features.born import parts

TEXTS = ("_stcore/bidi-components", served.file_name(parts.NAME, parts.SCRIPT))  # the address of the worker's script
