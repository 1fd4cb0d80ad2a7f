"""Words for how text becomes numbers, and how it is damaged on purpose."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.glossary.term import Term

TERMS: dict[str, Term] = {
    "token": Term(
        name=mark("token"),
        text=mark("What a model reads and writes: a word, a piece of a word, a sign, or a special mark."),
        page="inputs",
    ),
    "piece": Term(
        name=mark("piece"),
        text=mark("A part of a word that is an entry of the vocabulary. Rare words are written in several pieces."),
        page="inputs",
    ),
    "id": Term(
        name=mark("id"),
        text=mark("The number of a token in the vocabulary. It is all that the model is told of it."),
        page="inputs",
    ),
    "vocabulary": Term(
        name=mark("vocabulary"),
        text=mark("All tokens that a model knows, fixed before it was trained."),
        formula=r"|V|",
        page="inputs",
    ),
    "tokenizer": Term(
        name=mark("tokenizer"),
        text=mark("The program that cuts a text into tokens and puts it together again. It belongs to its model."),
        page="inputs",
    ),
    "special token": Term(
        name=mark("special token"),
        text=mark("A token that stands for no word: beginning, end, border between two sentences, mask, padding."),
        page="inputs",
    ),
    "mask token": Term(
        name=mark("mask token"),
        text=mark("The special token that stands where something was taken out. It is no attention mask."),
        page="denoising",
    ),
    "unknown token": Term(
        name=mark("unknown token"),
        text=mark("What a tokenizer writes for what it cannot: the model learns nothing of what stood there."),
        page="inputs",
    ),
    "BPE": Term(
        name=mark("BPE"),
        text=mark(
            "Byte pair encoding: begins with letters or bytes and merges the most frequent pair again and again. "
            "BART and GPT-2 begin with bytes, so nothing is unknown."
        ),
        page="inputs",
    ),
    "WordPiece": Term(
        name=mark("WordPiece"),
        text=mark("BERT's tokenizer: takes the longest piece that fits, from the left; ## marks the rest of a word."),
        page="inputs",
    ),
    "SentencePiece": Term(
        name=mark("SentencePiece"),
        text=mark("Tokenizers of T5, Marian and others: spaces are signs like all others, written ▁."),
        page="inputs",
    ),
    "noise function": Term(
        name=mark("noise function"),
        text=mark("A way to damage a text on purpose. BART learned by writing the original again."),
        page="denoising",
    ),
    "token masking": Term(
        name=mark("token masking"),
        text=mark("Single tokens are replaced by a mask token each, so the model sees where something is missing."),
        page="denoising",
    ),
    "token deletion": Term(
        name=mark("token deletion"),
        text=mark("Single tokens are taken out without a trace, so the model must also find where."),
        page="denoising",
    ),
    "text infilling": Term(
        name=mark("text infilling"),
        text=mark("A whole span is replaced by one mask token, so the model must also find how much is missing."),
        formula=r"\mathrm{length} \sim \mathrm{Poisson}(3)",
        page="denoising",
    ),
    "sentence permutation": Term(
        name=mark("sentence permutation"),
        text=mark("The sentences of a text are put into a random order."),
        page="denoising",
    ),
    "document rotation": Term(
        name=mark("document rotation"),
        text=mark("The text begins at a random place, and what stood before it follows at the end."),
        page="denoising",
    ),
}
