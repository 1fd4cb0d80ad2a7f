"""The parts of the inputs page: the text in pieces, the sum of embeddings, positions, three tokenizers."""

from __future__ import annotations

import html
from functools import partial
from typing import TYPE_CHECKING, cast

import streamlit as st

from bartviz.analysis import inputs as analysis
from bartviz.analysis import positions as of_positions
from bartviz.analysis import sentence_words
from bartviz.analysis.word_colors import NONE
from bartviz.analysis.words import word_groups
from bartviz.app.controls import pick, show, tasks
from bartviz.app.frame import levels, page
from bartviz.drawing import theme
from bartviz.drawing.colors import underline
from bartviz.families.catalogue import entry
from bartviz.features.inputs.figure import inputs, relative, shift
from bartviz.features.inputs.figure import positions as maps
from bartviz.language import _, later, mark, named, plural
from bartviz.models.roots import default_roots, listed
from bartviz.text.labels import CONTINUES, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bartviz.analysis.inputs import Inputs, Split, Stack
    from bartviz.analysis.positions import Floats
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket
    from bartviz.text.tokens import Tokens

LOOKS = {
    "pieces": mark("pieces"),
    "sum": mark("embeddings"),
    "positions": mark("positions"),
    "tokenizers": mark("tokenizers"),
    "contexts": mark("one word, two texts"),
}
STACKS: tuple[Stack, ...] = ("encoder", "decoder")
TWO, THIRD = ("bart-tiny-en-de", "bert-tiny-en"), "bart-tiny-denoise"
# First the long words: everyday ones are cut alike by all tokenizers.
TEXTS = {"long": mark("long words"), "own": mark("current text"), "korean": mark("Korean"), "emoji": mark("emoji")}
SAMPLES = {
    "korean": "나는 오늘 새 자동차를 사고 싶어요.",
    "emoji": "I ❤️ pizza 🍕 with my family 👨‍👩‍👧!",
    "long": "The Donaudampfschifffahrtsgesellschaft is antidisestablishmentarianism, untranslatably.",
}
RARER = "The unforgettable octopus smiled."  # cut by the tokenizers of all models that ship
MOST = 128  # positions in the maps


def choose(record: Record) -> tuple[str, Stack]:
    """The pickers: the part of the page, and the stack whose inputs are shown."""
    first, second = st.columns([4, 1.4], vertical_alignment="center")
    with first:
        look = pick.one_of(_("Look at"), named(LOOKS), key="look")
    stacks = {str(name): sentence_words.kind(name) for name in STACKS if name in record.kinds}
    with second:
        both = len(stacks) > 1 and look not in ("tokenizers", "contexts")
        # a beginner sees those of the text that is read; a link, which the picker holds, may ask for the others
        with st.container(key="inputs_stack" if levels.at_least("intermediate") else "inputs_held"):
            stack = pick.one_of(_("Side"), stacks, key="stack") if both else next(iter(stacks))
    return look, cast("Stack", stack)


def tokens_of(record: Record, stack: Stack) -> Tokens:
    return record.attention(stack).query


# What a sign of the picture means, by the HTML that it is there with.
SIGNS = {
    f">{CONTINUES}<": mark("⋯ continues a word."),
    "bv-unknown": mark("A dashed frame marks a piece that is not in the vocabulary."),
}


def roles_of(record: Record, stack: Stack) -> tuple[str | None, ...]:
    """Of a chat, whose message each token belongs to; empty for other texts."""
    return record.roles() if record.turns and stack == "decoder" else ()


