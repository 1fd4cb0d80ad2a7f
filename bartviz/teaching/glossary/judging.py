"""Words for what is measured and tried."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.glossary.term import Term

TERMS: dict[str, Term] = {
    "ablation": Term(
        name=mark("ablation"),
        text=mark("Switching a part off to see what changes. Other parts may stand in for it."),
        formula=r"\mathrm{head}_h \leftarrow 0",
        page="experiments",
    ),
    "contribution": Term(
        name=mark("contribution"),
        text=mark(
            "What a token really adds to another: its value times its weight, through the output matrix, as a length."
        ),
        formula=r"\lVert \alpha_{ij}\, v_j W_O^h \rVert",
        page="compare",
    ),
    "rollout": Term(
        name=mark("rollout"),
        text=mark(
            "An estimate of how much of each input token is in a state several layers later: "
            "the layers' mean attention, mixed with the residual, multiplied through."
        ),
        formula=r"\prod_l \tfrac{1}{2}\left(\bar{A}_l + I\right)",
        page="compare",
    ),
    "Jensen-Shannon distance": Term(
        name=mark("Jensen-Shannon distance"),
        text=mark("How different two rows of weights are: 0 when they are equal, 1 when they share no token."),
        formula=r"\sqrt{H\!\left(\tfrac{p+q}{2}\right) - \tfrac{1}{2}\left(H(p)+H(q)\right)}",
        page="compare",
    ),
    "KL divergence": Term(
        name=mark("KL divergence"),
        text=mark("How much one set of probabilities departs from another; 0 when they are equal. It has a direction."),
        formula=r"D(p \,\|\, q) = \sum_i p_i \log \frac{p_i}{q_i}",
        page="experiments",
    ),
    "alignment": Term(
        name=mark("alignment"),
        text=mark("Which words of a text and of its translation belong together, drawn as links."),
        page="alignment",
    ),
    "gold": Term(
        name=mark("gold"),
        text=mark("Links drawn by people, against which found links are judged: sure ones and possible ones."),
        page="alignment",
    ),
    "precision": Term(
        name=mark("precision"),
        text=mark("How much of what was found is right."),
        formula=r"\frac{|A \cap P|}{|A|}",
        page="alignment",
    ),
    "recall": Term(
        name=mark("recall"),
        text=mark("How much of what is right was found."),
        formula=r"\frac{|A \cap S|}{|S|}",
        page="alignment",
    ),
    "AER": Term(
        name=mark("AER"),
        text=mark("Alignment error rate: 0 when the links found are those drawn by hand, 1 when none of them is."),
        formula=r"1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|}",
        page="alignment",
    ),
    "accuracy": Term(
        name=mark("accuracy"),
        text=mark("The share of tokens for which the model's best guess is the right one."),
        page="denoising",
    ),
}
