"""One HTML file with every head, row and step of one or more records: ``bartviz.save`` and ``record.save("x.html")``.

The page is made of the app's own scripts, styles and markup. It loads nothing: its policy allows the one script and the
styles that are in it, by their hashes. Its data are base64 (``bartviz.explorer.data``).
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from bartviz.errors import SettingError
from bartviz.explorer import markup
from bartviz.explorer.data import MOST, encode
from bartviz.explorer.messages import shortened
from bartviz.record import store
from bartviz.record.record import Record

_ENTRY = Path(__file__).with_name("explorer.js")
FRAMED = 2_000_000  # bytes of a page within a notebook
HEIGHT = 720  # pixels of its frame
POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; script-src {scripts}; style-src {styles}"


def save(
    records: Record | Sequence[Record],
    path: str | PathLike[str],
    *,
    names: Sequence[str] | None = None,
    most: int | None = MOST,
) -> None:
    """Write one HTML file that shows the records in any browser, without a network: each record a tab.

    names: those of the tabs; by default the texts.
    most: bytes of the file. Weights are exact to 2e-5; if they do not fit, the smallest are left out, and the page
    states from which weight on it has them (12 x 12 heads: from about 150 tokens on). None keeps every weight.
    Raises SettingError without records, for a number of names other than that of the records, and for a file that
    does not end in .html; OSError.

    >>> bartviz.save([record, bartviz.decode(model, "It is late.")], "both.html", names=["car", "late"])
    """
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise SettingError('The explorer is an HTML file: choose a name that ends in ".html".')
    store.replace(path, page(records, names=names, most=most))


def page(records: Record | Sequence[Record], *, names: Sequence[str] | None = None, most: int | None = MOST) -> bytes:
    """The file that ``save`` writes. The same records give the same bytes. Raises SettingError."""
    shown = [records] if isinstance(records, Record) else list(records)
    if not shown:
        raise SettingError("There is no record to show: give at least one.")
    named = [name_of(record) for record in shown] if names is None else list(names)
    if len(named) != len(shown):
        raise SettingError(f"{len(named)} names for {len(shown)} records: give one each.")
    parts = ("canvas", "player") if any(record.steps for record in shown) else ("canvas",)
    styles = {name: markup.inline(markup.style(name)) for name in (*parts, "explorer")}
    script = markup.script(_ENTRY, parts)
    sources = f"{markup.source(markup.guard())} {markup.source(script)}"
    policy = POLICY.format(scripts=sources, styles=" ".join(map(markup.source, styles.values())))
    before = (
        f"{markup.opening(' · '.join(named), policy, [styles['explorer']])}{markup.read('explorer', '.html')}\n"
        f'{markup.templates(styles, parts)}<script type="text/plain" id="data">'
    ).encode("utf-8", "replace")
    after = f'</script>\n<script type="module">{script}</script>\n{markup.END}'.encode()
    data = encode(shown, named, None if most is None else most - len(before) - len(after))
    return before + data.encode() + after


def frame(record: Record) -> str:
    """The page in a frame of its own, as a notebook shows it: nothing is loaded, and the notebook's page is out of
    reach. The page has at most 2 MB, because the notebook's file has to hold it."""
    shown = page(record, most=FRAMED).decode()
    return (
        f'<iframe srcdoc="{html.escape(shown)}" title="{html.escape(name_of(record))}" width="100%" '
        f'height="{HEIGHT}" style="border:0" sandbox="allow-scripts"></iframe>'
    )


def name_of(record: Record) -> str:
    """Its texts, shortened, or its model's name."""
    texts = [shortened(text) for text in (record.source_text, record.target_text) if text]
    return " → ".join(texts) or record.model.name
