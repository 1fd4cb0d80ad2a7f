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
