"""The messages of the player, in the reader's language. The scripts fill in the placeholders; no Streamlit here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from bartviz.analysis import decoding, sentence_words
from bartviz.analysis.masks import quote
from bartviz.browser.scripts import both
from bartviz.language import _, mark, plural
from bartviz.language.percentages import fine, percent
from bartviz.record.attention import Kind
from bartviz.record.record import Record
from bartviz.record.steps import Step
from bartviz.record.vocabulary import (
    BEAM_SEARCH,
    CHOSEN_BY_YOU,
    FORCED_END_TOKEN,
    FORCED_FIRST_TOKEN,
    KEPT,
    LENGTH_DECAY,
    MINIMUM_LENGTH,
    SEQUENCE_BIAS,
    STOPS,
)

Words = dict[str, str | list[str]]

# What a rule does, for a reader who does not know its name; and a short tag for the film.
_RULES = (
    (MINIMUM_LENGTH, mark("the end was not allowed yet"), mark("min. length")),
    (r"no \d+ tokens repeated", mark("blocks an n-gram that has already occurred"), mark("no repeat")),
    (r".*of the source", mark("blocks an n-gram of the source"), mark("not copied")),
    (FORCED_FIRST_TOKEN, mark("this model always starts this way"), mark("fixed start")),
    (FORCED_END_TOKEN, mark("the maximum length was reached"), mark("max. length")),
    (CHOSEN_BY_YOU, "", mark("yours")),
    (r"excluded", mark("forbids some tokens"), mark("excluded")),
    (LENGTH_DECAY, mark("the end becomes likelier as the text grows"), mark("length")),
    (SEQUENCE_BIAS, mark("changes the scores of some tokens"), mark("bias")),
    (r".*(penalty|preference)", mark("changes the scores of tokens seen before"), mark("penalty")),
)


def _effect_and_tag(rule: str) -> tuple[str, str]:
    """The effect of a rule, and its tag."""
    return next(
        ((what, tag) for pattern, what, tag in _RULES if re.match(pattern, rule)), ("", sentence_words.rule(rule))
    )


def stopped(why: str) -> str:
    """Why the text ended."""
    return _(why) if why in STOPS else why


def tag(rule: str | None) -> str:
    """A short tag for the rule that decided a step; empty without one."""
    return "" if not rule or rule == KEPT else _(_effect_and_tag(rule)[1])


def note(step: Step, *, given: bool, mode: str, temperature: float = 1.0) -> str:
    """Why this token was chosen: empty, the rule that decided, or the more probable token; for a token that was drawn,
    at ``temperature``, both with the probability that they had there."""
    likelier = _likelier(step)
    if given:
        first = _("Given, and the model's own first choice too.")
        return _("Given, not chosen. {likelier}", likelier=likelier) if likelier else first
    if step.rule is not None:
        return f"{_decided(step.rule)} {likelier}".strip()
    if step.chosen.filtered is not None:
        values = {"share": fine(step.chosen.filtered), "temperature": f"{temperature:g}"}
        drawn = _("Drawn with {share} at temperature {temperature}.", **values)
        return f"{drawn} {_likelier_to_be_drawn(step)}".strip()
    if likelier and mode == BEAM_SEARCH:
        return _("The beam's choice for the whole text: {likelier}", likelier=likelier)
    return _("Not the most probable: {likelier}", likelier=likelier) if likelier else ""


def another(label: str) -> str:
    """The meaning of the number behind the label of a candidate."""
    return _("“{label}” is another token that is written the same.", label=label)


def _likelier(step: Step) -> str:
    other = next((candidate for candidate in step.candidates if candidate.token_id != step.chosen.token_id), None)
    if other is None or decoding.rank(step) == 1:
        return ""
    share = percent(other.probability)
    return _("“{token}” was more probable ({share}).", token=other.label, share=share)


def _likelier_to_be_drawn(step: Step) -> str:
    """The token that was most likely to be drawn; empty if that is the one that was."""
    other = max(step.candidates, key=lambda candidate: candidate.filtered or 0.0, default=step.chosen)
    if (other.filtered or 0.0) <= (step.chosen.filtered or 0.0):
        return ""
    return _("“{token}” was more probable ({share}).", token=other.label, share=fine(other.filtered or 0.0))


def _decided(rule: str) -> str:
    if rule == KEPT:
        return _("Kept from the first text.")
    if rule == CHOSEN_BY_YOU:
        return _("Chosen by you.")
    what = _effect_and_tag(rule)[0]
    if what:
        return _("Decided by a rule: {rule} ({what}).", rule=sentence_words.rule(rule), what=_(what))
    return _("Decided by a rule: {rule}.", rule=sentence_words.rule(rule))


def chosen(step: Step, *, given: bool, token: str | None = None, temperature: float = 1.0) -> str:
    """How the token was chosen, and its probability: the first part of the step in words. ``token``: its name in a
    sentence (``decoding.named``), by default its label; ``temperature``: of the draw, if it was drawn."""
    values = {"token": token or quote(step.chosen.label), "share": percent(step.chosen.probability)}
    values |= {"temperature": f"{temperature:g}"}
    if given:
        return _("{token} was given; the model gave it {share}", **values)
    if step.rule == CHOSEN_BY_YOU:
        return _("{token} was chosen by you; the model gave it {share}", **values)
    if step.rule == KEPT:
        return _("{token} was kept; the model gave it {share}", **values)
    if step.rule is not None:
        return _("{token} was decided by a rule; the model gave it {share}", **values)
    if step.chosen.filtered is not None and temperature != 1:
        return _("{token} was drawn at temperature {temperature}; at temperature 1 it had {share}", **values)
    if step.chosen.filtered is not None:
        return _("{token} was drawn; the model gave it {share}", **values)
    return _("{token} was chosen with {share}", **values)


SURE, FAIRLY_SURE = 0.75, 0.5  # probabilities from which the model is called sure, and fairly sure


def plainly(step: Step, *, given: bool, token: str | None = None, temperature: float = 1.0) -> str:
    """The step for a beginner, a whole sentence: how sure the model was, and what was the next best; as ``chosen``."""
    first, second = step.chosen, next((one for one in step.candidates if one.label != step.chosen.label), None)
    if given or step.rule is not None or first.filtered is not None or second is None or decoding.rank(step) != 1:
        return f"{chosen(step, given=given, token=token, temperature=temperature)}."
    values = {"token": token or quote(first.label), "share": percent(first.probability)}
    values |= {"next": second.label, "next_share": percent(second.probability)}
    if first.probability >= SURE:
        return _("The model was sure: {token} {share}, next best “{next}” {next_share}.", **values)
    if first.probability >= FAIRLY_SURE:
        return _("The model was fairly sure: {token} {share}, next best “{next}” {next_share}.", **values)
    return _("The model was unsure: {token} {share}, next best “{next}” {next_share}.", **values)


def templates(rules: Sequence[str]) -> dict[str, Any]:
    """The sentences of ``note`` and ``chosen`` before they are filled, for scripts that make steps themselves, and the
    name, the tag and the sentence of each rule."""
    return {
        "piece": _("{piece} of {word}"),
        "given_first": _("Given, and the model's own first choice too."),
        "given_likelier": _("Given, not chosen. {likelier}"),
        "not_most": _("Not the most probable: {likelier}"),
        "likelier": _("“{token}” was more probable ({share})."),
        "another": _("“{label}” is another token that is written the same."),
        "was_given": _("{token} was given; the model gave it {share}"),
        "chosen": _("{token} was chosen with {share}"),
        "ruled": _("{token} was decided by a rule; the model gave it {share}"),
        CHOSEN_BY_YOU: _("{token} was chosen by you; the model gave it {share}"),
        "rules": {
            rule: {"name": sentence_words.rule(rule), "tag": tag(rule), "decided": _decided(rule)} for rule in rules
        },
    }


def titles(record: Record, kind: Kind, weights: str, own: str, *, branched: bool = False, asks: bool = True) -> Words:
    """The titles of the parts; ``weights`` and ``own`` name their shading. With a branch, they name the text.

    ``asks``: whether a candidate can be followed.
    """
    given = decoding.given(record)
    source = _("Source, shaded by what this step looks at ({weights})", weights=weights)
    output = _("Output so far, shaded by {weights}", weights=own)
    if kind == "decoder":
        source = _("Prompt, shaded by what this step looks at ({weights})", weights=weights)
        output = _("Continuation so far, shaded by the same row")
    candidates = _("Candidates before any rule; choose one to follow it")
    candidates = _("The model's own candidates (✓ given); choose one to follow it") if given else candidates
    if not asks:
        given = decoding.given(record)
        candidates = _("The model's own candidates (✓ given)") if given else _("Candidates before any rule")
    candidates = _("Candidates before any rule; line: as sampled") if _drawn(record) else candidates
    matrix = _("Alignment so far: {weights}", weights=weights)
    if branched:
        output = _("Main text so far, shaded by {weights}", weights=own)
        candidates = _("Main text's candidates; choose one to follow it")
        matrix = _("Alignment of the main text: {weights}", weights=weights)
    return {"source": source, "output": output, "choice": candidates, "matrix": matrix}


def plain_titles(whose: str, *, branched: bool, start: str) -> Words:
    """The titles of the parts for a beginner. ``whose`` weights they show: a head's or a mean; ``start``: the tokens
    that every output begins with, if there are such."""
    output = _("What it has written, and what comes next")
    if start:
        output = _("What it has written, and what comes next (every output begins with {start})", start=start)
    choice = _("What it could have written here: choose one to continue from it")
    return {
        "source": _("The text that it reads, shaded by where it looks ({whose})", whose=whose),
        "output": output if not branched else _("The main text so far"),
        "choice": choice if not branched else _("What it could have written in the main text; choose one"),
        "matrix": _("Where it looked, step by step ({whose})", whose=whose),
    }


def some(record: Record, *, branched: bool = False, asks: bool = True) -> str:
    """The title of the candidates if there is only space for some of them."""
    if not asks and not _drawn(record):
        return _("{shown} of {count} candidates before rules")
    if branched:
        return _("Main text: {shown} of {count} candidates; choose one")
    if decoding.given(record):
        return _("{shown} of {count} candidates (✓ given); choose one")
    if _drawn(record):
        return _("{shown} of {count} candidates; line: as sampled")
    return _("{shown} of {count} candidates before rules; choose one")


def _drawn(record: Record) -> bool:
    return any(step.chosen.filtered is not None for step in record.steps)


def messages() -> Words:
    """All messages of the scripts by name; a pair if it depends on a number."""
    return _markup() | _controls() | _steps() | _cost() | _table()


def _steps() -> Words:
    """Messages about a step."""
    return {
        "piece": _("{piece} of {word}"),
        "said": _("{said}."),
        "looked": _("{said}, looking most at {text} ({mass})."),
        "looked_special": _("{said}, looking most at special tokens ({special}), then at {text} ({mass})."),
        "looked_plain": _("{said} The head shown looked most at {text}."),
        "looked_words": _("{said} The head shown looked most at special tokens, then at {text}."),
        "reading_plain": _("Each row shows where this head looked before the word on the left was written."),
        "cell_plain": _("To write “{predicts}” it looked at “{column}” with {weight}."),
        "stopped": _("Stopped: {stopped}."),
        "reading": _("Row {row} reads “{reads}” and predicts “{predicts}”. It attends to the columns."),
        "cell": _("Row {row} (reads “{reads}”, predicts “{predicts}”) attends to “{column}”: {weight}"),
        "frame": _("Step {step}: {token}, {share}"),
        "frame_rule": _("Step {step}: {token}, {share}, {rule}"),
        "weight": _("weight {weight}"),
        "reads_weight": _("this row reads it; weight {weight}"),
        "predicted": _("predicted with {share}"),
        "outside": _("{token} (not among the candidates kept)"),
        "bar_drawn": _("{token} {share}, drawn with {drawn} after temperature and filters"),
        "bar_draws": _("{token} {share}, {drawn} after temperature and filters: follow it instead"),
        "bar_chosen": _("{token} {share}, chosen"),
        "bar": _("{token} {share}: follow it instead"),
        "bar_only": _("{token} {share}"),
        "instead": _("Follow “{token}” instead"),
        "to_come": _("still to come"),
        "others": both(
            lambda n: plural(
                "the other {count} token: {share}", "the other {count} tokens together: {share}", n, share="{share}"
            )
        ),
        "rest": both(lambda n: plural("{count} other", "{count} others", n)),
        "rest_words": both(lambda n: plural("the other one", "the other {count}", n)),
        "tenfold": _("Each mark: ten times as likely"),
        "rest_none": _("no other"),
        "cut_off": _("cut off"),
        "heated": _("If words are drawn with temperature {temperature}"),
        "temperature": _("Temperature"),
        "temperature_does": _("higher values make the shares more even"),
        "cut_k": _("Top-k"),
        "cut_p": _("Top-p"),
        "no_cut": _("all"),
        "draw": _("Pick at random"),
        "draw_again": _("Pick again"),
        "draw_title": _("Write the text anew: each word is picked at random from these shares, with a new seed"),
        "sums": _("log p {log_p} · entropy {entropy} bits"),
        "sums_so_far": _("so far log p {log_p}, p = {p}"),
        "matrix": _("Rows 1 to {step} of {count}. {said} The table below has the numbers."),
        "curve": _("Up to step {step}: log p {log_p}, entropy of this step {entropy} bits."),
        "place": _("Step {step} of {count}: {token}, {share}"),
        "main": _("Main"),
        "branch": _("Branch"),
        "side": _("{name}: “{token}” {share} · log p so far {log_p} · whole text {whole}"),
        "side_plain": _("{name}: “{token}” {share}"),
        "side_ended_plain": both(
            lambda n: plural("{name}: ended after {count} step", "{name}: ended after {count} steps", n, name="{name}")
        ),
        "side_ended": both(
            lambda n: plural(
                "{name}: ended after {count} step · whole text log p {whole}",
                "{name}: ended after {count} steps · whole text log p {whole}",
                n,
                name="{name}",
                whole="{whole}",
            )
        ),
        "curve_log": _("log p, nats (line: their sum)"),
        "curve_bits": _("entropy, bits"),
    }


def _cost() -> Words:
    """Messages about the cost: what a step computes, and what it reuses."""
    return {
        "lane_encoder": _("Encoder output"),
        "lane_cross": _("Cross keys, values"),
        "lane_decoder": _("Decoder keys, values"),
        "encoder_first": _("{tokens} tokens through {layers} layers: ran once, before this step"),
        "encoder_later": _("{tokens} tokens through {layers} layers: ran once, reused"),
        "cross_first": _("{bytes} a layer: computed now, for all steps"),
        "cross_later": _("{bytes} a layer: reused"),
        "decoder_now": _("{bytes} a layer: {fresh} computed now, {reused} reused"),
        "cost_given": _(
            "The output was given, so one pass made every row and no cache was needed. Step by step it would be:"
        ),
        "cost_cache": _("Cache, {layers} layers: {bytes} of float32."),
        "cost_step": _("Attention of this step: {now} operations, {without} without the cache ({times} times)."),
        "cost_all": _("All steps so far: {now}, against {without}."),
    }


def _table() -> Words:
    return {
        "step": _("step"),
        "reads": _("reads"),
        "predicts": _("predicts"),
        "probability": _("probability"),
        "log_p": _("log p"),
        "sum": _("sum"),
        "entropy": _("entropy, bits"),
        "decided": _("decided by"),
        "looked_at": _("looked at (without special tokens)"),
        "candidates": _("candidates"),
    }


def _controls() -> Words:
    """Buttons and their tooltips."""
    return {
        "first": _("First step"),
        "first_title": _("First step (Home)"),
        "back": _("One step back"),
        "back_title": _("One step back (left arrow)"),
        "play": _("Play"),
        "pause": _("Pause"),
        "play_title": _("Play or pause (space)"),
        "next": _("One step forward"),
        "next_title": _("One step forward (right arrow)"),
        "speed": _("Speed"),
        "scrub": _("Decoding step"),
        "pace": both(lambda n: plural("{count} step/s", "{count} steps/s", n)),
        "upper": _("upper strip: main"),
        "lower": _("lower strip: branch"),
    }


def _markup() -> Words:
    """The other labels of ``player.html``."""
    return {
        "film": _("All steps: the taller the bar, the likelier its token"),
        "player": _("Decoding, step by step. Left and right arrow keys step, space plays and pauses."),
        "twins": _("Main and branch side by side"),
        "adopt": _("Make this the main text"),
        "drop": _("Drop"),
        "adopt_title": _("The branch becomes the text that every page shows"),
        "ask": _("What if it had said …"),
        "ask_label": _("What if it had said, at this step"),
        "ask_blank": _("Type what it should have said; spaces alone are not a token."),
        "follow": _("Follow"),
        "follow_title": _("Write the text again from this step"),
        "named": _("Rows are named by"),
        "named_said": _("Rows are named by the token they"),
        "named_predicts": _("predict"),
        "named_reads": _("read"),
        "full": _("Full colour stands for"),
        "full_said": _("Full colour is"),
        "full_fixed": _("weight 1"),
        "full_row": _("the row's largest"),
        "sure": _("Confidence, step by step"),
        "computes": _("What this step computes, and what it reuses"),
        "as_table": _("The steps as a table"),
    }
