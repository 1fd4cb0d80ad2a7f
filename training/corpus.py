"""The texts: Tatoeba sentence pairs and Grimm's tales, read from a folder, unfit rows left out.

The folder is named by `--corpus` or the environment variable BARTVIZ_CORPUS, and holds

- `tatoeba_en_de.tsv.gz`: a header, then `split<TAB>en<TAB>de`, made from https://www.manythings.org/anki/deu-eng.zip;
- `grimm_en.txt.gz`: https://www.gutenberg.org/ebooks/2591, a sentence a line, a blank line between paragraphs;
- `gold_align.tsv`, for the evaluation: `en<TAB>de<TAB>links`, as `bartviz.analysis.gold_alignment` reads them.
"""

from __future__ import annotations

import gzip
import itertools
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

PAIRS_FILE = "tatoeba_en_de.tsv.gz"
TALES_FILE = "grimm_en.txt.gz"
GOLD_FILE = "gold_align.tsv"
HELD_OUT = 20  # every 20th paragraph of the tales is kept for validation
SPLITS = ("train", "valid", "test")

Language = Literal["en", "de"]

# Beginnings of words that a classroom model should not say: violence, sex, insults, curses and weapons; `\b` ends a
# stem that would hit harmless words.
_UNFIT = (
    r"kill|murder|rape[ds]?\b|rapist|raping|suicid|shoot|shot\b|gun\b|guns\b|gunn|gunsh|stab(?:bed|bing|s)?\b"
    r"|pistol|rifle|weapon|idiot|moron|stupid|dumb\b|damn|crap\b|piss|pee[ds]?\b|cocks?\b|cum\b|butts?\b|farts?\b"
    r"|ass\b|asses\b|asshole|arses?\b"
    r"|strangl|behead|hang(?:ed|ing) (?:him|her|my)self"
    r"|corpse|slaughter|tortur|terroris|bomb|blood|slut|whore|prostitut|fuck|shit|bitch|bastard|sex|naked|nude[ds]?\b"
    r"|porn|penis|vagina|breasts?\b|condom|masturb|orgasm|virgin\b|nazi|hitler|nigg|execut(?:ed|ion)|massacre|poison"
    r"|töte|tötet|getötet|umbring|umgebracht|ermord|mord\b|mörder|vergewalt|selbstmord|erschieß|erschoss|schieß|schoss"
    r"|erstoch|erwürg|leiche|folter|bombe|blut|hure|schlampe|nutte|fick|scheiß|arsch|miststück|nackt|kondom|jungfrau\b"
    r"|hingericht|massaker|vergift|gewehr|trottel|depp\b|deppen|dummk|blöd|verdammt|hölle\b"
)
_UNFIT_WORDS: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(rf"\b(?:{_UNFIT}|hell\b)", re.IGNORECASE),  # German for "bright"
    "de": re.compile(rf"\b(?:{_UNFIT})", re.IGNORECASE),
}


@dataclass(frozen=True)
class Pair:
    """An English sentence and a German translation of it."""

    en: str
    de: str


def folder(given: str | None) -> Path:
    """Corpus folder from the command line or the environment. Raises SystemExit with what to do if there is none."""
    path = Path(given or os.environ.get("BARTVIZ_CORPUS", ""))
    if not (path / PAIRS_FILE).is_file():
        raise SystemExit(f"no {PAIRS_FILE} in {str(path)!r}: name its folder with --corpus or BARTVIZ_CORPUS")
    return path


def is_fit(text: str, language: Language = "en") -> bool:
    """Whether a text is free of words that a class should not be offered."""
    return _UNFIT_WORDS[language].search(text) is None


def pairs(corpus: Path, split: str, *, all_rows: bool = False) -> list[Pair]:
    """Sentence pairs of a split, unfit ones left out unless `all_rows`."""
    if split not in SPLITS:
        raise ValueError(f"split {split!r}: choose one of {', '.join(SPLITS)}")
    with gzip.open(corpus / PAIRS_FILE, "rt", encoding="utf-8") as file:
        rows = (line.rstrip("\n").split("\t") for line in file)
        found = [Pair(en, de) for name, en, de in rows if name == split]
    return found if all_rows else [pair for pair in found if is_fit(pair.en) and is_fit(pair.de, "de")]


def references(rows: Iterable[Pair]) -> dict[str, list[str]]:
    """English sentence -> all its German translations."""
    found: dict[str, list[str]] = defaultdict(list)
    for pair in rows:
        found[pair.en].append(pair.de)
    return dict(found)


def paraphrases(rows: Iterable[Pair]) -> list[tuple[str, str]]:
    """Two different English sentences that share a German translation."""
    same: dict[str, list[str]] = defaultdict(list)
    for pair in rows:
        same[pair.de].append(pair.en)
    return [two for group in same.values() for two in itertools.pairwise(group) if two[0] != two[1]]


def tales(corpus: Path, *, held_out: bool) -> list[list[str]]:
    """Paragraphs of Grimm's tales, each a list of sentences; sentences with unfit words are dropped."""
    with gzip.open(corpus / TALES_FILE, "rt", encoding="utf-8") as file:
        paragraphs = [block.split("\n") for block in file.read().strip().split("\n\n")]
    chosen = [p for i, p in enumerate(paragraphs) if (i % HELD_OUT == 0) == held_out]
    return [kept for p in chosen if (kept := [s.strip() for s in p if s.strip() and is_fit(s)])]


def passages(paragraphs: Iterable[Sequence[str]]) -> list[str]:
    """Runs of two to four neighbouring sentences of a paragraph, at most 360 characters long."""
    found = []
    for paragraph in paragraphs:
        for start in range(len(paragraph)):
            for end in range(start + 2, min(start + 4, len(paragraph)) + 1):
                text = " ".join(paragraph[start:end])
                if len(text) <= 360:
                    found.append(text)
    return found


def unique(texts: Iterable[str]) -> list[str]:
    """Texts in their order, each once."""
    return list(dict.fromkeys(texts))
