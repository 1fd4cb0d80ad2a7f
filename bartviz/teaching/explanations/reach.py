"""The experiments page, part "reach": how far a change is felt in one step."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.explanations import Explanation

EXPLANATION = Explanation(
    beginner=mark(r"""
**How fast does news travel?** A word is exchanged, and we ask at which floor of the model another word, far away, hears
of it. If everybody may look at everybody, one floor is enough. If each may only look at neighbours, the news goes from
hand to hand and needs many. If nobody may look ahead, it only travels to the right.

**Try it:** exchange the first word and ask the last one.
"""),
    intermediate=mark(r"""
**One layer is one step.** In a bidirectional encoder a token's new state is a weighted sum over *all* positions: the
news of a changed word is everywhere after a single layer, however far away. That is what is meant by relating "it" to
"house" in one operation. A window lets the news travel only so many positions a layer; a causal mask lets it travel in
one step too, but only to the right. A recurrent network hands it on from word to word: one step for each.

For a distance of $n$ and a window of $w$ positions to each side:

$$\text{all: } 1, \qquad \text{window: } \lceil n / w \rceil, \qquad \text{recurrent: } n$$

**Counted exactly:** in the sentence 12 words stand *between* "house" and "it", so "it" is the 13th word after it. In
this model's tokens the distance may be larger, since some words are several tokens.

That the news *can* arrive does not say that the model uses it.
"""),
    expert=mark(r"""
**The masks are laid on this model's own weights,** which were trained with one of them. Only *where* something changed
counts here, not what such a model would say. A written 0 is exact: equal to the last bit.

**Path length** is the last column of table 1 of Vaswani et al. 2017: $O(1)$ for self-attention, $O(n)$ for recurrence,
$O(n / r)$ for a neighbourhood of size $r$. A short path does not mean that the weights are large: with $n$ keys an even
row gives each $1/n$, and the table also counts the price, $n^2 d$ operations against $n d^2$.

**A fully masked row cannot occur** here: each position sees at least itself under all three masks.
"""),
    terms=("layer", "self-attention", "bidirectional", "causal", "mask", "hidden state", "position", "token"),
    code="""
import bartviz

model = bartviz.load("bart-tiny-en-de")
text = "The house is beautiful and well located in the middle of the city."
found = bartviz.reach(model, text, 2, window=2)
for name in found.changes:
    print(name, found.first_layer(name))  # the first layer at which each position hears of it; -1: never
print(found.steps(10))
""",
)
