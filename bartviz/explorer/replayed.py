"""One HTML file with a training in it, moment by moment: ``series.save("x.html")``.

The page is the picture of the page *How heads are born*, in each language, and loads nothing: its policy allows its own
script and styles, by their hashes.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from os import PathLike
from pathlib import Path
from typing import Any

from bartviz.browser.replay import messages
from bartviz.corpus.replay import Replay
from bartviz.explorer import markup
from bartviz.explorer.file import POLICY
from bartviz.explorer.messages import training
from bartviz.language import LANGUAGES, speaking
from bartviz.record import store

_HERE = Path(__file__).parent


def save(found: Replay, path: str | PathLike[str]) -> None:
    """Write the page. Raises OSError."""
    store.replace(path, page(found))


def page(found: Replay) -> bytes:
    """The page of a training. The same replay gives the same bytes."""
    styles = {name: markup.inline(markup.style(name)) for name in ("explorer", "replay")}
    script = markup.script(_HERE / "replayed.js", ("replay",))
    sources = f"{markup.source(markup.guard())} {markup.source(script)}"
    policy = POLICY.format(scripts=sources, styles=" ".join(map(markup.source, styles.values())))
    shown = (
        f"{markup.opening(found.about['model'], policy, [styles['explorer']])}"
        f"{(_HERE / 'replayed.html').read_text('utf-8')}\n{markup.templates(styles, ('replay',))}"
        f'<script type="text/plain" id="data">{_encoded(found)}</script>\n'
        f'<script type="module">{script}</script>\n{markup.END}'
    )
    return shown.encode("utf-8", "replace")


def _encoded(found: Replay) -> str:
    """The words of the page and the replay, in the form of an explorer's data (``bartviz.explorer.data``)."""
    pages: dict[str, Any] = {}
    for language in LANGUAGES:
        with speaking(language):
            words = messages.said(found.about) | training(found.about["model"])
            pages[language] = words | {"replay": messages.described(found.about["kinds"])}
    data = zlib.compress(found.payload(), 9)
    header = {"languages": LANGUAGES, "pages": pages, "length": len(data)}
    text = zlib.compress(json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace"), 9)
    return base64.b64encode(b"".join([struct.pack("<I", len(text)), text, data])).decode()
