"""The inside page: the arithmetic of one head."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.explanations import Explanation

EXPLANATION = Explanation(
    beginner=mark(r"""
**Think of a library.** A word comes with a *question* (its query). Every word has a *label* on its spine (its key) and
something *inside* (its value). The question is compared with every label: the better it fits, the larger the bar. What
the word takes home is a mixture of what is inside, most of it from where the bar is largest.

Read the picture from left to right: question, labels, how well each fits, the share that each gets, what is taken. The
shares always make 100 % together.

**Try it:** choose another row, and see which bar grows.
"""),
    intermediate=mark(r"""
**From left to right.** Each token has a *query* $q$ (what it looks for), a *key* $k$ (what it offers) and a *value* $v$
(what it gives). The query of one token is multiplied with every key, dimension by dimension; the products of a key are
summed and scaled: that is the key's **score**. The softmax turns the scores of a row into **weights** that sum to 1.
The **output** is the sum of the values, each times its weight.

$$s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d}}, \qquad
\alpha_{ij} = \frac{e^{s_{ij}}}{\sum_k e^{s_{ik}}}, \qquad o_i = \sum_j \alpha_{ij} v_j$$

**The scale** is one over the square root of the head's width: without it, long vectors give large scores and the
softmax sees only the largest (*Attention is all you need*, section 3.2.1). T5 leaves it out and learned without it.

**The bias** is T5's: a number for each distance between two positions, the same in every layer of a stack.

**The mask** makes the score of what may not be seen minus infinity; its weight is then exactly 0.

**The layer's output.** The outputs of all heads, side by side, are multiplied with one matrix. That is the same as
giving each head its own part of the matrix and adding up, so each head's share can be told apart.
"""),
    expert=mark(r"""
**Why the square root.** Where the components of $q$ and $k$ are independent with mean 0 and variance 1, $q \cdot k$ has
variance $d$; divided by $\sqrt{d}$ it has variance 1 again (Vaswani et al. 2017, footnote 4). *Without the
scaling* shows this model's own scores both ways.

**The block's output** for row $i$, and a head's share of it, by lengths:

$$y_i = \sum_h W_O^h o_i^h + b_O, \qquad
\mathrm{share}_h = \frac{\lVert W_O^h o_i^h \rVert}{\sum_{h'} \lVert W_O^{h'} o_i^{h'} \rVert}$$

Parts of different heads may point against each other, so shares of lengths are not shares of the sum; neither is a
reason. Kobayashi et al. 2020 take the lengths one level deeper, key by key: page *Compare*.

**Others.** Of a long text the strongest keys are shown one by one. The rest is one row, so that nothing is left out:
its score is $\log \sum_j e^{s_{ij}}$ over the rest, its weight their sum, its value the mean of theirs by weight.

**Exactness.** Queries, keys, scale, mask and bias are those that the layer gave to its own kernel, in 32-bit numbers;
products and weights are computed again here. Every layer is compared with what the kernel put out; the line under the
title says of how many heads and rows.
"""),
    terms=(
        "query",
        "key",
        "value",
        "vector",
        "score",
        "scale",
        "softmax",
        "weight",
        "mask",
        "position bias",
        "output matrix",
        "head",
    ),
    code="""
import bartviz
import numpy as np

model = bartviz.load("bart-tiny-en-de")
record = bartviz.capture(model, "I want to buy a car.", values=True)
cross, layer, head, row = record.cross, 2, 0, 3
q, k, v = cross.q[layer, head, row], cross.k[layer, head], cross.v[layer, head]  # (d,), (K, d), (K, d)
scores = k @ q * cross.scale  # (K,)
weights = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
print(abs(weights - cross.head(layer, head)[row]).max())  # the same numbers
output = cross.out[layer, :, head] @ (weights @ v)  # (width,) what this head adds to the layer's output
""",
)
