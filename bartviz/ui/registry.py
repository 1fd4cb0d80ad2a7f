"""The pages of the app, one line each: the one list behind navigation, page titles and the cards of the start page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Page:
    """One page. ``word`` is its name at every level (file, URL, figure, analysis); ``title`` asks what it answers."""

    word: str
    label: str
    title: str
    card: str

    @property
    def file(self) -> Path:
        return ROOT / "pages" / f"{self.word}.py"


# In the order that tells the story; the first page is the one at "/".
PAGES: tuple[Page, ...] = (
    Page("start", "Start", "What does a language model look at?", "One sentence, word by word."),
    Page("inputs", "Inputs", "What does the model get to see?", "Pieces, ids, and the sum that enters layer 0."),
    Page("masks", "Masks", "Who may see whom?", "Which words a word may look at, and what forbids the others."),
    Page("inside", "Inside", "What happens inside one head?", "One query, every number up to the head's output."),
    Page("heads", "Heads", "Where does each word look?", "Every layer and head of your text, one of them large."),
    Page(
        "compare", "Compare", "Which heads do the same, which differ?", "Every head by what it does, and two of them."
    ),
    Page("decoding", "Decoding", "How is each word chosen?", "Play the translation step by step."),
    Page(
        "denoising", "Denoising", "Can it repair what was lost?", "Damage a text, and see what the model makes of it."
    ),
    Page(
        "experiments", "Experiments", "What changes if ...?", "Silence heads, change a word, and see what hears of it."
    ),
    Page(
        "alignment",
        "Alignment",
        "Which word became which?",
        "Word links, and which head draws them.",
    ),
    Page("classic", "Classic", "How does bertviz draw it?", "Head view and model view, for short texts."),
    Page("parameters", "Parameters", "Where are the parameters?", "Every matrix, and what length costs."),
    Page("models", "Models", "How do the models differ?", "BERT, BART, GPT-2, T5 side by side."),
)


def page(word: str) -> Page:
    """The page of that word; raises KeyError for a word that no page has (a mistake in our code, not a visitor's)."""
    return {entry.word: entry for entry in PAGES}[word]