def cut(
    tokens: Tokens,
    texts: tuple[str, ...],
    *,
    unknown: tuple[bool, ...] | None = None,
    label: str = "",
    roles: Sequence[str | None] = (),
    colors: Sequence[int] = (),
) -> str:
    """HTML of the text cut into pieces: each word whole, its pieces below it, and their ids below those. Escaped.
    ``roles``: of a chat, whose message each piece belongs to; ``colors``: the number of the colour of each word, or
    role."""
    drawn, wide = [], 0.0
    for group in word_groups(tokens):
        columns, below = [], 0.0
        for i in group:
            name = tokens.labels[i].removeprefix(CONTINUES) or CONTINUES if tokens.joined[i] else tokens.labels[i]
            in_text = tokens.spans[i] is not None
            is_unknown = unknown[i] if unknown is not None else tokens.pieces[i] in ("[UNK]", "<unk>") and in_text
            chip = "bv-chip" + " bv-special" * bool(tokens.special[i]) + " bv-unknown" * bool(is_unknown)
            tooltip = _(
                "piece {piece}, id {id}, segment {segment}",
                piece=tokens.pieces[i],
                id=tokens.ids[i],
                segment=int(tokens.segments[i]),
            )
            role = roles[i] if roles else None
            tooltip += "" if role is None else f", {role}"
            number = colors[i] if len(colors) else NONE
            under = "" if number == NONE else f" style='{underline(number)}'"
            below += 0.75 + 0.62 * max(theme.width(name), 1) * (0.74 if tokens.special[i] else 1)
            columns.append(
                f"<span class='bv-piece' title='{html.escape(tooltip, quote=True)}'>"
                f"<span class='{chip}'{under}>{html.escape(name) or '&nbsp;'}</span>"
                f"<span class='bv-id'>{tokens.ids[i]}</span></span>"
            )
        written = _written(tokens, group, texts)
        wide += max(below, 0.6 * theme.width(written)) + 0.3
        box = "bv-from bv-written" if written else "bv-from"
        drawn.append(
            f"<span class='bv-word'><span class='{box}'>{html.escape(written) or '&nbsp;'}"
            f"</span><span class='bv-pieces'>{''.join(columns)}</span></span>"
        )
    above = f"<p class='bv-do'>{html.escape(label)}</p>" if label else ""
    return (
        f"{above}<div class='bv-room'><div class='bv-cut' dir='{tokens.direction}' tabindex='0' "
        f"style='--wide:{wide:.1f}'>{''.join(drawn)}</div></div>"
    )


def _written(tokens: Tokens, group: Sequence[int], texts: tuple[str, ...]) -> str:
    """The characters of a word's tokens; empty where none belong to them."""
    spans = [span for i in group if (span := tokens.spans[i]) is not None]
    segment = int(tokens.segments[group[0]])
    return visible(texts[segment][spans[0][0] : spans[-1][1]]) if spans and segment < len(texts) else ""


def pieces(record: Record, stack: Stack) -> None:
    """The text, its pieces and their ids below each other; then the table."""
    tokens = tokens_of(record, stack)
    read = record.source_text if stack == "encoder" or record.cross is None else record.target_text or ""
    roles = roles_of(record, stack)
    colors = pick.colors_of_words(record)
    side = colors.source if stack == "encoder" else colors.reads
    drawn = cut(tokens, _texts(tokens, read), roles=roles, colors=side if len(side) == len(tokens) else ())
    st.html(drawn)
    notes = [_("From top to bottom: the words, their pieces, and the numbers (ids) that the model gets.")]
    if marks := analysis.marks_sentence([tokens]):
        notes.append(marks)
    notes += [_(meaning) for sign, meaning in SIGNS.items() if sign in drawn]
    if len(set(tokens.segments.tolist())) > 1:
        notes.append(_("Its two sentences are two segments."))
    if any(roles):
        order = ", ".join(dict.fromkeys(role for role in roles if role is not None))
        notes.append(_("The line under a piece shows whose message it belongs to: {roles}.", roles=order))
    if stack != "encoder" and record.cross is not None:
        notes.append(_("The decoder reads its own output, shifted by one position after a start token."))
    show.note(" ".join(notes))
    if levels.at_least("intermediate"):  # the picture is text already
        show.table(analysis.pieces(tokens, roles), title=_("Every piece as a table"))


def wants_rarer(record: Record, tokens: Tokens) -> bool:
    """Whether no word of the text is cut, and the model ships, so that its tokenizer can be asked for another text."""
    known = entry(record.model.name)
    return known is not None and known.source == "embedded" and analysis.most_cut(tokens) is None


def rarer(model: str) -> None:
    """A text with rare words, cut by the tokenizer of that model."""
    found = _split("rarer", model, RARER)
    if found is not None and (words := analysis.cut_words(found.tokens)):
        built = [_("“{word}” from {count}", word=word, count=count) for word, count in words]
        said = plural(
            "A word that is not in the vocabulary is built from pieces: {words}.",
            "Words that are not in the vocabulary are built from pieces: {words}.",
            len(words),
            words=", ".join(built),
        )
        show.what_to_do(said)
        st.html(cut(found.tokens, _texts(found.tokens, RARER), unknown=tuple(found.unknown.tolist())))


def _split(name: str, model: str, text: str) -> Split | None:
    """The text as the tokenizer of that model splits it; None while the model is loaded."""

    def work(loaded: Model, ticket: Ticket[Split]) -> Split:
        from bartviz.experiments.embeddings import split

        return split(loaded, text)

    return tasks.ask(f"split_{name}", model, {"text": text}, work)


