"""The parts of the models page: the pickers, the table, and what each family reads and predicts."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from bartviz.analysis import plain_words
from bartviz.analysis.article_models import BART, BART_LARGE, BERT, BERT_LARGE, GPT2, MARIAN, T5
from bartviz.app.controls import pick, show
from bartviz.app.frame import levels, page
from bartviz.app.state.result_cache import cached
from bartviz.families.catalogue import CATALOGUE
from bartviz.families.family import ModelKind
from bartviz.features.models import numbers_model_table as model_table
from bartviz.features.models import parts_learned as learned
from bartviz.features.models.figure import SUBLAYERS, hollow, legend
from bartviz.features.models.numbers_model_table import GROUPS, ORIGINS, PROPERTIES, Origin, Property, Subject
from bartviz.features.models.numbers_objectives import BERT_RATE, Example, objectives
from bartviz.language import _, mark, plural
from bartviz.record.record import Record

MOST = 5  # models; more columns and panels would be unreadable
SETS = {
    "three": (mark("BERT, BART, GPT-2"), (BERT, BART, GPT2)),
    "two": (mark("BART and T5"), (BART, T5)),
    "writers": (mark("Encoder-decoders"), (BART, T5, MARIAN, "google/pegasus-xsum")),
    "large": (mark("Base and large"), (BERT, BERT_LARGE, BART, BART_LARGE)),
    "small": (mark("Included here"), learned.MODELS),
    "own": (mark("My choice"), ()),
}
BAR = mark(
    "Each bar is a layer; the grey block shows the embeddings. Equal areas stand for equal numbers of parameters."
)
SHARED = mark("An empty bar is a layer that uses the parameters of a layer below it.")
_STYLE = Path(__file__).with_name("style.css")
_SIGNS: dict[Origin, str] = {"configuration": "c", "computed": "=", "family": "f", "paper": "p"}
_MARKS = re.compile(r"(&lt;(?:mask|mask_1|extra_id_\d+)&gt;|\[MASK\])")


def choose() -> tuple[Subject, ...]:
    """The pickers of the models (URL ``models``, and ``which`` for one's own choice): 1 to MOST of them."""
    known = [entry.name for entry in CATALOGUE]
    names = {word: _(title) for word, (title, _models) in SETS.items()}
    chosen = SETS[pick.one_of(_("Side by side"), names, key="models", default="three")][1]
    if not chosen:
        hint = _("Up to {most} models of the catalogue.", most=MOST)
        chosen = pick.several(_("Models"), known, key="which", default=SETS["three"][1], hint=hint)
        if len(chosen) > MOST:
            show.note(_("{count} were chosen; the first {most} are shown.", count=len(chosen), most=MOST))
    subjects = tuple(_subject(name) for name in chosen[:MOST] if name in known)
    if not subjects:
        st.info(_("Choose at least one model."))
        st.stop()
    return subjects


@lru_cache(maxsize=64)
def _subject(name: str) -> Subject:
    """A model of the catalogue; its numbers are computed from the configuration once."""
    return model_table.subject(name)


def picture(subjects: Sequence[Subject], drawn: partial[go.Figure]) -> None:
    """The drawing of the models and its legend; where they have no room beside each other, two and two."""
    st.html(_STYLE)
    alt = _(
        "The parameters of each model as areas: its layers as bars, encoder left, decoder right, its embeddings below"
    )
    sides = sum(len(one.stacks) for one in subjects)
    with show.sideways(f"models_drawn_{len(subjects)}_{sides}"), st.container(key="models_pictures"):
        show.figure(drawn, key="layers", alt=alt)
        if len(subjects) > 2:
            show.figure(partial(drawn, beside=2), key="layers_rows", alt=alt, name="layers")
    entries = {
        plain_words.named(_(SUBLAYERS[part]), part): colors
        for part, colors in legend(subjects, dark=page.dark()).items()
    }
    show.legend(entries, label=_("Parts of a layer"))
    show.note(f"{_(BAR)} {_(SHARED)}" if hollow(subjects) else _(BAR))
    if not {one.name for one in subjects} & set(learned.MODELS):
        hint = _(
            "These models are not included in the app. For small ones that you can open right away, choose “{choice}”."
        )
        show.note(hint.replace("{choice}", _(SETS["small"][0])))


def simply(subjects: Sequence[Subject]) -> str:
    """Which families only read, which only write, which do both: what one sees first in the drawing."""
    found: dict[ModelKind, dict[str, None]] = {}  # in the order of the drawing
    for one in subjects:
        found.setdefault(one.sizes.family.kind, {})[one.sizes.family.title] = None
    return " ".join(_does(kind, list(names)) for kind, names in found.items())


def _does(kind: ModelKind, names: list[str]) -> str:
    """What the families of these names do with a text."""
    *others, last = names
    who = _("{names} and {last}", names=", ".join(others), last=last) if others else last
    if kind == "encoder":
        return plural("{who} reads a text (encoder only).", "{who} read a text (encoder only).", len(names), who=who)
    if kind == "decoder":
        return plural(
            "{who} continues a text (decoder only).", "{who} continue a text (decoder only).", len(names), who=who
        )
    return plural(
        "{who} reads a text and writes another (encoder and decoder).",
        "{who} read a text and write another (encoder and decoder).",
        len(names),
        who=who,
    )


def notice(subjects: Sequence[Subject]) -> str:
    """The one sentence on what to notice: how many properties differ, and one that is often missed."""
    different = cached(partial(_different, subjects))
    if len(subjects) == 1:
        return _("Only {name}: add another model to see what differs.", name=subjects[0].name)
    norms = {subject.sizes.family.norm for subject in subjects}
    sentence = _(
        "{different} of {all} properties differ between these {models} models.",
        different=different,
        all=len(PROPERTIES),
        models=len(subjects),
    )
    hint = _("Note where LayerNorm is: textbook drawings often show only one of the two variants.")
    return f"{sentence} {hint}" if len(norms) > 1 else sentence


def _different(subjects: Sequence[Subject]) -> int:
    return sum(model_table.differs(each, subjects) for each in PROPERTIES)


def table(subjects: Sequence[Subject]) -> None:
    """The table with named groups: at first only what differs (URL ``differ``), else with equal rows dimmed.

    Experts also read where each number comes from.
    """
    only = pick.switch(_("Only what differs"), key="differ", default=True) if len(subjects) > 1 else False
    sources = levels.at_least("expert")
    head = "".join(f"<th scope='col'>{html.escape(one.name.rsplit('/', 1)[-1])}</th>" for one in subjects)
    st.html(_STYLE)
    plain = not levels.at_least("intermediate")
    body = cached(partial(_body, subjects, only=only, sources=sources, plain=plain))
    label = html.escape(_("Models side by side"), quote=True)
    st.html(
        f"<div class='bv-models' style='--models:{len(subjects)}' tabindex='0' role='region' aria-label='{label}'>"
        f"<table><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
    if plain:
        show.note(_("“{more}” below shows all {count} properties.", more=levels.more(), count=len(PROPERTIES)))
    if sources:
        show.note(" · ".join(f"{sign} {_(ORIGINS[origin])}" for origin, sign in _SIGNS.items()))


def _body(subjects: Sequence[Subject], *, only: bool, sources: bool, plain: bool) -> str:
    return "".join(_rows(subjects, only=only, sources=sources, plain=plain))


def _rows(subjects: Sequence[Subject], *, only: bool, sources: bool, plain: bool) -> Iterator[str]:
    for group, title in GROUPS.items():
        rows = [prop for prop in PROPERTIES if prop.group == group and (prop.plain or not plain)]
        kept = [prop for prop in rows if not only or model_table.differs(prop, subjects)]
        if kept:
            name = f"<th colspan='{len(subjects) + 1}' scope='colgroup'>{html.escape(_(title))}</th>"
            yield f"<tr class='bv-group'>{name}</tr>"
        for prop in kept:
            yield _row(prop, subjects, sources=sources, plain=plain)


def _row(prop: Property, subjects: Sequence[Subject], *, sources: bool, plain: bool) -> str:
    quiet = "" if model_table.differs(prop, subjects) or len(subjects) == 1 else " class='bv-same'"
    cells = "".join(f"<td>{html.escape(model_table.cell_text(prop, prop.of(subject)))}</td>" for subject in subjects)
    origin = html.escape(_(ORIGINS[prop.origin]), quote=True)
    sign = f" <sup title='{origin}' aria-label='{origin}'>{_SIGNS[prop.origin]}</sup>" if sources else ""
    means = f" <small>{html.escape(_(prop.plain))}</small>" if plain else ""
    return f"<tr{quiet}><th scope='row'>{html.escape(_(prop.label))}{sign}{means}</th>{cells}</tr>"


def goals(record: Record | None, subjects: Sequence[Subject]) -> tuple[Example, ...]:
    """The input and the goal of the families of these models, on the visitor's text (URL ``hide``); of every family
    where none of theirs has an example.
    """
    text = record.source_text if record is not None else ""
    translation = record.target_text if record is not None and record.model.name == "bart-tiny-en-de" else None
    seed = 1
    if levels.at_least("intermediate"):
        seed = pick.index(_("Seed"), 100, key="hidden_seed", default=seed, hint=_("Another seed hides other words."))
    examples = objectives(text, seed=seed, translation=translation)
    if not examples:
        st.info(_("Run a text with at least one word to see it here as training data for each model."))
        return ()
    families = {subject.sizes.family.name for subject in subjects}
    examples = tuple(each for each in examples if each.family in families) or examples
    st.html(_STYLE)
    st.html("".join(_goal(example) for example in examples))
    return examples


def goal_table(examples: Sequence[Example]) -> pd.DataFrame:
    """The examples as a table: family, reads, decoder_reads, predicts."""
    rows = [(each.family, each.reads, each.starts, each.predicts) for each in examples]
    return pd.DataFrame(rows, columns=["family", "reads", "decoder_reads", "predicts"])


def _goal(example: Example) -> str:
    lines = [(_("reads"), example.reads), (_("its decoder reads"), example.starts), (_("predicts"), example.predicts)]
    cells = "".join(
        f"<span>{html.escape(name)}</span><code>{_shown(text)}</code>" for name, text in lines if text is not None
    )
    why = html.escape(_(example.why, rate=BERT_RATE))
    return f"<div class='bv-objective'><h4>{example.title}</h4>{cells}<p>{why}</p></div>"


def _shown(text: str) -> str:
    return _MARKS.sub(r"<b>\1</b>", html.escape(text)) or "–"
