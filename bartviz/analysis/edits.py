"""The effect of changing one token: encodings, predictions and rows of attention that change, and those that stay
bit-equal.

Bidirectional attention lets every position see every other, so one changed token changes every encoding from the
first layer on. Causal attention shows a row only earlier positions: everything before the change stays bit-equal.
Letters in shapes: L layers, H heads, n positions, T rows that are scored, Q query rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis import sentence_words
from bartviz.analysis.ablation import Guesses
from bartviz.analysis.distance import jensen_shannon
from bartviz.analysis.masks import count, quote
from bartviz.analysis.measures import padding
from bartviz.analysis.readonly import Brief, array_bytes
from bartviz.arrays import Bools, Floats, Ints
from bartviz.callbacks import never
from bartviz.errors import Cancelled, SettingError
from bartviz.language import _, later, plural
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import Record
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    import pandas as pd

Part = Literal["source", "target"]


def changed_rows(before: Attention, after: Attention, *, cancelled: Callable[[], bool] = never) -> tuple[Floats, Bools]:
    """Jensen-Shannon distance of each row of each head (L, H, Q) in 0..1, and where the weights are bit-equal
    (L, H, Q): there it is exactly 0.

    Rows whose keys are all masked count as equal. Raises SettingError where the shapes differ, Cancelled.
    """
    if before.shape != after.shape:
        raise SettingError(
            later(
                "Only attention of the same shape can be compared: {before} and {after} differ.",
                before=before.shape,
                after=after.shape,
            )
        )
    layers, heads, rows = before.shape[:3]
    distance = np.zeros((layers, heads, rows), np.float32)
    same = np.ones((layers, heads, rows), np.bool_)
    for layer in range(layers):
        for head in range(heads):
            if cancelled():
                raise Cancelled(later("The run was stopped."))
            was, now = before.head(layer, head), after.head(layer, head)  # (Q, K) each
            same[layer, head] = (was == now).all(axis=1) | before.masked_rows
            if not same[layer, head].all():
                distance[layer, head] = np.where(same[layer, head], 0.0, jensen_shannon(was, now))
    return distance, same


@dataclass(frozen=True, eq=False, repr=False)
class Edit(Brief):
    """One token replaced by another, everything else unchanged.

    ``position`` is a row of the source, or of the decoder's inputs where ``part`` is "target". ``hidden``: for each
    stack the relative change |h' - h| / |h| of the embedding (first) and of every layer, (L + 1, n); **0 only where all
    numbers are bit-equal**. ``attention``: for each kind the Jensen-Shannon distance of each row of each head, (L, H,
    Q), and ``equal`` where its weights are bit-equal. ``rows`` (T,) are scored: ``before`` and ``after`` what the model
    says there (log p is of the record's own next token), ``divergence`` (T,) KL(before || after) in nats, and ``same``
    (T,) where the logits are bit-equal. None and empty where the model does not predict tokens.
    """

    record: Record
    part: Part
    position: int
    old: str
    new: str
    new_id: int
    hidden: Mapping[Kind, Floats]
    attention: Mapping[Kind, Floats]
    equal: Mapping[Kind, Bools]
    rows: Ints
    targets: tuple[str, ...]
    before: Guesses | None
    after: Guesses | None
    divergence: Floats
    same: Bools
    changed: Record

    def __repr__(self) -> str:
        return f"<Edit: {self.part} token {self.position}, {self.old!r} → {self.new!r}, {len(self.rows)} rows scored>"

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays, without those of the source record."""
        parts = (part for part in (self, self.before, self.after) if part is not None)
        return sum(map(array_bytes, parts)) + self.changed.nbytes

    def tokens(self, stack: Kind) -> Tokens:
        """The tokens of a stack before the edit."""
        return self.record.attention(stack).query

    def rows_changed(self, kind: Kind) -> Floats:
        """(L, Q): the mean distance over heads between each row before and after."""
        mean: Floats = self.attention[kind].mean(axis=1)
        return mean

    @property
    def edited(self) -> Kind:
        """The stack that reads the changed token."""
        return "decoder" if self.part == "target" or self.record.reads_own_text else "encoder"


@dataclass(frozen=True, eq=False, repr=False)
class Reach(Brief):
    """How far the effect of one changed token reaches, layer by layer, under three masks: each (L + 1, n), 0 where
    bit-equal.

    ``changes`` by the mask's name: "bidirectional", "window", "causal". The model was trained with one of them; the
    others show what a mask allows, not what a model trained with it would do.
    """

    kind: Kind
    tokens: Tokens
    position: int
    old: str
    new: str
    window: int
    changes: Mapping[str, Floats]

    def first_layer(self, mask: str) -> Ints:
        """(n,) the first layer after which each position differs; 0 is the token itself, -1 never."""
        felt = self.changes[mask] > 0  # (L + 1, n)
        return np.where(felt.any(axis=0), felt.argmax(axis=0), -1)

    def steps(self, place: int) -> dict[str, int | None]:
        """Layers (steps) until ``place`` differs, by mask; and the steps of a recurrent network by definition: one per
        position, forwards only. None: never, or not within this model's layers."""
        away = place - self.position
        found = {mask: int(self.first_layer(mask)[place]) for mask in self.changes}
        return {mask: None if layer < 0 else layer for mask, layer in found.items()} | {
            "recurrent": away if away >= 0 else None
        }


def hidden_table(edit: Edit) -> pd.DataFrame:
    """One line for each stack, layer and position: relative change, and whether it is bit-equal."""
    import pandas as pd

    lines = []
    for stack, change in edit.hidden.items():
        labels = edit.tokens(stack).labels
        for layer, row in enumerate(change):
            name = "embedding" if layer == 0 else f"L{layer - 1}"
            lines += [(stack, name, place, labels[place], float(x), bool(x == 0)) for place, x in enumerate(row)]
    return pd.DataFrame(lines, columns=["stack", "after", "position", "token", "relative change", "bit-equal"])


def rows_table(edit: Edit) -> pd.DataFrame:
    """One line for each scored row: the model's prediction before and after."""
    import pandas as pd

    if edit.before is None or edit.after is None:
        return pd.DataFrame({"row": [], "next token": []})
    return pd.DataFrame(
        {
            "row": edit.rows,
            "next token": edit.targets,
            "p before": np.exp(edit.before.log_probability),
            "p after": np.exp(edit.after.log_probability),
            "KL (nats)": edit.divergence,
            "best before": edit.before.labels,
            "best after": edit.after.labels,
            "bit-equal": edit.same,
        }
    )


def reach_table(reach: Reach) -> pd.DataFrame:
    """One line for each position: the first layer that differs under each mask; "" if none does."""
    import pandas as pd

    columns = {
        f"{mask}: first layer": [f"{layer}" if layer >= 0 else "" for layer in reach.first_layer(mask)]
        for mask in reach.changes
    }
    places = np.arange(len(reach.tokens))
    return pd.DataFrame({"position": places, "token": reach.tokens.labels, "away": places - reach.position} | columns)


def arrays(edit: Edit) -> dict[str, NDArray[np.generic]]:
    """All measured arrays, by name."""
    named: dict[str, NDArray[np.generic]] = {f"hidden_{stack}": change for stack, change in edit.hidden.items()}
    named |= {f"attention_{kind}": moved for kind, moved in edit.attention.items()}
    return named | {"rows": edit.rows, "divergence": edit.divergence, "bit_equal": edit.same}


def notice(edit: Edit) -> str:
    """One sentence of what the edit changed and what it did not, with its numbers."""
    tokens = edit.tokens(edit.edited)
    if edit.new_id == tokens.ids[edit.position]:
        return _(
            "{old} is already at position {position}: the same token changes nothing.",
            old=quote(edit.old),
            position=edit.position,
        )
    names = (quote(edit.old), quote(edit.new))
    if edit.old == edit.new:  # with and without a space before it
        names = (f"{names[0]} (#{tokens.ids[edit.position]})", f"{names[1]} (#{edit.new_id})")
    what = _("{old} became {new} at position {position}", old=names[0], new=names[1], position=edit.position)
    parts = [_stack(edit, stack) for stack in edit.hidden]
    if edit.before is not None and edit.after is not None:
        turned = int((edit.before.best != edit.after.best).sum())
        parts.append(_("{turned} of {all} best tokens have changed", turned=turned, all=len(edit.rows)))
    return f"{what}: {'; '.join(parts)}."


def _stack(edit: Edit, stack: Kind) -> str:
    """A clause: the changes in one stack, after its first layer and after its last."""
    change = edit.hidden[stack][:, ~padding(edit.record, stack)]  # padding is at the end
    n = change.shape[1]
    if not change.any():
        return _(
            "all {count} {kind} states stay bit-identical, in every layer", count=n, kind=sentence_words.kind(stack)
        )
    if stack == "decoder" and edit.edited == "decoder":
        moved = int((change[1:, edit.position :] > 0).all(axis=0).sum())
        rest = _("{moved} of {all} from it on have changed in every layer", moved=moved, all=n - edit.position)
        if not edit.position:
            return rest
        if change[:, : edit.position].any():
            return _("{rest}, the {tokens} before it too", rest=rest, tokens=count(edit.position))
        return _("{rest}, the {tokens} before it stay bit-identical", rest=rest, tokens=count(edit.position))
    return _(
        "one layer later {moved} of {all} {kind} states have changed, at the end each by {least:.1%} or more",
        moved=int((change[1] > 0).sum()),
        all=n,
        kind=sentence_words.kind(stack),
        least=change[-1].min(),
    )


def reach_notice(reach: Reach, place: int) -> str:
    """One sentence: how many steps the change needs to reach one position."""
    steps = {mask: _steps_said(found) for mask, found in reach.steps(place).items()}
    if reach.steps(place)["window"] is None:
        layers = len(next(iter(reach.changes.values()))) - 1
        steps["window"] = plural("never within {count} layer", "never within {count} layers", layers)
    return _(
        "{way}: {bidirectional} with bidirectional attention, {window} with a window of {size} on each side, {causal} "
        "with a causal mask, {recurrent} in a recurrent network.",
        way=_way(reach, place),
        size=reach.window,
        **steps,
    )


def _steps_said(steps: int | None) -> str:
    return _("never") if steps is None else plural("{count} step", "{count} steps", steps)


def _way(reach: Reach, place: int) -> str:
    """A clause: from which token to which, and the distance in tokens and words."""
    away, tokens = place - reach.position, {"old": quote(reach.old), "token": quote(reach.tokens.labels[place])}
    if away >= 0:
        said = plural(
            "From {old} to {token}, {count} position later",
            "From {old} to {token}, {count} positions later",
            away,
            **tokens,
        )
    else:
        said = plural(
            "From {old} to {token}, {count} position earlier",
            "From {old} to {token}, {count} positions earlier",
            -away,
            **tokens,
        )
    words = _between(reach.tokens, *sorted((reach.position, place)))
    if words is None:
        return said
    return plural("{said} ({count} word between)", "{said} ({count} words between)", words, said=said)


def _between(tokens: Tokens, first: int, second: int) -> int | None:
    """How many words are between two tokens; None if both are of one word, or one is of none."""
    a, b = tokens.words[first], tokens.words[second]
    return None if a is None or b is None or a == b else b - a - 1
