"""The parts of the denoising page: text and noise, the three lines, tokens, attention, BERT beside, all five noises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

import streamlit as st

from bartviz.analysis import repairs
from bartviz.analysis.denoising import MASK, NOISE, sentences
from bartviz.catalogue import EMBEDDED, entry
from bartviz.figures.denoising import NAMES, denoising, pair
from bartviz.figures.heads import one
from bartviz.ui import page, pick, show, tasks
from bartviz.ui.repaired import guess_lines, repair_lines
from bartviz.ui.status import facts

if TYPE_CHECKING:
    from bartviz.analysis.repairs import Repair, Score
    from bartviz.gate import Ticket
    from bartviz.models import Model
    from bartviz.record import Kind, ModelInfo, Record
    from bartviz.repair import Guess

T = TypeVar("T")
DENOISER, FILLER = "bart-tiny-denoise", "bert-tiny-en"
DENOISERS = (DENOISER, "facebook/bart-base", "facebook/bart-large")
SHORT = {
    "text infilling": "infilling", "token masking": "masking", "token deletion": "deletion",
    "sentence permutation": "permutation", "document rotation": "rotation",
}  # fmt: skip
SENTENCE = "The children are playing in the garden because the weather is good today."
STORY = "The king had three sons. One day he sent them out into the world. Only the youngest came home again."
TEXTS = {"own": "yours", "sentence": "one sentence", "story": "three sentences"}
LOOKS = {
    "tokens": "token by token", "attention": "attention", "bert": "BERT beside it", "noises": "all five noises",
}  # fmt: skip
WEIGHTS = {"head": "one head", "layer": "mean of a layer", "all": "mean of all"}
KINDS = {"cross": "Cross", "encoder": "Encoder"}
COPIES = (2, 4)  # the head of bart-tiny-denoise that looks at the token to copy, by its card
SEED, MOST_SEED = "noise_seed", 9999


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is repaired, by which model, and how it is corrupted."""

    model: str
    text: str
    noise: str
    rate: float | None
    seed: int

    @property
    def key(self) -> dict[str, object]:
        """All that a repair depends on besides the model's weights."""
        return {"model": self.model, "text": self.text, "noise": self.noise, "rate": self.rate, "seed": self.seed}


def denoiser(info: ModelInfo) -> str:
    """The model that repairs: the chosen one where it is a BART that may have learned to, else the one that ships."""
    fits = info.family == "bart" and (info.name in DENOISERS or entry(info.name) is None)
    return info.name if fits else DENOISER


def choose(record: Record) -> Chosen:
    """The pickers: noise, share, seed, text; and a line that says which model repairs, where it is another one."""
    first, second = st.columns([3, 1.7], vertical_alignment="center")
    with first:
        short = pick.one_of("Noise", list(SHORT.values()), key="noise")
    noise = next(name for name, word in SHORT.items() if word == short)
    with second:
        which = pick.one_of("Text", TEXTS, key="text_of", default=_first_text(record))
    third, fourth, fifth, sixth = st.columns([2, 1, 1, 2.6], gap="medium", vertical_alignment="center")
    with third:
        rate = _rate(noise, short)
    with fourth:
        seed = _seed()
    with fifth:
        st.button("Draw again", on_click=_again, width="stretch", help="The next seed: other words are lost.")
    text = {"own": record.source_text, "sentence": SENTENCE, "story": STORY}[which]
    told = [NOISE[noise].summary, *_said(record, which, noise, text)]
    chosen = Chosen(denoiser(record.model), SENTENCE if MASK in text or "[MASK]" in text else text, noise, rate, seed)
    with sixth:
        show.note(" ".join(told))
    return chosen


def _first_text(record: Record) -> str:
    text = record.source_text
    return "sentence" if MASK in text or "[MASK]" in text else "own"


def _said(record: Record, which: str, noise: str, text: str) -> list[str]:
    """What a reader should know of this choice."""
    told, name = [], record.model.name
    if denoiser(record.model) != name:
        told.append(f"{name} was not made to repair texts, so {DENOISER} does it here.")
    elif name not in DENOISERS:
        told.append(f"Whether {name} was trained to repair texts is not known.")
    if which == "own" and (MASK in text or "[MASK]" in text):
        told.append("Your text has masks already; this page needs a whole one, so an example stands in.")
    elif noise == "sentence permutation" and len(sentences(text)) < 2:
        told.append("This text is one sentence: take three sentences.")
    return told


