"""Which messages of the code lack a translation: ``python -m scripts.words [part of a path]``.

Printed as the entries of a gettext file, ready to be translated and put into ``<language>.po`` beside the code; a
message of several folders into that of the folder around them.
"""

from __future__ import annotations

import ast
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.pofile import read_po

from bartviz.language import LANGUAGES, catalogues

ROOT = Path(__file__).parent.parent
CATALOGUE = ROOT / "bartviz" / "families" / "catalogue.json"
KEYWORDS = {"_": 1, "mark": 1, "later": 1, "plural": 2}  # name -> how many of its arguments are messages
Message = str | tuple[str, ...]


def sources() -> list[Path]:
    """The files that contain messages."""
    return [CATALOGUE, *sorted([*(ROOT / "bartviz").rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "app.py"])]


def messages(file: Path) -> Iterator[tuple[int, Message]]:
    """Line and text of each message in a file; one with a plural is a pair.

    Read from the syntax tree, because babel does not look into the braces of an f-string. The catalogue's are the
    titles and notes of its models.
    """
    if file == CATALOGUE:
        facts = [fact for group in json.loads(file.read_bytes()).values() for fact in group.values()]
        yield from (
            (1, fact[name]) for name in ("title", "note", "objective", "fine_tuned") for fact in facts if name in fact
        )
        return
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KEYWORDS:
            given = node.args[: KEYWORDS[node.func.id]]
            texts = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if len(texts) == KEYWORDS[node.func.id] and all(texts):
                yield node.lineno, texts[0] if len(texts) == 1 else tuple(texts)


def translated(language: str) -> dict[Message, tuple[Path, tuple[str, ...]]]:
    """Every message that a language has, with its file and its forms; the last one counts."""
    found: dict[Message, tuple[Path, tuple[str, ...]]] = {}
    for file in catalogues(language):
        for entry in read_po(io.BytesIO(file.read_bytes()), locale=language, abort_invalid=True):
            if entry.id and all(entry.string if isinstance(entry.string, tuple) else (entry.string,)):
                id_ = tuple(entry.id) if isinstance(entry.id, list | tuple) else entry.id
                strings = entry.string if isinstance(entry.string, list | tuple) else (entry.string,)
                found[id_] = (file, tuple(str(string) for string in strings))
    return found


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _main(part: str = "") -> None:
    for language in LANGUAGES:
        known = translated(language)
        for file in sources() if language != "en" else ():
            name = str(file.relative_to(ROOT))
            for line, message in messages(file) if part in name else ():
                if message in known:
                    continue
                known[message] = (file, ())
                forms = message if isinstance(message, tuple) else (message,)
                print(f"#: {name}:{line} ({language})")
                for word, form in zip(("msgid", "msgid_plural"), forms, strict=False):
                    print(word, _quoted(form))
                print('msgstr[0] ""\n' if len(forms) > 1 else 'msgstr ""\n')


if __name__ == "__main__":
    _main(*sys.argv[1:2])
