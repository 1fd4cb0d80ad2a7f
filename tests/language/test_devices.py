"""What is said is true on a phone, too: no mouse, no sidebar beside the page, no keyboard."""

from __future__ import annotations

import re
from pathlib import Path

from bartviz.language import HOME
from scripts.words import messages, sources

NAMES = {"Sidebar", "Collapse sidebar", "Expand sidebar"}  # of Streamlit's own parts, for those who hear a page
FOR_A_PHONE = {  # words of a desk -> those beside which they are true on a phone as well
    r"\bsidebar\b": r"\bphone\b|wide screen",
    r"\bpoint at\b": r"\btouch\b",
    r"\bhover|\bmouse\b|\bright-click|\bclick (?:on|a|the)\b": r"$^",
}


def said() -> list[str]:
    """Every message and every paragraph of the English texts."""
    spoken = [message for file in sources() for _line, message in messages(file)]
    texts = [text for message in spoken for text in ([message] if isinstance(message, str) else message)]
    paragraphs = [
        part for file in sorted(Path(HOME).rglob("*.en.md")) for part in file.read_text("utf-8").split("\n\n")
    ]
    return [text for text in [*texts, *paragraphs] if text not in NAMES]


def test_words_of_a_desk_stand_beside_those_of_a_phone() -> None:
    texts = said()
    assert len(texts) > 1000
    for word, beside in FOR_A_PHONE.items():
        alone = [text for text in texts if re.search(word, text, re.I) and not re.search(beside, text, re.I)]
        assert alone == [], word
