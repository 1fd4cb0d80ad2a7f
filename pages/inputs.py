"""What does the model get to see? From text to ids, and to the sum that the first layer reads."""

from pathlib import Path

import streamlit as st

from bartviz.analysis import inputs as analysis
from bartviz.figures import inputs as figure
from bartviz.figures.inputs import positions
from bartviz.record import Record
from bartviz.ui import inputs, page, show

STYLE = Path(inputs.__file__).with_name("inputs.css")
EXPLAIN = """
**Pieces and ids.** A tokenizer cuts the text into pieces of its vocabulary; each has a number, its *id*, and the model
gets nothing else. Byte-level BPE (BART, GPT-2) builds pieces out of bytes, so it can write everything, an emoji as four
pieces or more. WordPiece (BERT) builds them out of letters; a letter that it never saw makes a whole word
*unknown*. Special tokens mark beginning and end, or, in a pair, where one sentence ends.

**What is summed.** Each id picks a row of the embedding matrix. BERT adds a row for the *position* and one for the
*segment* (which sentence of a pair); BART and GPT-2 add a position only, BART's first being row 2 of its table. T5
adds nothing: a bias of the scores says how far two tokens are apart. BERT and BART then normalise the sum (LayerNorm);
GPT-2 and T5 leave that to their layers. Lengths do not add up like numbers, since vectors may point apart; the
shares in the table do (part · sum / |sum|²).

**Positions.** *Attention is all you need* (section 3.5) writes a position as sines and cosines of many wavelengths, so
that moving on by k places is the same rotation everywhere. A learned table need not be like that. The map for a shift
is fitted to every second position by least squares and judged on the others; with as many dimensions as positions a fit
to all of them would look perfect and mean nothing. The same fit to the sinusoidal table is drawn as a control.
"""


def summed(record: Record, stack: analysis.Stack, look: str) -> str:
    """The embeddings, or the positions; gives the sentence of what to notice."""
    one = inputs.summed(record, stack)
    if one is None:
        return "The embeddings are read from the model."
    if look == "sum":
        inputs.parts(one)
        show.downloads(
            "inputs", table=lambda: analysis.table(one), arrays=lambda: analysis.arrays(one),
            figure=lambda: figure(one, dark=page.dark()), record=record,
        )  # fmt: skip
        return analysis.sentence(one)
    table = inputs.positions(record, one)
    if table is None:
        return analysis.sentence(one)
    show.downloads(
        "inputs-positions",
        table=(lambda: analysis.shift_table(analysis.shift(table))) if len(table) >= 8 else None,
        arrays=lambda: {"positions": table, "similarity": analysis.similarity(table)},
        figure=lambda: positions(table, dark=page.dark()),
    )
    return inputs.near(table)


def main() -> None:
    record = page.begin("inputs")
    st.html(STYLE)
    said = st.container()
    look, stack = inputs.choose(record)
    with st.container(key="inputs_hero"):
        if look == "pieces":
            inputs.pieces(record, stack)
            tokens = inputs.tokens_of(record, stack)
            told = analysis.told(tokens)
            show.downloads("inputs", table=lambda: analysis.pieces(tokens), arrays=lambda: {"ids": tokens.ids})
        elif look == "tokenizers":
            found = inputs.tokenizers(record)
            told = inputs.split_sentence(found)
            if found:
                show.downloads("inputs-tokenizers", table=lambda: analysis.splits(found))
        else:
            told = summed(record, stack, look)
    with said:
        show.lead(told)
    show.explain(EXPLAIN)


main()
