"""The page against being fooled: what a picture of attention does not say."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.explanations import Explanation

EXPLANATION = Explanation(
    beginner=mark(r"""
**A picture of attention shows where a head looked.** It does not show why the model said what it said. A weight is like
a glance: somebody may look at a clock for a long time and still not know what time it is.

Every warning here has an example from your text. Each ends with a link to the page where you can look for yourself.

**Try it:** find the strongest cell of a map on *heads*. Then ask: what would change if that head were switched off?
"""),
    intermediate=mark(r"""
**Weight and contribution.** What reaches a row from a token is weight times value, through the output projection. A
large weight on a short value brings little:

$$\text{brings} = \lVert \alpha_{ij}\, W_O v_j \rVert$$

**Means.** Two heads that look at different tokens have a mean that looks at both. Its entropy is never below the mean
of their entropies; the gap is what the mean hides.

**Sinks.** The weights of a row must sum to 1, also where a head has nothing to look for. Special tokens and full stops
take what is left over. Hiding them changes the picture, so the hidden share is stated.

**The shift.** The decoder's row t has read token t and predicts token t + 1. Alignments belong to the predicted token.

**Untrained weights.** Scores near 0 give almost even rows. A picture of them still has patterns, but nothing was
learned.
"""),
    expert=mark(r"""
**The debate.** Jain and Wallace (2019) find other weights that leave a classifier's output as it is; Serrano and Smith
(2019) erase weights and see little change. Wiegreffe and Pinter (2019) answer that such weights must be found by the
whole model, and that attention can be *an* explanation without being the only one. Ablation asks what this text loses
when a head gives nothing (Michel et al. 2019); heads that stand in for each other cost nothing one by one.

**Norm-weighted attention** (Kobayashi et al. 2020, equation 3) counts value and projection, not the residual stream nor
what later layers do with it.

**The gap of entropies** of $H$ heads is their generalised Jensen-Shannon divergence (Lin 1991):

$$H\Bigl(\tfrac{1}{H}\sum_h \alpha^h_i\Bigr) - \tfrac{1}{H}\sum_h H(\alpha^h_i) \ge 0$$

**Whether a model looks untrained** is judged from its layer norms alone: their gains begin at exactly 1, and training
moves them. It is a hint and no proof: gains can be set by hand. The random network here is drawn as the library draws a
fresh one.
"""),
    terms=("weight", "contribution", "head", "entropy", "sink", "ablation", "alignment", "value"),
    code="""
import bartviz
from bartviz.analysis import fooled

model = bartviz.load("bart-tiny-en-de")
record = bartviz.capture(model, "I want to buy a car.", values=True)
print(fooled.gap(record))  # weight against contribution
print(fooled.average(record))  # a layer whose mean hides its heads
print(fooled.sinks(record))  # where attention rests
print(fooled.shift(record))  # rows named by what they read, and by what they predict
""",
)
