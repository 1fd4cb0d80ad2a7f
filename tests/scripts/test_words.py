"""The script that finds messages finds every one of them."""

from __future__ import annotations

from pathlib import Path

from scripts.words import messages

SOURCE = """
NAME = mark("a name")
said = f"<b>{html.escape(_('in braces'))}</b> {_('{count} in them', count=len(_('deep')))}"
said = plural("{count} head", "{count} heads", 3) + _("one "
    "message")
_(NAME), _(""), other._("not ours"), _(f"not {NAME}")
"""


def test_every_message_is_found(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(SOURCE, "utf-8")
    assert {message for _line, message in messages(file)} == {
        "a name",
        "in braces",
        "{count} in them",
        "deep",
        ("{count} head", "{count} heads"),
        "one message",
    }
