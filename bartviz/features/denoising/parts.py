"""The parts of the denoising page: the three lines, tokens, attention, BERT for comparison, all five noises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import streamlit as st

from bartviz.analysis import repairs, sentence_words
from bartviz.app.components.invisible import unseen
from bartviz.app.controls import pick, show, tasks
from bartviz.app.frame import levels, page
from bartviz.app.frame.fill_masks import FILLER
from bartviz.app.frame.status import facts
from bartviz.drawing.heads import one
from bartviz.families.bert import BERT
from bartviz.families.catalogue import EMBEDDED, entry
from bartviz.features.denoising.figure import NAMES, denoising, pair
from bartviz.features.denoising.figure import attention as both
from bartviz.features.denoising.parts_chips import LEGEND, guess_lines, repair_lines
from bartviz.features.denoising.parts_noise import Chosen, switch
from bartviz.language import _, later, mark, named
from bartviz.record.attention import Head

if TYPE_CHECKING:
    from bartviz.analysis.repairs import Repair, Score
    from bartviz.experiments.repair import Guess
    from bartviz.models.model import Model
    from bartviz.record.attention import Kind
    from bartviz.serving.gate import Ticket

LOOKS = {
    "attention": mark("attention"),
    BERT.name: mark("compare with BERT"),
    "noises": mark("all five kinds of damage"),
    "tokens": mark("given the original"),
}
WEIGHTS = {"head": mark("one head"), "layer": mark("mean of a layer"), "all": mark("mean of all")}
_TOUCH = unseen("denoising_touch", Path(__file__).with_name("touch.js"))
_TOUCHED = "denoising_touched"
KINDS: tuple[Kind, ...] = ("cross", "encoder")


def repaired(chosen: Chosen) -> Repair | None:
    """The corruption and its repair; None while the model is running."""

    def work(model: Model, ticket: Ticket[Repair]) -> Repair:
        from bartviz.experiments.repair import repair

        def progress(done: int, total: int) -> None:
            ticket.report(
                later(
                    "Reading the clean and the corrupted text, then writing: pass {done} of {total}",
                    done=done + 1,
                    total=total,
                )
            )

        return repair(
            model,
            chosen.text,
            chosen.noise,
            rate=chosen.rate,
            seed=chosen.seed,
            hidden=chosen.hidden,
            cancelled=ticket.cancelled,
            on_progress=progress,
        )

    return tasks.ask("repair", chosen.model, chosen.key, work)


def lines(chosen: Chosen, repair: Repair, *, touchable: bool) -> None:
    """Original, corrupted and reconstructed text: what the model writes by itself. ``touchable``: a touch on a word
    hides it, and one on a gap shows what it hides."""
    drawn = repair_lines(repair, touchable=touchable)
    st.html(drawn)
    if touchable:
        told = {"box": "denoising_lines", "lost": list(repair.noised.lost)}
        _TOUCH(key=_TOUCHED, data=told, on_words_change=partial(_touched, chosen, repair))
    legend = [_(said) for name, said in LEGEND.items() if name in drawn]
    if repair.noised.moved:
        legend.append(_("Small numbers: the word's place in the original."))
    if legend:
        show.what_to_do(" ".join(legend))
    if levels.at_least("intermediate"):
        show.note(f"{repair.given.model.name}: {'; '.join(facts(repair.given))}.")
    for notice in repair.notices:
        show.note(_(notice))
    if not repair.given.model.trained:
        st.warning(
            _("This model looks untrained: all normalisation gains are still about 1. If so, its repairs are random.")
        )


def _touched(chosen: Chosen, repair: Repair) -> None:
    """Hide or show the words that were touched: a callback. What a browser sends is untrusted."""
    sent = st.session_state.get(_TOUCHED, {}).get("words")
    switch(chosen, repair.noised.lost, str(sent), len(repair.noised.clean))


def look(chosen: Chosen, repair: Repair) -> None:
    """More about this repair (URL ``look``); the score under teacher forcing is not offered to beginners."""
    parts: dict[str, Callable[[], None]] = {
        "tokens": lambda: tokens(repair),
        "attention": lambda: attention(repair),
        BERT.name: lambda: filled(repair),
        "noises": lambda: noises(chosen),
    }
    detailed = levels.at_least("intermediate") or st.query_params.get("look") in ("tokens", LOOKS["tokens"])
    looks = {word: name for word, name in LOOKS.items() if detailed or word != "tokens"}
    with levels.aside(_("More: attention, BERT, all five kinds of damage"), key="look", names=("look",)) as opened:
        if opened:
            parts[pick.one_of(_("Look at"), named(looks), key="look")]()
            show.table(repairs.table(repair), title=_("The three lines as a table"))


def tokens(repair: Repair) -> None:
    """The probability of each original token when the original is given: the score of the repair."""
    score, (best, lost) = repair.score, repair.score.of_lost
    alt = _(
        "Probabilities of {count} tokens; {right} are the model's best guess.",
        count=len(score.labels),
        right=score.right.sum(),
    )
    show.figure(partial(denoising, repair, dark=page.dark()), key="denoising_tokens", alt=alt)
    show.note(
        _(
            "Another question than above: here the model is given the original, token by token (teacher forcing), "
            "and mistakes do not carry over. In the third line it continues from its own words."
        )
    )
    show.note(
        _(
            "Given the original token by token: {right} of {all} tokens are the best guess (accuracy {accuracy:.3f}); "
            "of the {lost} that were lost or moved, {best} are. Loss {loss:.3f} nats a token.",
            right=score.right.sum(),
            all=len(score.labels),
            accuracy=score.accuracy,
            lost=lost,
            best=best,
            loss=score.loss,
        )
    )
    show.table(repairs.token_table(score), title=_("Every token as a table"))
    show.downloads(
        "denoising-tokens",
        title=_("Every token that was asked for"),
        table=lambda: repairs.token_table(score),
        arrays=lambda: repairs.arrays(repair),
    )


def attention(repair: Repair) -> None:
    """One head, or a mean, on the original and on the corrupted text."""
    first, second, third, fourth, fifth = st.columns([1.3, 2.3, 0.9, 0.9, 1.7], vertical_alignment="center")
    with first:
        kind = cast(
            "Kind", pick.one_of(_("Attention"), {kind: sentence_words.kind_alone(kind) for kind in KINDS}, key="kind")
        )
    with second:
        weights = pick.one_of(_("Weights"), named(WEIGHTS), key="mean_of")
    layer, head, usual = None, None, pick.first_head(repair.given, kind)
    if weights != "all":
        with third:
            layer = pick.layer(repair.given, kind, default=usual.layer)
    if weights == "head":
        with fourth:
            head = pick.head(repair.given, kind, default=usual.head)
    with fifth:
        words = pick.by_words(default=True)
    shown = pair(repair, kind, layer, head, words=words)
    for column, view, label in zip(st.columns(2, gap="small"), shown, NAMES, strict=True):
        with column:
            show.note(f"{view.name}, {_(label)}")
            alt = _(
                "Weights of {head} on {text}: {rows} rows, {columns} columns.",
                head=view.name,
                text=_(label),
                rows=len(view.query_labels),
                columns=len(view.key_labels),
            )
            figure = partial(one, view, height=430, dark=page.dark())
            show.figure(figure, key=f"denoising_{NAMES.index(label)}", alt=alt)
    share = repairs.mask_share(shown[1])
    sentences = [_("A row attends to columns.")]
    if Head(kind, layer or 0, head or 0) == usual and weights == "head":
        said = mark("{head} is the head that every page shows first for this text in {model}.")
        sentences.insert(0, _(said, head=levels.head_name(usual), model=repair.given.model.name))
    sentences.append(
        _("There is no mask to look at.")
        if share is None
        else _(
            "{share:.0%} of this attention goes to masks; spread evenly, it would be {even:.0%}.",
            share=share[0],
            even=share[1],
        )
    )
    if kind == "cross":
        sentences.append(_("Rows of cross-attention are named by the token they predict."))
    show.note(" ".join(sentences))
    which = "mean" if layer is None else f"L{layer}-mean" if head is None else f"L{layer}H{head}"
    show.downloads(
        "denoising-attention",
        title=_("Attention to the original and to the corrupted text"),
        of=f"{kind}-{which}",
        arrays=lambda: repairs.attention_arrays(*shown),
        figure=lambda: both(repair, kind, layer, head, words=words, dark=page.dark()),
    )


def filled(repair: Repair) -> None:
    """BERT's guess for each mask, next to BART's words."""
    masks = [word for word in repair.noised.words if word.is_mask]
    if not masks:
        show.note(
            _(
                "This corruption has no mask, so BERT has nothing to fill: it needs a mask wherever "
                "something is missing, and fills each with one token. Choose masking or infilling."
            )
        )
        return
    text = repair.noised.text

    def work(model: Model, ticket: Ticket[tuple[Guess, ...]]) -> tuple[Guess, ...]:
        from bartviz.experiments.repair import guesses

        ticket.report(later("BERT reads the same text"))
        return guesses(model, text, cancelled=ticket.cancelled)

    answer = tasks.ask("guesses", FILLER, {"text": text}, work)
    if answer is None:
        return
    st.html(guess_lines(repair, [one.candidates for one in answer]))
    explanation = _(
        "{model} reads lower-case English and fills each mask independently with one token: it cannot know "
        "that an infilling mask stands for several words, or for none. BART writes as many as it needs.",
        model=FILLER,
    )
    limit = _("It reads {count} of {all} masks.", count=len(answer), all=len(masks)) if len(answer) < len(masks) else ""
    show.note(f"{explanation} {limit}".rstrip())
    show.downloads(
        "denoising-guesses",
        title=_("BERT’s guesses"),
        table=lambda: repairs.guess_table([one.candidates for one in answer]),
    )


def noises(chosen: Chosen) -> None:
    """All five noise functions on this text, each at its own rate."""

    def work(model: Model, ticket: Ticket[Mapping[str, Score]]) -> Mapping[str, Score]:
        from bartviz.experiments.repair import all_noises

        def progress(done: int, total: int) -> None:
            ticket.report(later("Noise {done} of {total}", done=done + 1, total=total), done / total)

        return all_noises(model, chosen.text, seed=chosen.seed, cancelled=ticket.cancelled, on_progress=progress)

    key = {name: value for name, value in chosen.key.items() if name not in ("noise", "rate", "hidden")}
    scores = tasks.ask("noises", chosen.model, key, work)
    if scores is None:
        return
    path = EMBEDDED / chosen.model / "README.md"
    known = repairs.card(path.read_text(encoding="utf-8")) if entry(chosen.model) and path.is_file() else {}
    frame = repairs.noise_table(scores, known)
    digits = show.headers(frame)
    for name in frame.columns:
        if "acc" in name or "loss" in name:
            digits[name] = st.column_config.NumberColumn(digits[name], format="%.3f")
    st.dataframe(frame if known else frame.iloc[:, :-2], hide_index=True, column_config=digits)
    notes = [_("Each noise at BART's own share, with this seed; accuracy and loss under teacher forcing.")]
    if known:
        notes.append(_("The last two columns are from its model card: 1,500 texts outside its training data."))
    show.note(" ".join(notes))
    show.downloads("denoising-noises", title=_("All five noise functions"), table=frame)
