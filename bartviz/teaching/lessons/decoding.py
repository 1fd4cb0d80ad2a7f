"""Decoding step by step: a token at a time, with probabilities, until the end token is chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping

from bartviz.language import mark
from bartviz.record.record import Record
from bartviz.teaching.lessons import facts
from bartviz.teaching.lessons.lesson import Lesson, Step


def _at(record: Record, place: int) -> dict[str, object]:
    step = record.steps[place]
    other = next(one for one in step.candidates if one.token_id != step.chosen.token_id)
    return {
        "token": step.chosen.label,
        "chance": step.chosen.probability,
        "bits": step.entropy,
        "other": other.label,
        "other_chance": other.probability,
        "vocabulary": record.model.vocabulary,
        "both": step.chosen.probability + other.probability,
    }


def _first(record: Record) -> Mapping[str, object]:
    assert record.decoder is not None
    return {**_at(record, 0), "start": record.decoder.query.labels[0]}


def _moechte(record: Record) -> Mapping[str, object]:
    return _at(record, 2)


def _auto(record: Record) -> Mapping[str, object]:
    unsure = _at(record, 2)
    return {**_at(record, 4), "unsure": unsure["token"], "unsure_bits": unsure["bits"]}


def _row(record: Record) -> Mapping[str, object]:
    row = record.steps[5].row
    line = record.attention("cross").layer(2).mean(axis=0)[row]  # (K,)
    return {
        **_at(record, 5),
        "key": record.attention("cross").key.labels[int(line.argmax())],
        "weight": float(line.max()),
    }


def _end(record: Record) -> Mapping[str, object]:
    return {**_at(record, len(record.steps) - 1), "steps": len(record.steps)}


def _whole(record: Record) -> Mapping[str, object]:
    total = record.log_probability
    return {"total": total, "whole": math.exp(total), "steps": len(record.steps), **_moechte(record)}


def _given(record: Record) -> Mapping[str, object]:
    least = min(record.steps, key=lambda step: step.chosen.probability)
    after = record.steps[record.steps.index(least) + 1]
    return {
        "token": least.chosen.label,
        "chance": least.chosen.probability,
        "rather": least.candidates[0].label,
        "rather_chance": least.candidates[0].probability,
        "next": after.chosen.label,
        "next_chance": after.chosen.probability,
        "one_in": 1 / least.chosen.probability,
    }


def _car(record: Record) -> Mapping[str, object]:
    row = facts.predicting(record, "Haus")
    return {**facts.looks_at(record, "cross", 3, 1, row), **_given(record)}


LESSON = Lesson(
    "decoding",
    mark("Decoding, step by step"),
    mark("How a text is written one token at a time: candidates, doubt, certainty, and the end."),
    8,
    (
        Step(
            "decoding",
            mark(
                "Before the first word the decoder has read only its start token, “{start}”. Its first token is then "
                "“{token}”. Look at the bar of that token."
            ),
            mark("The page says that a rule decided. Did the model want something else?"),
            mark(
                "No, it would have given “{token}” {chance:.0%} by itself. BART's configuration forces the first "
                "token all the same; where a rule decides, it is named, and the probability shown is the model's "
                "own."
            ),
            {"step": 1},
            facts=_first,
        ),
        Step(
            "decoding",
            mark(
                "Two steps later. The decoder has read “Ich”, and each of {vocabulary:,} tokens gets a probability; "
                "the best ones are shown as bars."
            ),
            mark("Which word was the strongest rival, and would it have been wrong?"),
            mark(
                "“{other}” with {other_chance:.0%}, behind “{token}” with {chance:.0%}. Both are good German. The "
                "model is unsure here because the language is: {bits:.1f} bits of choice are left."
            ),
            {"step": 3},
            facts=_moechte,
        ),
        Step(
            "decoding",
            mark(
                "Now “{token}”. Compare the height of its bar, and the curve of the entropy, with the step before "
                "that said “{unsure}”."
            ),
            mark("How many bits of choice are left here?"),
            mark(
                "{bits:.1f}, against {unsure_bits:.1f} at “{unsure}”. “{token}” has {chance:.0%}; the next candidate, "
                "“{other}”, {other_chance:.1%}. 0 bits would be certain, 1 bit an even choice between two."
            ),
            {"step": 5},
            facts=_auto,
        ),
        Step(
            "decoding",
            mark(
                "The step that wrote “{token}”. Every step adds one row to the matrix on the right; the source above "
                "is shaded by that row."
            ),
            mark("Which English word does this step look at? What does the model have to compute anew for it?"),
            mark(
                "“{key}” ({weight:.2f}, the mean of layer 2). Only this one row is new: the encoder ran once, and "
                "keys and values of all that was read or written before are kept. That is the cache."
            ),
            {"step": 6},
            facts=_row,
        ),
        Step(
            "decoding",
            mark("The last step. After the full stop the model chooses “{token}”, the end token."),
            mark("How does the model know that it is done?"),
            mark(
                "It does not know; the end is a token like any other, and here it has {chance:.0%}. Choosing it stops "
                "the loop, after {steps} steps. Were its probability low, the model would write on."
            ),
            {"step": 8},
            facts=_end,
        ),
        Step(
            "decoding",
            mark(
                "Each step has a probability, and they multiply: p(output | source) is their product. The page adds "
                "up their logarithms, which is the same."
            ),
            mark("How probable is the whole sentence, and which step costs the most?"),
            mark(
                "log p = {total:.2f}, so {whole:.0%}. Most is lost at “{token}”, {chance:.0%}. A good translation "
                "need not be probable: with two good ways to say it, they share what there is."
            ),
            {"step": 3},
            facts=_whole,
        ),
        Step(
            "decoding",
            mark(
                "The other way round: here the output was given, “Ich will ein Haus kaufen.”, and the model says what "
                "it thinks of each token (teacher forcing)."
            ),
            mark("Which token does it find most unlikely, and what would it rather say?"),
            mark(
                "“{token}”: one in {one_in:,.0f}. It would say “{rather}” ({rather_chance:.0%}), for the source has a "
                "car. The next token, “{next}”, is again at {next_chance:.0%}: what is done is done, and it goes on."
            ),
            {"step": 5},
            facts=_given,
            record="given",
        ),
    ),
)
