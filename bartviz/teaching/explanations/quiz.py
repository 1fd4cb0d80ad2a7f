"""The quiz page: questions made from the record, one at a time."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.explanations import Explanation

EXPLANATION = Explanation(
    beginner=mark(r"""
**Every question is about your text.** Nothing here is written beforehand: the numbers, the tokens and the pictures come
from the run that you see on the other pages. Change the text or the model, and the questions change too.

**A wrong answer costs nothing.** It says what is true of it, and you may try again; the score only remembers what you
found at the first try. **See it** opens the page that shows the answer.

**Try it:** before you choose, say out loud why. Then read whether the reason was the same.
"""),
    intermediate=mark(r"""
**How a question is made.** A kind of question is drawn, then a head, a row or a step that suits it. The answer is
computed from the record. A kind that the record cannot answer is left out: a model without a decoder is not asked which
token a row predicts.

**Only one answer is right,** by a margin: another head has at least 0.1 less of the weight, another row at least 0.4
bits less entropy, another probability differs by at least 3 points.

**For a class.** The same text, model and seed give the same questions, so a link is enough for everybody to have the
same quiz. The sheet can be printed with the answers or without.
"""),
    expert=mark(r"""
**Rows that are shown** are rounded to hundredths by largest remainders, so that real rows sum to exactly 1.00 as
written, and the impossible one does not, or has weight where its mask is closed. Averages over rows count rows of words
that may see at least two keys, as on *compare*. Distances from the mean are Jensen-Shannon distances (the root of the
divergence in bits), averaged over the same rows. Noise functions are only offered where they could not have made the
same text.

**The seed** starts NumPy's PCG64 once for each kind and lap: a question does not depend on which others are asked.
"""),
    terms=("head", "row", "weight", "mask", "entropy", "special token", "probability", "tied weights"),
    code="""
import bartviz
from bartviz.teaching.quiz import questions

model = bartviz.load("bart-tiny-en-de")
record = bartviz.capture(model, "I want to buy a car.")
for question in questions(record, seed=7, count=3):
    print(question.prompt, [option.text for option in question.options], question.why, sep="\\n")
""",
)
