"""Words for how a model chooses what it writes."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.glossary.term import Term

TERMS: dict[str, Term] = {
    "logits": Term(
        name=mark("logits"),
        text=mark("One number for each token of the vocabulary, before the softmax makes probabilities of them."),
        formula=r"z = h\,E^\top",
        page="decoding",
    ),
    "probability": Term(
        name=mark("probability"),
        text=mark("How likely the model holds a token at this step. Over the whole vocabulary it sums to 100 %."),
        formula=r"p(y_t \mid y_{<t}, x)",
        page="decoding",
    ),
    "log-probability": Term(
        name=mark("log-probability"),
        text=mark("The logarithm of a probability: 0 is certain, and the more negative the less likely. It adds up."),
        formula=r"\log p(y \mid x) = \sum_t \log p(y_t \mid y_{<t}, x)",
        page="decoding",
    ),
    "entropy": Term(
        name=mark("entropy"),
        text=mark(
            "How undecided a choice is, in bits: 0 when one has it all, 1 when two are even, "
            "one more whenever the even choices double."
        ),
        formula=r"H(p) = -\sum_i p_i \log_2 p_i",
        page="decoding",
    ),
    "step": Term(
        name=mark("step"),
        text=mark("One token written: the decoder reads what is there so far and chooses the next."),
        page="decoding",
    ),
    "candidate": Term(
        name=mark("candidate"),
        text=mark("A token that could have been written at a step, with its probability."),
        page="decoding",
    ),
    "greedy": Term(
        name=mark("greedy"),
        text=mark("Always taking the likeliest next token. The whole text need not be the likeliest one."),
        formula=r"y_t = \arg\max_y\, p(y \mid y_{<t}, x)",
        page="decoding",
    ),
    "beam": Term(
        name=mark("beam"),
        text=mark("One of several unfinished texts that are continued side by side; at each step the best are kept."),
        page="decoding",
    ),
    "length penalty": Term(
        name=mark("length penalty"),
        text=mark("A beam's log-probability is divided by its length to this power: a high one lets longer texts win."),
        formula=r"\frac{\sum_t \log p(y_t)}{T^{\alpha}}",
        page="decoding",
    ),
    "sampling": Term(
        name=mark("sampling"),
        text=mark("Drawing the next token by its probability, as with loaded dice. A seed makes the draw repeatable."),
        page="decoding",
    ),
    "temperature": Term(
        name=mark("temperature"),
        text=mark("Divides the logits before sampling: below 1 the likely become likelier, above 1 chances even out."),
        formula=r"p_i \propto e^{z_i / T}",
        page="decoding",
    ),
    "top-k": Term(name=mark("top-k"), text=mark("Sampling among the k likeliest tokens alone."), page="decoding"),
    "top-p": Term(
        name=mark("top-p"),
        text=mark("Sampling among the likeliest tokens that together reach the probability p."),
        page="decoding",
    ),
    "teacher forcing": Term(
        name=mark("teacher forcing"),
        text=mark("The model is given the right tokens so far instead of its own, and asked for the next one."),
        formula=r"p(y_t \mid y^{*}_{<t}, x)",
        page="denoising",
    ),
    "loss": Term(
        name=mark("loss"),
        text=mark("What training makes small: the mean of minus the log-probability of the right tokens."),
        formula=r"-\frac{1}{T}\sum_t \log p(y^{*}_t \mid y^{*}_{<t}, x)",
        page="denoising",
    ),
    "branch": Term(
        name=mark("branch"),
        text=mark("The text that the model writes when one token is changed by hand and it goes on from there."),
        page="decoding",
    ),
}
