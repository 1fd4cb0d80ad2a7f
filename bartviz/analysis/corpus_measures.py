"""The measures that only a corpus has, beyond ``definitions.MEASURES``; letters as there.

``NORMS`` are measured on each text, by the lengths of projected values; ``RANDOM`` on random tokens that are repeated,
where no word has a meaning and the only help is what stood there before; ``GOLD`` where alignments by hand are given,
``TREES`` where trees of words are;
``EFFECTS`` by further passes over some texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bartviz.analysis.head_measures import MEASURES, SELF, Measure, of_kind
from bartviz.language import mark
from bartviz.record.attention import Kind

NORMS: Mapping[str, Measure] = {
    known.name: known
    for known in (
        Measure(
            "special_by_norm",
            mark("special tokens by norm"),
            mark("Σ_j a(i, j) ‖v_j W_O‖ where j is special / Σ_j a(i, j) ‖v_j W_O‖"),
            mark(
                "What special tokens add, not only the weight on them: far below the weight where a head "
                "attends to tokens without content."
            ),
            "Kobayashi et al. 2020, 4.1",
            over=mark("those that may see a special token"),
        ),
        Measure(
            "first_value",
            mark("value of the first key"),
            mark("‖v_0 W_O‖ / mean_j ‖v_j W_O‖"),
            mark("The length of the first key's value relative to all: below 1 where the first key is a sink."),
            mark("Gu et al. 2025 (attention sink)"),
            mark("ratio"),
            None,
            over=mark("all keys"),
        ),
    )
}
RANDOM: Mapping[str, Measure] = {
    known.name: known
    for known in (
        Measure(
            "induction",
            mark("induction"),
            mark("a(i, i - T + 1), less the same where nothing is repeated"),
            mark(
                "Weight on the token that followed this one last time: T random tokens are read twice, and "
                "the rows are those of the second time. The weight that a head gives to that distance "
                "anyway, where the second tokens are different, is subtracted."
            ),
            mark("Olsson et al. 2022 (prefix matching)"),
            kinds=SELF,
            over=mark("the second half"),
        ),
        Measure(
            "duplicate",
            mark("duplicate token"),
            mark("a(i, i - T), less the same where nothing is repeated"),
            mark(
                "Weight on the same token last time, where T random tokens are read twice. The weight that a "
                "head gives to that distance anyway, where the second tokens are different, is subtracted."
            ),
            mark("Wang et al. 2023 (duplicate token heads)"),
            kinds=SELF,
            over=mark("the second half"),
        ),
    )
}
_ERROR = "1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)"
GOLD: Mapping[str, Measure] = {
    known.name: known
    for known in (
        Measure(
            "error_predicts",
            mark("alignment error, by the word predicted"),
            _ERROR,
            mark("Error rate of the mutual links, rows named by the word that they predict: 0 is perfect."),
            "Och and Ney 2003, 5",
            mark("error rate"),
            kinds=("cross",),
            over=mark("texts with an alignment by hand"),
        ),
        Measure(
            "error_reads",
            mark("alignment error, by the word read"),
            _ERROR,
            mark("Error rate of the mutual links, rows named by the word that they have read: 0 is perfect."),
            "Och and Ney 2003, 5",
            mark("error rate"),
            kinds=("cross",),
            over=mark("texts with an alignment by hand"),
        ),
    )
}
TREES: Mapping[str, Measure] = {
    known.name: known
    for known in (
        Measure(
            "to_head",
            mark("looks at its syntactic head"),
            mark("share of words i with head(i) = argmax_j a(i, j)"),
            mark("How often a word looks most at the word that it depends on, among other words."),
            "Clark et al. 2019, 4.2",
            mark("share of words"),
            kinds=SELF,
            over=mark("texts with a tree; punctuation and roots left out"),
        ),
        Measure(
            "to_dependent",
            mark("looks at its dependent"),
            mark("share of words i with i = argmax_j a(head(i), j)"),
            mark("How often the word that a word depends on looks most at it, among other words."),
            "Clark et al. 2019, 4.2",
            mark("share of words"),
            kinds=SELF,
            over=mark("texts with a tree; punctuation and roots left out"),
        ),
    )
}
SILENCED, VALUE_MOVED = "silenced", "value_moved"
OF_LABELS = ("label_log_probability", "label_margin", "label_turned")
_LOST = mark("Michel et al. 2019, 3 (there: accuracy lost)")
_DRAWN = mark("texts drawn at random")
EFFECTS: Mapping[str, Measure] = {
    known.name: known
    for known in (
        Measure(
            SILENCED,
            mark("effect of silencing"),
            "KL(p ‖ q)",
            mark(
                "How far the probabilities of the predicted tokens (or labels) move when the head's output is "
                "set to 0 (or to its mean, if the run was asked for that), averaged over a text. A head may attend to "
                "a lot and change little."
            ),
            _LOST,
            mark("nats"),
            None,
            over=_DRAWN,
            rare=True,
        ),
        Measure(
            "label_log_probability",
            mark("the label's log probability without it"),
            mark("log q(y) - log p(y), where y = argmax p"),
            mark(
                "What becomes of the label that the model says of a text when the head's output is set to 0: below 0 "
                "the model is less sure of it. Of tokens and of the two ends of an answer it is their mean."
            ),
            _LOST,
            mark("nats"),
            None,
            over=_DRAWN,
            lowest=None,
        ),
        Measure(
            "label_margin",
            mark("the label's margin without it"),
            mark("m(q) - m(p), where m is the logit of y less that of the best other label"),
            mark(
                "What becomes of the lead of the label that the model says over the second one: where it falls by more "
                "than the lead, another label is said."
            ),
            _LOST,
            mark("logits"),
            None,
            over=_DRAWN,
            lowest=None,
        ),
        Measure(
            "label_turned",
            mark("labels changed without it"),
            mark("share of labels with argmax q ≠ argmax p"),
            mark("How often another label is said when the head's output is set to 0."),
            _LOST,
            mark("share of labels"),
            over=_DRAWN,
        ),
        Measure(
            VALUE_MOVED,
            mark("the value moved without it"),
            mark("|y(without) - y(with)|"),
            mark(
                "How far the number moves that the model gives a text (regression) when the head's output is set to 0, "
                "in the unit that it was trained on."
            ),
            _LOST,
            mark("of the value"),
            None,
            over=_DRAWN,
            rare=True,
        ),
    )
}
ALL: Mapping[str, Measure] = {**MEASURES, **NORMS, **GOLD, **TREES, **RANDOM, **EFFECTS}


def measure_of(name: str) -> Measure:
    """A measure by its name; of another name than those of ``ALL`` one of somebody's own, called by its name alone."""
    return ALL.get(name) or Measure(
        name,
        name,
        "",
        mark("A measure of one's own, computed by a function that was given to the run."),
        "",
        mark("own measure"),
        None,
        over="",
        lowest=None,
    )


def in_order(names: Iterable[str]) -> list[str]:
    """The names, once each, in reading order: those of ``ALL`` first, then others as they come."""
    there = dict.fromkeys(names)
    return [name for name in ALL if name in there] + [name for name in there if name not in ALL]


def of_text(kind: Kind) -> tuple[Measure, ...]:
    """The measures that every text has, in reading order."""
    return *of_kind(kind), *(
        measure for measure in (*NORMS.values(), *GOLD.values(), *TREES.values()) if kind in measure.kinds
    )
