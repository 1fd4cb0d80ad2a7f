"""The lessons page: how to walk a tour alone, in front of a class, and where its numbers come from."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.explanations import Explanation

EXPLANATION = Explanation(
    beginner=mark(r"""
**A lesson walks over the real pages.** Each step opens one, sets it to something worth seeing, and asks a question.
Look first, guess, and only then show the answer. **N** goes on, **B** back, **A** shows the answer.

**Nothing can go wrong.** Move every slider, click every map, even run a text of your own: the round arrow in the strip
sets the step up again, and leaving the lesson brings your own text back. A lesson that you have left waits at the step
where you were.

**The first four** belong together and need nothing but patience; the others can be walked in any order.
"""),
    intermediate=mark(r"""
**In front of a class.** The large type (**Z**) enlarges every page; while it is on, *Page Down* and *Page Up*, which
are the keys of a presenter's clicker, go on and back. The address of each step is a link: put it on a slide or into a
message, and everybody stands at that step, in the language of the link if it names one (`lang=ko`).

**What to ask.** Let the class commit to an answer before it is shown. Then change one thing, another head, another
row, another layer, and ask whether the answer still holds. It often does not, and that is the lesson.

**Which kind of attention** a step is about is always the colour of its map: teal is the encoder, vermilion the
decoder, violet the cross-attention. A row always sums to 1: $\sum_j \alpha_{ij} = 1$.
"""),
    expert=mark(r"""
**Where the numbers come from.** No number in a step was typed in. Each is computed when the step is drawn, from the
record that is shown: weights $\alpha_{ij}$, probabilities, entropies, counts of parameters. Tests recompute what the
sentences claim without a number.

**What is shown** are records that ship with the app, made by its own small models; nothing is loaded, so a step is
there at once and without a network. Only the steps on damaged texts run a model.

**What a lesson cannot show.** These models have three to seven million parameters and know everyday sentences. What a
head does here it does in *this* sentence; *Compare* and *Alignment* say how to judge a head by more than one. Nor does
a weight give the reason for a word (Jain and Wallace 2019; Wiegreffe and Pinter 2019).
"""),
    terms=("attention", "head", "layer", "row", "weight", "token"),
    code="""
import bartviz

model = bartviz.load("bart-tiny-en-de")  # what the lessons look at
record = bartviz.capture(model, "I want to buy a car.")
row = record.output.labels.index("kaufen")
print(dict(zip(record.source.labels, record.cross.head(2, 0)[row].round(2).tolist())))
""",
)
