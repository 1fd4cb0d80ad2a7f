"""Words for attention itself."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.glossary.term import Term

TERMS: dict[str, Term] = {
    "attention": Term(
        name=mark("attention"),
        text=mark(
            "How a token gathers from others: it gives each token that it may see a weight, "
            "and takes the sum of their values, each times its weight."
        ),
        formula=r"\mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d}} + M\right)V",
        page="inside",
    ),
    "self-attention": Term(
        name=mark("self-attention"),
        text=mark("Attention within one text: the tokens that look and the tokens that are looked at are the same."),
        page="heads",
    ),
    "cross-attention": Term(
        name=mark("cross-attention"),
        text=mark("Attention of the decoder to the encoder: while it writes, each step looks at the source text."),
        page="start",
    ),
    "bidirectional": Term(
        name=mark("bidirectional"),
        text=mark("Attention in both directions: a token sees what stands before it and what stands after it."),
        page="masks",
    ),
    "causal": Term(
        name=mark("causal"),
        text=mark(
            "A causal mask lets a token see itself and what stands before it, never what comes after. "
            "So a model can learn to predict the next token without seeing it."
        ),
        formula=r"M_{ij} = \begin{cases}0 & j \le i\\ -\infty & j > i\end{cases}",
        page="masks",
    ),
    "head": Term(
        name=mark("head"),
        text=mark(
            "One of several attentions that a layer computes side by side, with queries, keys and values of its own. "
            "Each head can look at something else."
        ),
        formula=r"\mathrm{head}_h = A_h\,(X W_V^h)",
        page="heads",
    ),
    "query": Term(
        name=mark("query"),
        text=mark("The vector with which a token looks: it is compared with the keys of all tokens that it may see."),
        formula=r"q_i = x_i W_Q",
        page="inside",
    ),
    "key": Term(
        name=mark("key"),
        text=mark("The vector by which a token is found: the better it fits a query, the higher the score."),
        formula=r"k_j = x_j W_K",
        page="inside",
    ),
    "value": Term(
        name=mark("value"),
        text=mark("The vector that a token hands over when it is looked at."),
        formula=r"v_j = x_j W_V",
        page="inside",
    ),
    "score": Term(
        name=mark("score"),
        text=mark("How well a query fits a key, before the softmax: the sum of their products, times the scale."),
        formula=r"s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d}}",
        page="inside",
    ),
    "weight": Term(
        name=mark("weight"),
        text=mark(
            "The share of a token's value that a row takes, from 0 to 1; the weights of a row sum to 1. "
            "A model's parameters are called weights too, but those stay the same for every text."
        ),
        formula=r"\alpha_{ij} = \frac{e^{s_{ij}}}{\sum_k e^{s_{ik}}}",
        page="inside",
    ),
    "row": Term(
        name=mark("row"),
        text=mark("All weights of one token that looks; they sum to 1. The columns are the tokens it looks at."),
        formula=r"\sum_j \alpha_{ij} = 1",
        page="heads",
    ),
    "softmax": Term(
        name=mark("softmax"),
        text=mark(
            "Turns any numbers into positive shares that sum to 1. The largest number gets the largest share, "
            "and a lead of one multiplies the share by 2.7."
        ),
        formula=r"\mathrm{softmax}(s)_j = \frac{e^{s_j}}{\sum_k e^{s_k}}",
        page="inside",
    ),
    "scale": Term(
        name=mark("scale"),
        text=mark(
            "The factor by which scores are multiplied before the softmax, mostly one over the square root of the "
            "head's width. Without it long vectors give large scores, and one key takes nearly everything."
        ),
        formula=r"\frac{1}{\sqrt{d}}",
        page="inside",
    ),
    "mask": Term(
        name=mark("mask"),
        text=mark(
            "Says which tokens a token may look at. What is closed gets a score of minus infinity, "
            "or a very large negative number, and so the weight 0."
        ),
        formula=r"\mathrm{softmax}(S + M)",
        page="masks",
    ),
    "padding": Term(
        name=mark("padding"),
        text=mark("Filler tokens that make the texts of a batch equally long. A mask keeps them from being looked at."),
        page="masks",
    ),
    "position bias": Term(
        name=mark("position bias"),
        text=mark("How T5 knows positions: for each range of distances a learned number is added to the scores."),
        formula=r"s_{ij} = q_i \cdot k_j + b_{i-j}",
        page="inside",
    ),
    "sink": Term(
        name=mark("sink"),
        text=mark(
            "A token that takes much attention though it says little, often the first, the last or a full stop. "
            "Heads that find nothing to look for seem to rest there."
        ),
        page="heads",
    ),
}