def _rate(noise: str, short: str) -> float | None:
    own = NOISE[noise].rate
    if own is None:
        show.note("This noise has no share: it moves the words, and all of them stay.")
        return None
    hint = f"Of the words; BART's own choice here is {own:.0%}."
    return pick.index("Share lost, %", 101, key=f"share_{short}", default=round(100 * own), hint=hint) / 100


def _seed() -> int:
    held = st.session_state.get(SEED)
    if held is not None:
        st.session_state[SEED] = min(max(int(held), 0), MOST_SEED)
    hint = "The same seed loses the same words."
    return int(st.number_input("Seed", 0, MOST_SEED, 1, key=SEED, bind="query-params", help=hint))


def _again() -> None:
    st.session_state[SEED] = (int(st.session_state.get(SEED, 1)) + 1) % (MOST_SEED + 1)


def _ask(
    name: str, model: str, key: Mapping[str, object], work: Callable[[Model, Ticket[T]], T], size: Callable[[T], int]
) -> T | None:
    """The answer of a task with these settings, begun here if nobody has; None while it is not there."""
    begin = (name, model, dict(key), work, size)
    if tasks.begun(name) != dict(key):
        tasks.begin(*begin)
    found: T | None = tasks.show(name, key)
    if found is None and tasks.ended(name):
        st.button("Try it again", key=f"again_{name}", on_click=tasks.begin, args=begin)
    return found


def repaired(chosen: Chosen) -> Repair | None:
    """The corruption and its repair; None while the model works."""

    def work(model: Model, ticket: Ticket[Repair]) -> Repair:
        from bartviz.repair import repair

        def progress(done: int, total: int) -> None:
            ticket.report(f"Reading the text whole and corrupted, then writing: pass {done + 1} of {total}")

        return repair(
            model, chosen.text, chosen.noise, rate=chosen.rate, seed=chosen.seed, cancelled=ticket.cancelled,
            on_progress=progress,
        )  # fmt: skip

    return _ask("repair", chosen.model, chosen.key, work, lambda found: found.nbytes)


def lines(found: Repair) -> None:
    """Original, corrupted, reconstructed; and how the repair is scored."""
    st.html(repair_lines(found))
    numbers = "" if not found.noised.moved else " Small numbers: the word's place in the original."
    show.note(f"Struck through: lost. ✓ back in its place, ✗ another word, + added, ∅ nothing.{numbers}")
    told, (back, lost) = found.score, found.score.of_lost
    show.note(
        f"Given the original token by token: {told.right.sum()} of {len(told.labels)} tokens are the best guess "
        f"(accuracy {told.accuracy:.3f}); of the {lost} that were lost or moved, {back}. Loss {told.loss:.3f} nats a "
        f"token. {found.given.model.name}: {'; '.join(facts(found.given))}."
    )
    for notice in found.notices:
        show.note(notice)
    if not found.given.model.trained:
        st.warning("This model is untrained: random weights, so it cannot repair anything.")


def look(chosen: Chosen, found: Repair) -> None:
    """The part below the lines (URL ``look``)."""
    parts: dict[str, Callable[[], None]] = {
        "tokens": lambda: tokens(found), "attention": lambda: attention(found),
        "bert": lambda: bert(found), "noises": lambda: noises(chosen),
    }  # fmt: skip
    parts[pick.one_of("Look at", LOOKS, key="look")]()


def tokens(found: Repair) -> None:
    """The probability of each token of the original."""
    told = found.score
    alt = f"Probabilities of {len(told.labels)} tokens; {told.right.sum()} are the model's best guess."
    show.figure(denoising(found, dark=page.dark()), key="denoising_tokens", alt=alt)
    show.note(
        "Teacher forcing: each token is judged after the true ones before it, so a mistake is not carried on. "
        "Written by itself, the model goes on from its own words (the third line above)."
    )
    show.table(repairs.token_table(told), title="Every token as a table")
    show.downloads("denoising-tokens", table=lambda: repairs.token_table(told), arrays=lambda: repairs.arrays(found))


