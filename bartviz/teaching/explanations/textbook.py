"""The textbook page: statements of articles, and how each verdict comes about."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.explanations import Explanation

EXPLANATION = Explanation(
    beginner=mark(r"""
**Articles say a lot about these models. Is it true?** Each line is one statement in our words, from five articles or,
where it says so, from none of them. Its verdict is *holds*, *holds, with a caveat*, or *does not hold*. Unfold
*Numbers* to see what was claimed and what came out. The link below a line leads to the page where you can see it with
your own eyes.

**Try it:** switch on *Guess first*, read a statement, and say what you think before you unfold its verdict.
"""),
    intermediate=mark(r"""
**A verdict is computed, not written.** Every line is taken apart into numbers. If one of those that the statement rests
on is not as claimed, it does not hold. Others stand *beside the claim*: what it leaves out, or a detail. If only one of
these differs, it holds with a caveat. "About" means within 2 %.

**Where the numbers come from.** Sizes are counted from a model's configuration, without its weights. What a run does is
measured on a small model that ships, or on your own run where that fits; then the verdict may change with your text.
"""),
    expert=mark(r"""
**What is not judged.** Statements about history, benchmarks or training that no number here can decide are left out. A
statement about large released models is judged from their configurations; one about behaviour is judged on small models
(4 + 4 layers, 256 wide; 4 layers, 192 wide), and its line says so: that a small model does otherwise is no proof about
a large one.

**Limits.** "About" is 2 %; "comparable" is a factor of 2; runs in different shapes are equal within $10^{-4}$, equal to
the last bit where it says so; a head *does* something from half of its weight on.

**Runs made now** take a second or two: a batch with padding, one changed token, `generate()`, five steps by hand, four
beams. All others are arithmetic on configurations and on runs that ship.
"""),
    terms=("parameters", "configuration", "head", "attention", "mask", "softmax", "embedding", "checkpoint"),
    code="""
import bartviz
from bartviz.teaching.textbook import MODEL, ledger, measured, verdict

print(ledger()[["number", "title", "verdict"]])
print(verdict("14").word, verdict("14").why)
more = measured.judge_all(bartviz.load(MODEL))  # those that need a run of a model
print(ledger(more=more)["verdict"].value_counts())
""",
)