def _texts(tokens: Tokens, text: str) -> tuple[str, ...]:
    """The text if the spans fit it; otherwise only the pieces are shown."""
    ends = [
        span[1]
        for span, segment in zip(tokens.spans, tokens.segments, strict=True)
        if span is not None and segment == 0
    ]
    return (text,) if max(ends, default=0) <= len(text) else ()


def summed(record: Record, stack: Stack) -> Inputs | None:
    """The embeddings of the record's tokens; None while the model is running. Raises WeightsOnlyError."""
    record.expect_model()

    def work(model: Model, ticket: Ticket[Inputs]) -> Inputs:
        from bartviz.experiments import embeddings

        ticket.report(later("Reading the embeddings, and running the model once to compare"))
        return embeddings.inputs(model, record, stack=stack, cancelled=ticket.cancelled)

    tokens = tokens_of(record, stack)
    key = {
        "stack": stack,
        "model": record.model.fingerprint,
        "ids": tokens.ids.tolist(),
        "other": record.source.ids.tolist(),
        "segments": record.source.segments.tolist(),
    }
    return tasks.ask("inputs", record.model.name, key, work)


def parts(embedded: Inputs) -> None:
    """The lengths of the parts; how they are summed, and the self-check, are for beginners only where it failed."""
    alt = _(
        "Lengths of {parts} for {count} tokens.", parts=", ".join(analysis.norms(embedded)), count=len(embedded.tokens)
    )
    show.figure(partial(inputs, embedded, dark=page.dark()), key="inputs_sum", alt=alt)
    show.note(
        _("A bar is as high as the token's vector is long: one scale for the parts and their sum, another after that.")
        if len(analysis.norms(embedded)) > len(embedded.parts) + 1
        else _("A bar is as high as the token's vector is long: one scale for the parts and their sum.")
    )
    if embedded.passed and not levels.at_least("intermediate"):
        show.table(analysis.table(embedded))
        return
    check = _(
        "Self-check: the network's own first hidden state differs by at most {error:.1e} (limit {limit:.0e}): "
        "{verdict}.",
        error=embedded.error,
        limit=analysis.LIMIT,
        verdict=_("ok") if embedded.passed else _("NOT the same"),
    )
    notes = [f"{analysis.formula(embedded)}.", check]
    if embedded.rows is not None:
        notes.append(_("Row {row} of the position table is the first that is read.", row=embedded.rows[0]))
    show.note(" ".join(notes))
    show.table(analysis.table(embedded))


def positions(record: Record, embedded: Inputs) -> Floats | None:
    """The position table next to a sinusoidal one, and shifts in both; for T5 its bias. Returns the table's rows."""
    if embedded.table is None:
        attention = record.attention(embedded.stack)
        bias = attention.bias_of(0)
        if bias is None:
            show.note(
                _(
                    "This model has no position embeddings. It rotates queries and keys by their positions, so that "
                    "their product depends on the distance; a record holds them after that."
                )
            )
            return None
        show.note(
            _(
                "This model has no position embeddings. A number for each distance is added to the scores of "
                "every head, the same in all layers; long distances share one."
            )
            if attention.bias_of(0) is attention.bias
            else _(
                "This model has no position embeddings. A number for each distance is added to the scores of every "
                "head; each layer has its own, and those of layer 0 are shown."
            )
        )
        alt = _("The bias of {count} heads by distance.", count=len(bias))
        drawn = show.figure(partial(relative, bias, embedded.stack, dark=page.dark()), key="inputs_bias", alt=alt)
        show.downloads("inputs-bias", title=_("Position bias"), of=embedded.stack, arrays={"bias": bias}, figure=drawn)
        return None
    table = shown(embedded)
    learned = record.model.known.positions != "sinusoidal"
    name = _("learned") if learned else _("this model's (sinusoidal)")
    if not record.model.trained:
        st.warning(
            _("This model looks untrained: all normalisation gains are still about 1. If so, its positions are random.")
        )
    alt = _("Similarities of {count} positions, {name} and sinusoidal.", count=len(table), name=name)
    show.figure(partial(maps, table, name=name, dark=page.dark()), key="inputs_positions", alt=alt)
    if len(table) < 8:
        return table
    with levels.aside(_("More: is a shift by one position a linear map?"), key="inputs_shift") as opened:
        if opened:
            _shift(table, learned=learned)
    return table


def _shift(table: Floats, *, learned: bool) -> None:
    """How well one linear map moves every position of the table by as much."""
    shifts = of_positions.shift(table)
    st.subheader(_("Is a shift by one position a linear map?"), anchor=False)
    own = _("This model itself uses sinusoidal positions.")
    show.note(of_positions.shift_sentence(shifts) if learned else own)
    show.figure(partial(shift, shifts, dark=page.dark()), key="inputs_shift", alt=_("The error of a linear shift."))
    show.table(of_positions.shift_table(shifts), key="shifts")


