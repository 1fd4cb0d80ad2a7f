"""The classic page: bertviz."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.explanations import Explanation

EXPLANATION = Explanation(
    beginner=mark(r"""
**Lines instead of squares.** On the left are the words that look, on the right the words that are looked at. Each
colour is one head. The stronger a line, the more it looks.

**Try it:** point at a word on the left. Then double-click a coloured square above: one head alone is easier to read.
"""),
    intermediate=mark(r"""
**Head view** (after Vig 2019): the tokens that look on the left, the tokens that are looked at on the right, one colour
for each head of the layer. The stronger the line, the larger the weight, divided by the number of heads that are on:

$$\text{strength of a line} = \frac{\alpha_{ij}^h}{\text{heads that are on}}$$

Click a coloured square to switch a head off or on; double-click one to keep it alone.

**Model view**: every layer and head as a thumbnail of the same lines. Click one for its words, click again to close.

**One kind at a time.** Encoder and decoder may have different depths, so each is drawn by itself.

**Why it is for short texts.** A line is drawn for every weight of every head. For long texts, exact numbers, keys and
a table use the page *Heads*: it shows the same weights.

Line strength is a poor scale: a weight of 0.5 beside one of 0.6 looks the same, and many faint lines look like none.
"""),
    expert=mark(r"""
**What is drawn** is bertviz 1.4 (Vig 2019, *A multiscale visualization of attention in the transformer model*), its
scripts served from this machine, its data written once and escaped. The weights are this record's own, in 32-bit
numbers: the same that every other page shows.

**How much it draws:** layers × heads × rows × keys lines. That is why the kind is chosen and the text is capped; the
cap is stated above the picture.

**Reading hints.** Rows sum to 1, columns do not: many lines that meet in a token say that many looked, not how
much it gave. Faint is not zero, and a masked pair has no line at all.
"""),
    terms=("attention", "head", "layer", "weight", "token", "encoder", "decoder", "cross-attention"),
    code="""
import bartviz

model = bartviz.load("bert-tiny-en")
record = bartviz.capture(model, "A man is sleeping.")
view = bartviz.figures.classic(record, view="head", layer=2)  # at the end of a cell a notebook shows it
print(view, view.height)  # view.save("heads.html") makes one file that needs no network
""",
)
