"""The parts of the inputs page: the text in pieces, the embeddings that are summed, positions, three tokenizers."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar, cast

import streamlit as st

from bartviz.analysis import inputs as analysis
from bartviz.catalogue import entry
from bartviz.figures.inputs import inputs, relative, shift
from bartviz.figures.inputs import positions as maps
from bartviz.folders import default_roots, listed
from bartviz.labels import CONTINUES, visible
from bartviz.ui import page, pick, show, tasks

if TYPE_CHECKING:
    from bartviz.analysis.inputs import Floats, Inputs, Split, Stack
    from bartviz.gate import Ticket
    from bartviz.models import Model
    from bartviz.record import Record, Tokens

T = TypeVar("T")
LOOKS = ("pieces", "sum", "positions", "tokenizers")
STACKS = ("encoder", "decoder")
TWO, THIRD = ("bart-tiny-en-de", "bert-tiny-en"), "bart-tiny-denoise"
TEXTS = {
    "own": "yours", "korean": "Korean", "emoji": "emoji", "long": "long words",
}  # fmt: skip
SAMPLES = {
    "korean": "나는 오늘 새 자동차를 사고 싶어요.", "emoji": "I ❤️ pizza 🍕 with my family 👨‍👩‍👧!",
    "long": "The Donaudampfschifffahrtsgesellschaft is antidisestablishmentarianism, untranslatably.",
}  # fmt: skip
MOST = 128  # positions that the maps show


def choose(record: Record) -> tuple[str, Stack]:
    """The pickers: which part of the way is shown, and whose inputs."""
    first, second = st.columns([3, 1.4], vertical_alignment="center")
    with first:
        look = pick.one_of("Look at", LOOKS, key="look")
    stacks = [name for name in STACKS if name in {str(kind) for kind in record.kinds}]
    with second:
        stack = pick.one_of("Inputs of the", stacks, key="stack") if len(stacks) > 1 else stacks[0]
    return look, cast("Stack", stack)


def tokens_of(record: Record, stack: Stack) -> Tokens:
    return record.attention(stack).query


def cut(tokens: Tokens, texts: tuple[str, ...], *, unknown: tuple[bool, ...] | None = None, label: str = "") -> str:
    """HTML of the text cut into pieces: what each is cut from, the piece, its id. Escaped; words stand apart."""
    columns, before, even = [], None, False
    for i, special in enumerate(tokens.special):
        word, span, segment = tokens.words[i], tokens.spans[i], int(tokens.segments[i])
        goes_on = i > 0 and word is not None and tokens.words[i - 1] == word
        name = tokens.labels[i].removeprefix(CONTINUES) or CONTINUES if goes_on else tokens.labels[i]
        here = (segment, span)
        again = span is not None and here == before
        even = even if again else not even
        written = "" if span is None or segment >= len(texts) else visible(texts[segment][slice(*span)])
        shade = "" if span is None else (" bv-a" if even else " bv-b")
        lost = unknown[i] if unknown is not None else tokens.pieces[i] in ("[UNK]", "<unk>") and span is not None
        chip = "bv-chip" + " bv-special" * bool(special) + " bv-unknown" * bool(lost)
        told = f"piece {tokens.pieces[i]}, id {tokens.ids[i]}, segment {segment}"
        columns.append(
            f"<span class='bv-piece{' bv-on' * goes_on}' title='{html.escape(told, quote=True)}'>"
            f"<span class='bv-from{shade}{' bv-again' * again}'>{'″' if again else html.escape(written) or '&nbsp;'}"
            f"</span><span class='{chip}'>{html.escape(name) or '&nbsp;'}</span>"
            f"<span class='bv-id'>{tokens.ids[i]}</span></span>"
        )
        before = here
    above = f"<p class='bv-note'>{html.escape(label)}</p>" if label else ""
    return f"{above}<div class='bv-cut' tabindex='0'>{''.join(columns)}</div>"


def pieces(record: Record, stack: Stack) -> None:
    """The text above, the pieces below it, their ids below those; then the table."""
    tokens = tokens_of(record, stack)
    read = record.source_text if stack == "encoder" or record.cross is None else record.target_text or ""
    st.html(cut(tokens, _texts(tokens, read)))
    pair = " Its two sentences are two segments." if len(set(tokens.segments.tolist())) > 1 else ""
    shifted = " The decoder reads its own output, one place later, behind a start token." * (stack != "encoder")
    show.note(
        f"Above the text, below it the pieces, below them the ids that the model gets. ⋯ goes on with a word; ″ is the "
        f"same character, cut into bytes; a dashed frame is a piece that the vocabulary does not have."
        f"{pair}{shifted if record.cross is not None else ''}"
    )
    show.table(analysis.pieces(tokens), title="Every piece as a table")


def _texts(tokens: Tokens, text: str) -> tuple[str, ...]:
    """The text, where the spans point into it; without it the pieces are named by themselves alone."""
    ends = [span[1] for span, one in zip(tokens.spans, tokens.segments, strict=True) if span is not None and one == 0]
    return (text,) if max(ends, default=0) <= len(text) else ()


def summed(record: Record, stack: Stack) -> Inputs | None:
    """The embeddings of the record's tokens; None while the model works."""

    def work(model: Model, ticket: Ticket[Inputs]) -> Inputs:
        from bartviz import embeddings

        ticket.report("Reading the embeddings, and running the model once to compare")
        return embeddings.inputs(model, record, stack=stack, cancelled=ticket.cancelled)

    tokens = tokens_of(record, stack)
    key = {"stack": stack, "model": record.model.fingerprint, "ids": tokens.ids.tolist(),
           "other": record.source.ids.tolist(), "segments": record.source.segments.tolist()}  # fmt: skip
    return _ask("inputs", record.model.name, key, work, lambda found: found.nbytes)


