"""The sections of the menu and their pages: one list for the navigation, titles and links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bartviz.app.frame import app_folder
from bartviz.language import mark


@dataclass(frozen=True, slots=True)
class Page:
    """One page. ``word`` is its name at every level (file, URL, figure, analysis); ``title`` is its question.

    ``label`` and ``title`` are messages, translated when they are shown; they share a word with the address (the start
    page, at "/", has none). ``run``: whether it shows anything of the visitor's run; where it does not, the sidebar has
    no text to run and no status line. ``weights``: whether it shows anything of a record of given weights, which has
    neither queries and keys nor a model to run.
    """

    word: str
    label: str
    title: str
    run: bool = True
    weights: bool = True

    @property
    def file(self) -> Path:
        return app_folder.ROOT / "pages" / f"{self.word}.py"


@dataclass(frozen=True, slots=True)
class Section:
    """A menu of the navigation; the section without a label is the start page itself."""

    label: str
    pages: tuple[Page, ...]


SECTIONS: tuple[Section, ...] = (
    Section("", (Page("start", mark("Start"), mark("What does a language model look at?")),)),
    Section(
        mark("Learn"),
        (
            Page("lessons", mark("Lessons"), mark("Which lesson should I start with?"), run=False),
            Page("quiz", mark("Quiz"), mark("Quiz: what have you understood?")),
            Page("pitfalls", mark("Pitfalls"), mark("Pitfalls: how can attention fool us?")),
            Page("textbook", mark("Textbook statements"), mark("Textbook statements: which are true?")),
            Page("glossary", mark("Glossary"), mark("Glossary: what do these words mean?"), run=False),
        ),
    ),
    Section(
        mark("Look"),
        (
            Page("heads", mark("Heads"), mark("Where does each head look?")),
            Page("decoding", mark("Choosing words (decoding)"), mark("Decoding: how is each word chosen?")),
            Page("alignment", mark("Word links (alignment)"), mark("Alignment: which word became which?")),
            Page(
                "side",
                mark("BERT and BART side by side"),
                mark("BERT and BART side by side: what do they share?"),
                weights=False,
            ),
        ),
    ),
    Section(
        mark("How it works"),
        (
            Page("map", mark("Map"), mark("Map: what happens between the text and the word?"), weights=False),
            Page("inputs", mark("Inputs"), mark("Inputs: what does the model get to read?")),
            Page("masks", mark("Hidden words (masks)"), mark("Which words do the masks hide?")),
            Page("inside", mark("Inside a head"), mark("What happens inside a head?"), weights=False),
            Page("born", mark("How heads are born"), mark("How are heads born?"), run=False),
            Page("parameters", mark("Parameters"), mark("Where are the parameters?"), run=False),
            Page("models", mark("Models"), mark("How do the models differ?"), run=False),
        ),
    ),
    Section(
        mark("Try it out"),
        (
            Page("why", mark("Why this word?"), mark("Why this word?"), weights=False),
            Page("experiments", mark("What-if experiments"), mark("Experiments: what changes if ...?"), weights=False),
            Page(
                "denoising", mark("Filling gaps (denoising)"), mark("Denoising: can the model repair a damaged text?")
            ),
            Page("compare", mark("Compare"), mark("How do two heads, texts or models compare?")),
            Page(
                "corpus",
                mark("Many texts (corpus)"),
                mark("Corpus: what does each head do across many texts?"),
                run=False,
            ),
        ),
    ),
)

PAGES: tuple[Page, ...] = tuple(page for section in SECTIONS for page in section.pages)  # the first one is at "/"

# The pages whose sidebar is open at first: those that show the visitor's run, and have no questions or articles of
# their own to be read.
OPEN = frozenset(page.word for section in SECTIONS if section.label != "Learn" for page in section.pages if page.run)

# Addresses of older links -> the page that has taken their place, and the choice that shows the same there.
MOVED: dict[str, tuple[str, Mapping[str, str]]] = {
    "start": ("start", {}),
    "fooled": ("pitfalls", {}),
    "classic": ("heads", {"view": "classic"}),
}


def has(word: str) -> bool:
    """Whether the menu has the page of that word: links to others are left out."""
    return any(entry.word == word for entry in PAGES)


def section(word: str) -> Section:
    """The section of the page of that word; the start page's for an unknown one."""
    return next((one for one in SECTIONS if any(entry.word == word for entry in one.pages)), SECTIONS[0])


def page(word: str) -> Page:
    """The page of that word; raises KeyError for an unknown word (a bug in the app, not a visitor's mistake)."""
    return {entry.word: entry for entry in PAGES}[word]