def attention(found: Repair) -> None:
    """One head, or a mean, on the clean text and on the corrupted one."""
    first, second, third, fourth, fifth = st.columns([1.3, 2.3, 0.9, 0.9, 1.7], vertical_alignment="center")
    with first:
        kind = cast("Kind", pick.one_of("Attention", KINDS, key="kind"))
    with second:
        weights = pick.one_of("Weights", WEIGHTS, key="weights")
    name, layer, head = found.given.model.name, None, None
    layers = found.given.attention(kind).shape[0]
    layer_, head_ = COPIES if name == DENOISER and kind == "cross" else (layers // 2, 0)
    if weights != "all":
        with third:
            layer = pick.layer(found.given, kind, default=layer_)
    if weights == "head":
        with fourth:
            head = pick.head(found.given, kind, default=head_)
    with fifth:
        words = pick.by_words(default=True)
    shown = pair(found, kind, layer, head, words=words)
    for column, view, told in zip(st.columns(2, gap="small"), shown, NAMES, strict=True):
        with column:
            show.note(f"{view.name}, {told}")
            alt = f"Weights of {view.name} on {told}: {len(view.query_labels)} rows, {len(view.key_labels)} columns."
            figure = one(view, height=430, dark=page.dark())
            show.figure(figure, key=f"denoising_{NAMES.index(told)}", alt=alt)
    share = repairs.mask_share(shown[1])
    told = "There is no mask to look at." if share is None else (
        f"{share[0]:.0%} of this attention goes to masks; spread evenly it would be {share[1]:.0%}."
    )  # fmt: skip
    rows = " Rows of cross-attention are named by the token they predict." if kind == "cross" else ""
    show.note(f"A row attends to columns. {told}{rows}")


def bert(found: Repair) -> None:
    """What BERT puts for each mask, beside what BART wrote there."""
    masks = [word for word in found.noised.words if word.is_mask]
    if not masks:
        show.note(
            "There is no mask in this corruption, so BERT has nothing to do: it must be told where something is "
            "missing, and for each place one token. Choose masking or infilling."
        )
        return
    text = found.noised.text

    def work(model: Model, ticket: Ticket[tuple[Guess, ...]]) -> tuple[Guess, ...]:
        from bartviz.repair import guesses

        ticket.report("BERT reads the same text")
        return guesses(model, text, cancelled=ticket.cancelled)

    answer = _ask("guesses", FILLER, {"text": text}, work, lambda made: 2_000 * len(made) + 200)
    if answer is None:
        return
    st.html(guess_lines(found, [one.candidates for one in answer]))
    cut = f" It reads {len(answer)} of {len(masks)} masks." if len(answer) < len(masks) else ""
    show.note(
        f"{FILLER} reads English in small letters and puts one token for each mask, all at once: it cannot know that "
        f"a mask of infilling stands for several words, or for none. BART writes as many as it likes.{cut}"
    )


def noises(chosen: Chosen) -> None:
    """All five noise functions on this text, each at its own rate."""

    def work(model: Model, ticket: Ticket[Mapping[str, Score]]) -> Mapping[str, Score]:
        from bartviz.repair import all_noises

        def progress(done: int, total: int) -> None:
            ticket.report(f"Noise {done + 1} of {total}", done / total)

        return all_noises(model, chosen.text, seed=chosen.seed, cancelled=ticket.cancelled, on_progress=progress)

    key = {name: value for name, value in chosen.key.items() if name not in ("noise", "rate")}
    found = _ask("noises", chosen.model, key, work, lambda made: sum(200 * len(one.labels) for one in made.values()))
    if found is None:
        return
    path = EMBEDDED / chosen.model / "README.md"
    known = repairs.card(path.read_text(encoding="utf-8")) if entry(chosen.model) and path.is_file() else {}
    frame = repairs.noise_table(found, known)
    digits = {
        name: st.column_config.NumberColumn(format="%.3f") for name in frame.columns if "acc" in name or "loss" in name
    }
    st.dataframe(frame if known else frame.iloc[:, :-2], hide_index=True, column_config=digits)
    beside = " The last two columns are of 1,500 texts that it did not learn from, as its card states." if known else ""
    show.note(f"Each noise at BART's own share, with this seed; accuracy and loss under teacher forcing.{beside}")
    show.downloads("denoising-noises", table=frame)