def _ask(
    name: str, model: str, key: Mapping[str, object], work: Callable[[Model, Ticket[T]], T], size: Callable[[T], int]
) -> T | None:
    """The answer of a task with these settings, begun here if nobody has; None while it is not there."""
    whole = dict(key) | {"of": model}
    begin = (name, model, whole, work, size)
    if tasks.begun(name) != whole:
        tasks.begin(*begin)
    found: T | None = tasks.show(name, whole)
    if found is None and tasks.ended(name):
        st.button("Try it again", key=f"again_{name}", on_click=tasks.begin, args=begin)
    return found


def parts(one: Inputs) -> None:
    """The lengths of the parts, and the self-check."""
    told = f"Lengths of {', '.join(analysis.norms(one))} for {len(one.tokens)} tokens."
    show.figure(inputs(one, dark=page.dark()), key="inputs_sum", alt=told)
    verdict = "ok" if one.passed else "NOT the same"
    rows = f" Row {one.rows[0]} of the position table is the first that is read." if one.rows is not None else ""
    show.note(
        f"{analysis.formula(one)}. Self-check: the network's own first hidden state differs by at most "
        f"{one.error:.1e} (limit {analysis.LIMIT:.0e}): {verdict}.{rows}"
    )
    show.table(analysis.table(one))


def positions(record: Record, one: Inputs) -> Floats | None:
    """The position table beside a sinusoidal one, and what a shift is in both; T5's bias instead. Gives the rows."""
    if one.table is None:
        bias = record.attention(one.stack).bias
        show.note(
            "This model has no position embeddings. A number for each distance is added to the scores of every head, "
            "the same in all layers; distances far away share one."
        )
        if bias is not None:
            alt = f"The bias of {len(bias)} heads by distance."
            show.figure(relative(bias, one.stack, dark=page.dark()), key="inputs_bias", alt=alt)
        return None
    table = shown(one)
    learned = record.model.family not in ("marian", "pegasus")
    name = "learned" if learned else "this model's (sinusoidal)"
    if not record.model.trained:
        st.warning("This model is untrained: its positions are random numbers.")
    alt = f"Similarities of {len(table)} positions, {name} and sinusoidal."
    show.figure(maps(table, name=name, dark=page.dark()), key="inputs_positions", alt=alt)
    if len(table) < 8:
        return table
    found = analysis.shift(table)
    st.subheader("Is one place further on a linear map?", anchor=False)
    show.note(analysis.shift_sentence(found) if learned else "This model's positions are sinusoidal themselves.")
    show.figure(shift(found, dark=page.dark()), key="inputs_shift", alt="What a linear shift misses.")
    show.table(analysis.shift_table(found))
    return table