def near(table: Floats) -> str:
    """How similar neighbouring and distant positions are in this table."""
    alike = of_positions.similarity(table)
    far = max(len(table) // 2, 1)
    near, distant = (float(alike.diagonal(step).mean()) if len(table) > step else 1.0 for step in (1, far))
    if near > distant + 0.05:
        return _(
            "Neighbouring positions are alike (mean cosine {near:.2f}); positions {far} apart less so ({distant:.2f}).",
            near=near,
            far=far,
            distant=distant,
        )
    return _(
        "Neighbouring positions are no more alike ({near:.2f}) than positions {far} apart ({distant:.2f}).",
        near=near,
        far=far,
        distant=distant,
    )


def shown(embedded: Inputs) -> Floats:
    """The rows of the position table up to the slider's position (URL ``rows``)."""
    assert embedded.table is not None
    most = min(len(embedded.table), MOST)
    hint = _("Positions beyond the length of the training texts are hardly trained.")
    count = 1 + pick.index(_("Last position"), most, key="rows", default=max(min(most, 64) - 1, 7), hint=hint)
    return embedded.table[: max(count, min(8, most))]


def tokenizers(record: Record) -> tuple[Split, ...]:
    """The same text through three tokenizers, one below the other; returns those that are ready."""
    first, second = st.columns([2.2, 1.6], vertical_alignment="bottom")
    with first:
        which = pick.one_of(_("Text"), named(TEXTS), key="sample")
    with second:
        third = _third(record)
    text = record.source_text if which == "own" else SAMPLES[which]
    splits: list[Split] = []
    for number, name in enumerate((*TWO, third)):
        with st.container(key=f"inputs_split_{number}"):
            tokenized = _split(str(number), name, text)
            if tokenized is None:
                continue
            splits.append(tokenized)
            which = (
                mark("{model}: {how}, vocabulary {vocabulary:,}: {count} tokens, {unknown} of them unknown")
                if tokenized.unknown.any()
                else mark("{model}: {how}, vocabulary {vocabulary:,}: {count} tokens, none unknown")
            )
            label = _(
                which,
                model=tokenized.model,
                how=_(tokenized.how),
                vocabulary=tokenized.vocabulary,
                count=tokenized.count,
                unknown=int(tokenized.unknown.sum()),
            )
            st.html(
                cut(
                    tokenized.tokens,
                    _texts(tokenized.tokens, text),
                    unknown=tuple(tokenized.unknown.tolist()),
                    label=label,
                )
            )
    if splits:
        show.table(analysis.splits(tuple(splits)), title=_("The tokenizers as a table"))
    return tuple(splits)


def _third(record: Record) -> str:
    """The third tokenizer: the current model's, else the denoiser's, or one of a folder (URL ``third``)."""
    folders = [name for name in listed(default_roots()) if entry(name) is None]
    names = list(dict.fromkeys([*([] if record.model.name in TWO else [record.model.name]), THIRD, *folders]))
    return pick.select(_("Third tokenizer from"), names, key="third")


def split_sentence(splits: tuple[Split, ...]) -> str:
    """How many pieces each tokenizer makes, the fewest first, and the unknown ones among them."""
    if len(splits) < 2:
        return _("The same text, cut by three tokenizers.")
    least, *others = sorted(splits, key=lambda split: split.count)
    lost = [split for split in splits if split.unknown.any()]
    clauses = [_("All need {count} tokens", count=least.count)]
    if any(split.count > least.count for split in others):
        more = ", ".join(_("{model} {count}", model=split.model, count=split.count) for split in others)
        clauses = [_("{model} needs {count} tokens, {more}", model=least.model, count=least.count, more=more)]
    clauses += [
        _("{model} does not know {count} of its pieces", model=split.model, count=int(split.unknown.sum()))
        for split in lost
    ]
    return f"{_cut_alike(splits)} {'; '.join(clauses)}."


def _cut_alike(splits: tuple[Split, ...]) -> str:
    """Which of the tokenizers cut the text into the same pieces."""
    by_pieces: dict[tuple[str, ...], list[str]] = {}
    for split in splits:
        by_pieces.setdefault(split.tokens.pieces, []).append(split.model)
    alike = max(by_pieces.values(), key=len)
    if len(alike) == 1:
        return _("Three models cut the same text, each in its own way.")
    if len(by_pieces) == 1:
        return _("Three models cut the same text alike.")
    return _("Three models cut the same text, {one} and {other} alike.", one=alike[0], other=alike[1])
