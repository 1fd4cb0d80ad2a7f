"""Can it repair what was lost? The five noise functions of BART, and what a model makes of a corrupted text."""

from pathlib import Path

import streamlit as st

from bartviz.analysis import repairs
from bartviz.figures import denoising as figure
from bartviz.ui import denoising, page, show

STYLE = Path(denoising.__file__).with_name("denoising.css")
EXPLAIN = """
**BART was trained to undo damage** (Lewis et al. 2020): a text is corrupted by one of five noise functions, the encoder
reads what is left, and the decoder must write the original.

- **Token masking** replaces single words by a mask, as in BERT. **Token deletion** leaves no trace: the model must find
  the place too. **Text infilling** replaces a whole span, of a length drawn from Poisson(3), by *one* mask; a span of
  length 0 puts a mask where nothing is missing. **Sentence permutation** shuffles the sentences. **Document rotation**
  lets the text begin at another word.
- Here as in this model's training words are lost, not tokens, and the corrupted text is tokenized again.

**The third line** is what the model writes by itself, always taking the likeliest token. The number under a word is the
product of the probabilities of its tokens. A word that fits as well as the original still counts as wrong.

**Accuracy and loss** are measured under *teacher forcing*: after the true tokens, which token is the best guess, and
how likely was the right one? The first token, which is always the same, is left out; the end token counts. Most tokens
only need copying, so look at the lost ones by themselves.

**BERT** fills each mask with one token and sees both sides of it, all masks at once. **BART** writes the whole text
from left to right, and may put any number of words for a mask.
"""


def main() -> None:
    record = page.begin("denoising")
    st.html(STYLE)
    said = st.container()
    chosen = denoising.choose(record)
    with st.container(key="denoising_lines"):
        found = denoising.repaired(chosen)
        if found is not None:
            denoising.lines(found)
    with said:
        show.lead(repairs.notice(found) if found is not None else "The text is corrupted, read and repaired.")
    if found is not None:
        denoising.look(chosen, found)
        show.table(repairs.table(found), title="The three lines as a table")
    show.explain(EXPLAIN)
    if found is not None:
        show.downloads(
            "denoising",
            table=lambda: repairs.table(found),
            figure=lambda: figure(found, dark=page.dark()),
            record=found.given,
        )


main()