def near(table: Floats) -> str:
    """How alike neighbours and positions further apart are, in this table."""
    alike = analysis.similarity(table)
    far = max(len(table) // 2, 1)
    near, distant = (float(alike.diagonal(step).mean()) if len(table) > step else 1.0 for step in (1, far))
    return (
        f"Neighbouring positions are alike (mean cosine {near:.2f}); positions {far} apart less so ({distant:.2f})."
        if (near > distant + 0.05)
        else f"Neighbouring positions are no more alike ({near:.2f}) than positions {far} apart ({distant:.2f})."
    )


def shown(one: Inputs) -> Floats:
    """As many rows of the position table as the slider says (URL ``rows``)."""
    assert one.table is not None
    most = min(len(one.table), MOST)
    hint = "Positions beyond the texts of the training are hardly touched by it."
    count = 1 + pick.index("Last position", most, key="rows", default=max(min(most, 64) - 1, 7), hint=hint)
    return one.table[: max(count, min(8, most))]


def tokenizers(record: Record) -> tuple[Split, ...]:
    """The same text through three tokenizers, one below the other; those that have come so far."""
    first, second = st.columns([2.2, 1.6], vertical_alignment="bottom")
    with first:
        which = pick.one_of("Text", TEXTS, key="sample")
    with second:
        third = _third(record)
    text = record.source_text if which == "own" else SAMPLES[which]

    def work(model: Model, ticket: Ticket[Split]) -> Split:
        from bartviz.embeddings import split

        return split(model, text)

    found: list[Split] = []
    for place, name in enumerate((*TWO, third)):
        with st.container(key=f"inputs_split_{place}"):
            one = _ask(f"split_{place}", name, {"text": text}, work, lambda made: 2_000 + 200 * len(made.tokens))
            if one is None:
                continue
            found.append(one)
            lost = f", {int(one.unknown.sum())} of them unknown" if one.unknown.any() else ", none unknown"
            label = f"{one.model}: {one.how}, vocabulary {one.vocabulary:,}: {one.count} tokens{lost}"
            st.html(cut(one.tokens, _texts(one.tokens, text), unknown=tuple(one.unknown.tolist()), label=label))
    if found:
        show.table(analysis.splits(tuple(found)), title="The tokenizers as a table")
    return tuple(found)


def _third(record: Record) -> str:
    """The third tokenizer: the current model's, else the denoiser's; or of a folder (URL ``third``)."""
    folders = [name for name in listed(default_roots()) if entry(name) is None]
    names = list(dict.fromkeys([*([] if record.model.name in TWO else [record.model.name]), THIRD, *folders]))
    if "third" in st.session_state and st.session_state["third"] not in names:
        st.session_state["third"] = names[0]
    chosen = st.selectbox("The third tokenizer is of", names, key="third", bind="query-params")
    return chosen if chosen in names else names[0]


def split_sentence(found: tuple[Split, ...]) -> str:
    """Which tokenizer needs fewest pieces, and what it does not know."""
    if len(found) < 2:
        return "The same text, cut by three tokenizers."
    least, most = min(found, key=lambda one: one.count), max(found, key=lambda one: one.count)
    lost = [one for one in found if one.unknown.any()]
    told = "; ".join(f"{one.model} does not know {int(one.unknown.sum())} of its pieces" for one in lost)
    if least.count == most.count:
        return f"All need {least.count} tokens{'; ' + told if told else ''}."
    return f"{least.model} needs {least.count} tokens, {most.model} {most.count}{'; ' + told if told else ''}."
