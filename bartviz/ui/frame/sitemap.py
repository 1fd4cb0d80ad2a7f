"""The pages of the app: one list for the navigation, page titles and the cards of the start page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bartviz.language import mark
from bartviz.ui.frame import place


@dataclass(frozen=True, slots=True)
class Page:
    """One page. ``word`` is its name at every level (file, URL, figure, analysis); ``title`` is its question.

    ``label``, ``title`` and ``card`` are messages, translated when they are shown.
    """

    word: str
    label: str
    title: str
    card: str

    @property
    def file(self) -> Path:
        return place.ROOT / "pages" / f"{self.word}.py"


# In teaching order; the first page is the one at "/".
PAGES: tuple[Page, ...] = (
    Page("start", mark("Start"), mark("What does a language model look at?"), mark("One sentence, word by word.")),
    Page("lessons", mark("Lessons"), mark("Where do I begin?"), mark("Guided tours: look, guess, and see.")),
    Page(
        "inputs",
        mark("Inputs"),
        mark("What does the model get to see?"),
        mark("Pieces, ids, and the sum that enters layer 0."),
    ),
    Page(
        "masks",
        mark("Masks"),
        mark("Who may see whom?"),
        mark("Which words a word may look at, and what forbids the others."),
    ),
    Page(
        "inside",
        mark("Inside"),
        mark("What happens inside one head?"),
        mark("One query, every number up to the head's output."),
    ),
    Page(
        "heads",
        mark("Heads"),
        mark("Where does each word look?"),
        mark("Every layer and head of your text, one of them large."),
    ),
    Page(
        "compare",
        mark("Compare"),
        mark("Which heads do the same, which differ?"),
        mark("Every head by what it does, and two of them."),
    ),
    Page("decoding", mark("Decoding"), mark("How is each word chosen?"), mark("Play the translation step by step.")),
    Page(
        "denoising",
        mark("Denoising"),
        mark("Can it repair what was lost?"),
        mark("Damage a text, and see what the model makes of it."),
    ),
    Page(
        "experiments",
        mark("Experiments"),
        mark("What changes if ...?"),
        mark("Silence heads or change a word, and see what it affects."),
    ),
    Page(
        "alignment", mark("Alignment"), mark("Which word became which?"), mark("Word links, and which head draws them.")
    ),
    Page(
        "classic",
        mark("Classic"),
        mark("How does bertviz draw it?"),
        mark("Head view and model view, for short texts."),
    ),
    Page(
        "parameters",
        mark("Parameters"),
        mark("Where are the parameters?"),
        mark("Every matrix, and what length costs."),
    ),
    Page("models", mark("Models"), mark("How do the models differ?"), mark("BERT, BART, GPT-2, T5 side by side.")),
    Page(
        "textbook",
        mark("Textbook"),
        mark("Which sentences of the textbooks hold?"),
        mark("Statements of articles, judged by numbers."),
    ),
    Page(
        "fooled",
        mark("Pitfalls"),
        mark("How can attention fool us?"),
        mark("What a picture of attention does not say."),
    ),
    Page("quiz", mark("Quiz"), mark("What did you understand?"), mark("Questions made from your own text and model.")),
)


def page(word: str) -> Page:
    """The page of that word; raises KeyError for an unknown word (a bug in the app, not a visitor's mistake)."""
    return {entry.word: entry for entry in PAGES}[word]
