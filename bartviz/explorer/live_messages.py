"""The words of a live page: those of the explorer and the player, as templates that the scripts fill."""

from __future__ import annotations

from typing import Any

from bartviz.browser.canvas import messages as canvas
from bartviz.browser.player import messages as player
from bartviz.browser.player.data import described
from bartviz.browser.ribbons import messages as ribbons
from bartviz.language import _
from bartviz.record.attention import Kind
from bartviz.record.record import Record
from bartviz.record.vocabulary import (
    CHOSEN_BY_YOU,
    COUNTED,
    EXCLUDED_AT_START,
    EXCLUDED_TOKENS,
    FORCED_END_TOKEN,
    FORCED_FIRST_TOKEN,
    MINIMUM_LENGTH,
    REPETITION_PENALTY,
    SOURCE_PREFERENCE,
    STOPS,
)

_RULES = (
    *(FORCED_FIRST_TOKEN, FORCED_END_TOKEN, MINIMUM_LENGTH, EXCLUDED_TOKENS, EXCLUDED_AT_START, REPETITION_PENALTY),
    *(SOURCE_PREFERENCE, CHOSEN_BY_YOU),
)


def page() -> dict[str, str]:
    """The words around the explorer of a live page."""
    return {
        "write": _("Your text"),
        "run": _("Run"),
        "stop": _("Stop"),
        "more-said": _("More options"),
        "given-said": _("Given output (instead of what the model would write)"),
        "pair-said": _("Second text"),
        "beams-said": _("Beams"),
        "change": _("Another word instead of “{word}”:"),
        "own word": _("Another word"),
        "change-run": _("Run with it"),
        "mask-word": _("Make it a gap"),
        "instead": _("Instead of “{word}”, the model could have written:"),
        "loading": _("Reading the model: {share}"),
        "running": _("Running"),
        "step": _("Step {step}"),
        "stopped": _("Stopped."),
        "empty": _("Type a text first."),
        "too long": _("The text has {count} tokens; this model reads at most {limit}. Shorten it."),
        "too many characters": _("The text is too long: at most {limit} characters. Shorten it."),
        "limit": _("The output was cut off after {count} tokens: the model did not end it. Does it know the language?"),
        "target empty": _("Type a given output, or leave it empty: the model then writes its own."),
        "target too long": _("The given output has {count} tokens; this model reads at most {limit}. Shorten it."),
        "target too many characters": _("The given output is too long: at most {limit} characters. Shorten it."),
        "broken": _("The model could not run: {what}"),
        "memory": _("This device does not have enough memory for the model. Close other tabs, or use another device."),
        "damaged": _(
            "This model is damaged: a part of it is missing or was changed. The picture below was recorded. "
            "Ask for the file again."
        ),
        "unreachable": _(
            "The model could not be fetched. Check the network and run the text again. A folder that is opened from a "
            "disk needs a web host; a single file does not."
        ),
        "mask": _("Who may look where: rows look, columns are looked at; empty cells are masked."),
        "old": _(
            "This browser cannot run the model ({what}): the picture below was recorded. Open the page in a newer "
            "browser to try your own text."
        ),
        "too old": _("This browser cannot show this page ({what}). Open it in a newer browser."),
        "gap": _("Gap {number}:"),
        "fill": _("Fill the gap with “{token}”"),
        "silence-title": _("Which heads does it need?"),
        "silence-said": _("Silence a head, and the model reads the text again without it."),
        "silence-maps": _(
            "Silence a head: the maps show what later layers do without it. This model predicts no tokens."
        ),
        "silenced": _("Without {heads}, for every text, until all heads are used again."),
        "no heads": _("This model does not have these heads of the link: {heads}."),
        "silence": _("Silence {head}"),
        "restore": _("Use all heads again"),
        "rank": _("Rank all heads"),
        "with all": _("With all heads"),
        "without": _("Without {heads}"),
        "unchanged": _("Nothing changes: the model does not need it for this text."),
        "ranking-said": _("How likely the same output is without a head, compared with all heads:"),
        "turned": _("other best tokens: {count}"),
        "inside-said": _("Inside this row: query, keys, scores, weights, values"),
        "inside query": _("Query of “{token}”"),
        "inside divided": _(
            "Score = query · key / {root}, the square root of the head’s width {d}; weights = softmax of the scores."
        ),
        "inside key": _("Key of"),
        "inside vector": _("Key"),
        "inside product": _("Query · key"),
        "inside score": _("Score"),
        "inside weight": _("Weight"),
        "inside value": _("Value"),
        "inside output": _("Output: the values, each times its weight, added"),
        "save": _("Save the record"),
        "link": _("Copy a link"),
        "copied": _("The link is copied."),
    }


def of_model(name: str, samples: dict[str, Record], ngrams: tuple[int, int]) -> dict[str, Any]:
    """The words about texts that a model reads. ``samples``: its records by how they were made, "decoded" and "given".
    ``ngrams``: the lengths of the rules about repeated and copied tokens."""
    sample = next(iter(samples.values()))
    rules = [*_RULES, *(rule.format(count=count) for rule, count in zip(COUNTED, ngrams, strict=True) if count)]
    return {
        "name": name,
        "sizes": _("{kind}: {layers} layers x {heads} heads"),
        "encoder": _("Encoder"),
        "decoder": _("Decoder"),
        "cross": _("Cross"),
        "model": _("Model"),
        "attention": _("Attention"),
        "source": _("Source text"),
        "pair": _("Second text"),
        "output": _("Output text"),
        "checks": _("Checks"),
        "computed": _("computed in this browser, not checked"),
        "stops": {stop: player.stopped(stop) for stop in STOPS},
        "canvas": {
            kind: canvas.messages(sample.attention(kind), predicts=kind == "cross", renormalised=False)
            for kind in sample.kinds
        },
        "steps": player.templates(rules),
        "ribbons": {kind: _ribbons(kind) for kind in sample.kinds},
        **{made: _titles(record) for made, record in samples.items() if record.steps},
    }


def _ribbons(kind: Kind) -> dict[str, Any]:
    row = _("{word}: looks most at {other} ({weight})")
    return {
        "labels": ribbons.labels(*ribbons.lines(kind), "{head}"),
        "row": _("{word}: when it was written, most weight was on {other} ({weight})") if kind == "cross" else row,
        "column": _("{word}: most weight from {other} ({weight})"),
        "none": _("{word}: no weight of 0.02 or more with any word"),
    }


def _titles(record: Record) -> dict[str, Any]:
    kind: Kind = "decoder" if record.cross is None else "cross"
    return {
        "words": player.messages(),
        "some": player.some(record),
        "titles": player.titles(record, kind, "{weights}", "{own}"),
    }


def of_player(record: Record) -> dict[str, Any]:
    """What the player shows of every text alike."""
    whole = described(record, None, None)
    return {name: whole[name] for name in ("vocabulary", "costs", "ramps", "palette")}
