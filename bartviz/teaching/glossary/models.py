"""Words for what a model is made of."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.glossary.term import Term

TERMS: dict[str, Term] = {
    "encoder": Term(
        name=mark("encoder"),
        text=mark("The part of a model that reads: it sees the whole text at once and gives each token a vector."),
        page="heads",
    ),
    "decoder": Term(
        name=mark("decoder"),
        text=mark("The part of a model that writes: token by token, from what it has written so far."),
        page="decoding",
    ),
    "layer": Term(
        name=mark("layer"),
        text=mark(
            "One floor of a model: it takes one vector for each token and gives back one for each. "
            "Attention mixes the tokens, then the feed-forward part works on each of them alone."
        ),
        page="heads",
    ),
    "vector": Term(
        name=mark("vector"),
        text=mark("A list of numbers. A model works with vectors only: each token is one, at every layer."),
        page="inputs",
    ),
    "width": Term(
        name=mark("width"),
        text=mark("How many numbers the vector of a token has. The heads of a layer share it between them."),
        formula=r"d_{\mathrm{head}} = \frac{d_{\mathrm{model}}}{H}",
        page="parameters",
    ),
    "hidden state": Term(
        name=mark("hidden state"),
        text=mark("The vector of a token between two layers: what the model holds of it by then."),
        formula=r"h_i^{(l)}",
        page="experiments",
    ),
    "embedding": Term(
        name=mark("embedding"),
        text=mark("The vector with which a token enters the model: the row of a table, picked by the token's id."),
        formula=r"x_i = E_{\mathrm{id}_i}",
        page="inputs",
    ),
    "position": Term(
        name=mark("position"),
        text=mark(
            "The place of a token in the text, counted from 0. Attention alone does not know it: "
            "a vector for each position is added, or a bias for each distance."
        ),
        formula=r"x_i = E_{\mathrm{id}_i} + P_i",
        page="inputs",
    ),
    "segment": Term(
        name=mark("segment"),
        text=mark("Which sentence of a pair a token belongs to. BERT adds a vector that says it."),
        page="inputs",
    ),
    "residual": Term(
        name=mark("residual"),
        text=mark(
            "A way around a sublayer: what went in is added to what comes out, so only the change must be learned."
        ),
        formula=r"x + f(x)",
        page="parameters",
    ),
    "LayerNorm": Term(
        name=mark("LayerNorm"),
        text=mark(
            "Brings the numbers of each vector to mean 0 and variance 1, "
            "then stretches and shifts each by what was learned."
        ),
        formula=r"\gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta",
        page="inputs",
    ),
    "feed-forward": Term(
        name=mark("feed-forward"),
        text=mark(
            "Two matrices with a bend between them, used on each token alone. Most parameters of a layer are here."
        ),
        formula=r"f(x) = \mathrm{GELU}(x W_1 + b_1)\,W_2 + b_2",
        page="parameters",
    ),
    "GELU": Term(
        name=mark("GELU"),
        text=mark("The bend in the feed-forward part: large numbers pass, very negative ones become nearly 0."),
        formula=r"\mathrm{GELU}(x) = x\,\Phi(x)",
        page="parameters",
    ),
    "output matrix": Term(
        name=mark("output matrix"),
        text=mark("The matrix that puts the outputs of all heads of a layer together into one vector for each token."),
        formula=r"\sum_h \mathrm{head}_h\,W_O^h",
        page="inside",
    ),
    "parameters": Term(
        name=mark("parameters"),
        text=mark("All numbers of a model that were learned. They stay the same whatever text is read."),
        page="parameters",
    ),
    "tied weights": Term(
        name=mark("tied weights"),
        text=mark(
            "One matrix used in several places: to look up the input's tokens, and to compare the last state with "
            "every token. It must be counted once."
        ),
        formula=r"\mathrm{logits} = h\,E^\top",
        page="parameters",
    ),
    "configuration": Term(
        name=mark("configuration"),
        text=mark("The few numbers that say how a model is built: layers, heads, widths, size of the vocabulary."),
        page="parameters",
    ),
    "checkpoint": Term(
        name=mark("checkpoint"),
        text=mark("The file that holds a model's learned numbers. Without one a model's numbers are random."),
        page="parameters",
    ),
    "multiply-add": Term(
        name=mark("multiply-add"),
        text=mark("One multiplication and one addition, the unit in which work is counted; it makes 2 FLOPs."),
        page="parameters",
    ),
    "cache": Term(
        name=mark("cache"),
        text=mark("Keys and values of earlier tokens that are kept, so that each step computes one new row alone."),
        page="decoding",
    ),
}
