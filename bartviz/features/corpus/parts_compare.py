"""Two atlases side by side: which heads differ, by how much, and which change their role."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from bartviz.analysis import corpus_against, sentence_words
from bartviz.analysis.corpus import few
from bartviz.analysis.corpus_measures import RANDOM
from bartviz.analysis.intervals import FEW
from bartviz.analysis.verdicts import LEVEL
from bartviz.app.controls import pick, show
from bartviz.app.frame import levels, page
from bartviz.app.state.result_cache import cached
from bartviz.errors import SettingError
from bartviz.features.corpus import parts_own as own
from bartviz.features.corpus.figure_atlas_pair import atlas_pair
from bartviz.features.corpus.parts import Chosen
from bartviz.language import _, mark
from bartviz.record.attention import Head

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

_NONE = "none"


def compare(chosen: Chosen) -> None:
    """The picker of a second atlas (URL ``against``), and what differs from the first."""
    others = [name for name in own.readable()[0] if name != chosen.atlas]
    names = [name for name in others if cached(partial(_comparable, chosen, name, own.version(name)))]
    if not names:
        return
    with levels.aside(
        _("Compare with other texts or another model"), key="corpus_against", names=("against",)
    ) as opened:
        if opened:
            _against(chosen, names)


def _against(chosen: Chosen, names: Sequence[str]) -> None:
    other = pick.select(
        _("The other atlas"), {_NONE: _("none")} | {name: name for name in names}, key="against", default=_NONE
    )
    if other == _NONE:
        show.note(_("Another corpus, another model of the same shape, or another training checkpoint."))
        return
    held = own.version(other)
    show.lead(cached(partial(_said, chosen, other, held)))
    reason = cached(partial(_unpaired, chosen, other, held))
    if reason:
        show.note(
            _(
                "The two are taken as independent, because they cannot be compared text by text: {reason}.",
                reason=reason,
            )
        )
    alt = _("Each head by its mean in both atlases, with 95% intervals; on the diagonal both are the same")
    show.figure(partial(_picture, chosen, other, held, dark=page.dark()), key="corpus_against", alt=alt)
    show.table(partial(_table, chosen, other, held), title=_("All heads in both atlases"))


def _unpaired(chosen: Chosen, other: str, version: int) -> str:
    """Why the texts of the two atlases cannot be paired by the measure; empty if they can."""
    return _(chosen.of.unpaired(own.atlas(other)) or _of_no_text(chosen))


def _of_no_text(chosen: Chosen) -> str:
    return "" if chosen.measure not in RANDOM else mark("this measure is of random tokens, not of the texts")


def _compared(chosen: Chosen, other: str) -> pd.DataFrame:
    """All heads in both atlases: text by text where that is possible."""
    two = own.atlas(other)
    return chosen.of.against(two, paired=not (chosen.of.unpaired(two) or _of_no_text(chosen)))


def _comparable(chosen: Chosen, name: str, version: int) -> bool:
    """Whether an atlas has heads of the chosen kind in the same layers, and the measure. One that cannot be read has
    none."""
    kind = chosen.head.kind
    try:
        tables = [chosen.of.heads, own.atlas(name).heads]
        if kind not in corpus_against.shared_kinds(*tables):
            return False
    except SettingError:
        return False
    measured = [table[(table["kind"] == kind) & (table["measure"] == chosen.measure)] for table in tables]
    one, two = (rows.dropna(subset=["mean"])[["layer", "head"]] for rows in measured)
    return not one.merge(two).empty


def _said(chosen: Chosen, other: str, version: int) -> str:
    table = cached(partial(_rows, chosen, other, version))
    found = corpus_against.changes(table, chosen.head.kind, chosen.measure)
    if "difference_median" in table:
        return f"{_paired(table)} {_largest(found)}".strip()
    texts = min(int(of.description["texts"]) for of in (chosen.of, own.atlas(other)))
    apart = mark(
        "{apart} of {heads} heads differ in this measure with a 95% interval that excludes 0; chance alone "
        "would give about {chance:.0f}. Roles are not compared."
    )
    roles = mark(
        "{changed} of {heads} heads have another role in {other}, and {apart} differ in this measure with a "
        "95% interval that excludes 0; chance alone would give about {chance:.0f}."
    )
    said = _(
        apart if texts < FEW else roles,
        changed=found.changed,
        heads=found.heads,
        other=other,
        apart=found.apart,
        chance=0.05 * found.heads,
    )
    return " ".join(filter(None, (said, few(texts), _largest(found))))


def _paired(rows: pd.DataFrame) -> str:
    """What the test of each head says, over all that were tested."""
    texts, apart = int(rows["n"].max()), int((rows["p_bh"] <= LEVEL).sum())
    return _(
        "The same {texts:,} texts went through both models: {apart} of {heads} heads differ in this measure at a false "
        "discovery rate of 5%, {holm} of them with Holm's correction, over all measures of all heads.",
        texts=texts,
        apart=apart,
        heads=len(rows),
        holm=int((rows["p_holm"] <= LEVEL).sum()),
    )


def _largest(found: corpus_against.Changes) -> str:
    if found.largest is None:
        return ""
    name = sentence_words.head(found.largest.kind, found.largest.layer, found.largest.head)
    return _("The largest difference: {head}, by {difference:+.2f}.", head=name, difference=found.difference)


def _picture(chosen: Chosen, other: str, version: int, *, dark: bool) -> go.Figure:
    return atlas_pair(
        chosen.of.heads,
        own.atlas(other).heads,
        measure=chosen.measure,
        kind=chosen.head.kind,
        names=(chosen.atlas, other),
        table=cached(partial(_rows, chosen, other, version)),
        dark=dark,
    )


def _rows(chosen: Chosen, other: str, version: int) -> pd.DataFrame:
    """The heads of the chosen kind and measure."""
    rows = _compared(chosen, other)
    return rows[(rows["kind"] == chosen.head.kind) & (rows["measure"] == chosen.measure)].reset_index(drop=True)


def _table(chosen: Chosen, other: str, version: int) -> pd.DataFrame:
    rows = cached(partial(_rows, chosen, other, version))
    places = zip(rows["layer"].tolist(), rows["head"].tolist(), strict=True)
    heads = [str(Head(chosen.head.kind, layer, number)) for layer, number in places]
    columns = ["mean", "other_mean", "difference", "difference_low", "difference_high"]
    columns += [name for name in ("difference_median", "p", "p_holm", "p_bh") if name in rows]
    columns += ["role", "other_role"]
    return rows[columns].assign(head=heads)[["head", *columns]].reset_index(drop=True)
