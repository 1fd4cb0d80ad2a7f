"""The experiments page, part "ablation": heads silenced."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.explanations import Explanation

EXPLANATION = Explanation(
    beginner=mark(r"""
**What is a head good for? Switch it off.** Each cell is a head. It is silenced, and the model is asked again: how much
less likely does it find its own sentence now? Orange is a loss, blue a gain, pale means that hardly anything changed.

Pale does not mean useless. In a choir one singer can fall silent and nobody notices, since another one sings the same.

**Try it:** click the strongest orange cell, and read what the model writes without that head.
"""),
    intermediate=mark(r"""
**A cell is a head.** Its colour says what happens to this text when the head's output is multiplied by the factor $f$
(0 silences it; Michel, Levy and Neubig 2019). The tokens of the output are given again, so each is compared with
itself: orange, the record's own output becomes less likely; blue, it becomes *more* likely without the head.

$$\Delta = \log p_{f}(y \mid x) - \log p(y \mid x)$$

**Ablation is not importance.** Heads compensate: two heads that do the same work can each be silenced at no cost, and
only both together show. So a cell near 0 does not prove that a head is useless, and a strong one says that *this text*
needs it. "Scale all others of its layer" asks the opposite: is this head alone enough for its layer?

**Before and after.** The bars are probabilities of the same tokens, given in both runs. The two lines of chips are what
the model then writes by itself, where one changed word changes everything after it. A model that fills masks shows its
best guesses instead.

The change rides on one run. No other visitor and no later run sees it.
"""),
    expert=mark(r"""
**Where the factor stands.** The head's output is scaled before the output matrix: $\sum_h f_h W_O^h o^h + b_O$. The
bias, the residual and the feed-forward part stay. Zero is not a neutral value for a head: a head that always adds the
same vector is missed as much as one that works. Replacing by a mean or by another run's output asks other questions.

**Four measures** of a sweep, each over the rows that are scored: the change of $\log p$ (nats); the mean
$D(p \,\|\, p_f)$ of a row (nats); how many rows have another best token; the mean $1 - \cos$ of the last hidden
states.

**What other heads did then:** the mean Jensen-Shannon distance of their rows, 0 to 1. Heads before the silenced one
cannot notice it: their 0 is exact, equal to the last bit.

**Single heads are a poor basis** for ranking pairs: effects neither add up nor keep their order. Voita et al. 2019
prune heads jointly instead.
"""),
    terms=(
        "ablation",
        "head",
        "layer",
        "log-probability",
        "KL divergence",
        "Jensen-Shannon distance",
        "hidden state",
        "teacher forcing",
        "output matrix",
    ),
    code="""
import bartviz

model = bartviz.load("bart-tiny-en-de")
record = bartviz.capture(model, "I want to buy a car.")
found = bartviz.ablate(model, record, ["cross L3H2"])
print(found.effect, "nats;", found.written[1].target_text)
sweep = bartviz.ablate_sweep(model, record, kinds=["cross"])
for place in sweep.ranked()[:3]:
    print(sweep.heads[place], round(float(sweep.log_probability[place]), 3))
""",
)
