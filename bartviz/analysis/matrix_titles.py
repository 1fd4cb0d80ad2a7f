"""The roles of matrices and vectors of an architecture, in the reader's language.

Roles are English strings in the files of the families, and code distinguishes matrices by them.
"""

from __future__ import annotations

from bartviz.language import _, mark

# What is a weight matrix, a bias, or the vectors of a layer norm.
WHOLE = frozenset(
    {
        mark("self-attention query"),
        mark("self-attention key"),
        mark("self-attention value"),
        mark("self-attention query, key and value"),
        mark("self-attention output"),
        mark("self-attention layer norm"),
        mark("cross-attention query"),
        mark("cross-attention key"),
        mark("cross-attention value"),
        mark("cross-attention output"),
        mark("cross-attention layer norm"),
        mark("feed-forward gate"),
        mark("feed-forward in"),
        mark("feed-forward out"),
        mark("feed-forward layer norm"),
        mark("embedding layer norm"),
        mark("embedding projection"),
        mark("final layer norm"),
        mark("pooler"),
        mark("output transform"),
        mark("output layer norm"),
        mark("output layer"),
        mark("classifier dense"),
        mark("classifier"),
        mark("token classifier"),
        mark("answer span"),
        mark("next sentence"),
        mark("sentence order"),
        mark("detector dense"),
        mark("detector"),
    }
)
# Names used unchanged, and the parts of a layer and of a model.
SINGLE = frozenset(
    {
        mark("shared"),
        mark("encoder"),
        mark("decoder"),
        mark("head"),
        mark("embeddings"),
        mark("encoder layers"),
        mark("decoder layers"),
        mark("token embedding"),
        mark("position embedding"),
        mark("segment embedding"),
        mark("relative position bias"),
        mark("self-attention"),
        mark("cross-attention"),
        mark("feed-forward"),
        mark("layer norm"),
    }
)


def title(role: str) -> str:
    """A role, or a part of a layer or model, in the reader's language."""
    if role == "head":  # the network's own word; a reader would think of an attention head
        return _("output layer")
    if role in SINGLE or role in WHOLE:
        return _(role)
    if role.removesuffix(" weight") in WHOLE:
        return _("{role} weight", role=_(role.removesuffix(" weight")))
    if role.removesuffix(" bias") in WHOLE:
        return _("{role} bias", role=_(role.removesuffix(" bias")))
    return role


# What a matrix does, by the end of its role; the first that fits.
_DOES = {
    " bias": mark("It is added to what its weight matrix gives."),
    "query, key and value weight": mark("It makes a token's query, key and value from its state."),
    "query weight": mark("It makes a token's query from its state: what the token looks for."),
    "key weight": mark("It makes a token's key from its state: by what the token is found."),
    "value weight": mark("It makes a token's value from its state: what the token hands on."),
    "attention output weight": mark("It joins what all heads of the layer found to one vector of the state's width."),
    "layer norm weight": mark("It scales each dimension of a state that was brought to mean 0 and variance 1."),
    "feed-forward gate weight": mark(
        "It makes the numbers by which the state within the feed-forward part is multiplied."
    ),
    "feed-forward in weight": mark(
        "It brings a token's state to the width of the feed-forward part, before its activation."
    ),
    "feed-forward out weight": mark("It brings the state back to the width of the model."),
    "token embedding": mark("One row of numbers for each token of the vocabulary: a text begins as these rows."),
    "position embedding": mark("One row of numbers for each place in the text, added to the token's row."),
    "segment embedding": mark("One row of numbers for each of the two texts, added to the token's row."),
    "embedding projection weight": mark("It brings a token's row to the width of the layers."),
    "pooler weight": mark("It makes a vector for the whole text from the first token's state."),
    "output transform weight": mark("It prepares the last states for the output layer."),
    "output layer weight": mark("It gives each token of the vocabulary a score: the next or hidden word's."),
    "weight": mark("It makes the scores of the task from a state."),
}
_BIASES = {
    "relative position bias": mark("It is added to the scores, by how far apart two tokens are."),
    "layer norm bias": mark("It shifts each dimension of a state that was brought to mean 0 and variance 1."),
}


def does(role: str) -> str:
    """What a matrix of this role does, in a sentence; empty for a role that is not known."""
    return next((_(told) for ends, told in (_BIASES | _DOES).items() if role.endswith(ends)), "")
