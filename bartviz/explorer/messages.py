"""The messages of the explorer's page, in the current language. The scripts fill in the placeholders."""

from __future__ import annotations

from bartviz.browser.canvas.messages import Messages
from bartviz.language import _, plural
from bartviz.record.record import Record
from bartviz.version import __version__

LONGEST = 160  # characters of a text in a title


def page(least: float) -> Messages:
    """The page's own messages by name. ``least``: weights below it were left out; 0 if none was."""
    left_out = _("Weights below {least:.4f} are left out to keep this file small; they are shown as 0.", least=least)
    return {
        "explorer": _("Attention explorer"),
        "records": _("Records"),
        "attention": _("Attention"),
        "encoder": _("Encoder"),
        "decoder": _("Decoder"),
        "cross": _("Cross"),
        "encoder_said": _("Each token of the text looks at the whole text."),
        "decoder_said": _("Each token looks at itself and at the tokens before it."),
        "cross_said": _("Each step of the output looks at the source."),
        "steps": _("Step by step"),
        "steps_said": _("Every decoding step: play them, or go from one to the next."),
        "language": _("Language"),
        "dark": _("Dark colours"),
        "about": _("About this file"),
        "left_out": left_out if least else "",
    }


def training(model: str) -> dict[str, str]:
    """The words of the page of a training, besides those of its picture."""
    return {
        "brand": f"bartviz · {model}",
        "title": _("How heads are born"),
        "language": _("Language"),
        "dark": _("Dark colours"),
    }


def amiss() -> dict[str, str]:
    """What a page says of itself that is not whole."""
    return {
        "cut": _("This file was cut on its way: its end is missing. Ask for the file again."),
        "changed": _("This page cannot be shown: the file was changed on its way. Ask for the file again."),
    }


def about(record: Record) -> list[tuple[str, str]]:
    """Facts about a record, as pairs of name and value; texts in full."""
    model = record.model
    sizes = [
        _("{kind}: {layers} layers x {heads} heads", kind=name, layers=shape[0], heads=shape[1])
        for kind, name in (("encoder", _("Encoder")), ("decoder", _("Decoder")), ("cross", _("Cross")))
        if kind in record.kinds and (shape := record.attention(kind).shape)
    ]
    passed = sum(check.passed for check in record.checked)
    checks = plural("{count} check passed", "{count} checks passed", passed) if record.sound else _("not checked")
    facts = [(_("Model"), model.name), (_("Attention"), " · ".join(sizes)), (_("Source text"), record.source_text)]
    if record.pair_text is not None:
        facts.append((_("Second text"), record.pair_text))
    if record.target_text is not None:
        facts.append((_("Output text"), record.target_text))
    if not model.trained:
        facts.append((_("Weights"), _("looks untrained: all normalisation gains are still about 1")))
    return [*facts, (_("Checks"), checks), (_("Made with"), f"bartviz {__version__}")]


def shortened(text: str) -> str:
    """The text on one line, cut for a title."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
