"""The commands ``capture`` and ``decode``: run a model on a text, print what it did, and save the record."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from bartviz.commands.output import DEVICE, EXAMPLES, STDIN, print_json, say
from bartviz.language.percentages import percent
from bartviz.reading.encodings import decode
from bartviz.text.clean import MAX_CHARACTERS, Truncate

if TYPE_CHECKING:
    from bartviz.record.beam_tree import BeamTree
    from bartviz.record.record import Record

_MOST = 4 * (MAX_CHARACTERS + 2)  # bytes of stdin that are read: a stream may have no end


def add(commands: Any) -> None:
    """Add both commands to the parser."""
    capture = commands.add_parser(
        "capture",
        help="run a model on a text and save the record",
        epilog=EXAMPLES
        + 'bartviz capture "I want to buy a car." --save car.safetensors\n  '
        + "echo 'I want to buy a car.' | bartviz capture - --save car.html\n  "
        + 'bartviz capture "It is late." --pair "We sleep." --model bert-tiny-en --json',
    )
    _arguments(capture)
    capture.add_argument("--pair", help="second sentence, for encoder models")
    capture.add_argument("--target", help="given output, for encoder-decoder models")
    capture.set_defaults(run=_capture)

    decode_command = commands.add_parser(
        "decode",
        help="generate, print each step, and save the record",
        epilog=EXAMPLES
        + 'bartviz decode "I want to buy a car." --beams 4\n  '
        + 'bartviz decode "I want to buy a car." --temperature 1.2 --seed 1 --json\n  '
        + 'bartviz decode - --ablate "cross L2H5" --save car.html < text.txt',
    )
    _arguments(decode_command)
    _decode_arguments(decode_command)
    decode_command.set_defaults(run=_decode)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", help="the text, or - to read it from stdin")
    parser.add_argument("--model", default="bart-tiny-en-de", help="embedded name, folder or hub id (%(default)s)")
    parser.add_argument("--name", help="what to call the model; by default the name of its folder or repository")
    parser.add_argument("--device", default="cpu", metavar="NAME", help=DEVICE)
    parser.add_argument(
        "--truncate",
        choices=get_args(Truncate),
        help="read this part of a text that is too long, instead of refusing it",
    )
    parser.add_argument("--ablate", action="append", default=[], metavar='"cross L2H5"', help="silence a head")
    parser.add_argument(
        "--save", type=Path, metavar="FILE", help="write the record: run.safetensors, or run.html for the explorer"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _decode_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--max-new-tokens", type=int)
    parser.add_argument("--min-new-tokens", type=int)
    parser.add_argument("--no-repeat-ngram-size", type=int, metavar="N", help="no N tokens twice")
    parser.add_argument("--beams", type=_beams, default=1, metavar="N", help='1 is greedy; "own" the checkpoint\'s')
    parser.add_argument("--length-penalty", type=float, help="of beam search: score = log p / length ** penalty")
    parser.add_argument("--early-stopping", type=_stopping, metavar="yes|no|never")
    parser.add_argument("--temperature", type=float, help="with this or the next three, draw each token at random")
    parser.add_argument("--top-k", type=int, help="only this many of the most probable")
    parser.add_argument("--top-p", type=float, help="only the most probable, up to this total probability")
    parser.add_argument("--seed", type=int)
    parser.add_argument(
        "--force", type=_forced, action="append", default=[], metavar='"3= Haus"', help="text to force at a position"
    )


def _beams(text: str) -> int | str:
    return text if text == "own" else int(text)


def _stopping(text: str) -> bool | str:
    return {"yes": True, "no": False}.get(text, text)


def _forced(text: str) -> tuple[int, str]:
    position, equals, word = text.partition("=")
    if not equals:
        raise ValueError("no =")
    return int(position), word


def given_text(options: argparse.Namespace) -> str:
    """The text of the command, or that of stdin without its last line break, as far as a text may be long. Raises
    EncodingError."""
    given: str = options.text
    if given != STDIN:
        return given
    return decode(sys.stdin.buffer.read(_MOST)).removesuffix("\n").removesuffix("\r")


def _prepared(options: argparse.Namespace) -> str:
    """The text, once it is known that the record can be saved as asked. Raises SettingError, EncodingError."""
    from bartviz.record.record import check_ending

    if options.save is not None:
        check_ending(options.save)
    return given_text(options)


def _capture(options: argparse.Namespace) -> int:
    import bartviz

    text = _prepared(options)
    model = bartviz.load(options.model, name=options.name, device=options.device)
    record = bartviz.capture(
        model, text, pair=options.pair, target=options.target, ablate=options.ablate, truncate=options.truncate
    )
    if options.save is not None:
        record.save(options.save)
    if options.json:
        print_json(_described(options, record) | {"kinds": _kinds(record), "checks": _checks(record)})
        return 0
    for kind, shape in _kinds(record).items():
        say("{0:8} {layers} layers x {heads} heads, {rows} rows attend to {columns} columns".format(kind, **shape))
    if record.target_text is not None:
        say(f"output   {record.target_text}")
    for check in record.check():
        value = "nothing to compare with" if check.value is None else f"{check.value:.2g} (limit {check.limit:g})"
        say(f"{'ok  ' if check.passed else 'FAIL'} {check.kind or ''} {check.name}: {value}")
    return _saved(options)


def _decode(options: argparse.Namespace) -> int:
    import bartviz

    text = _prepared(options)
    model = bartviz.load(options.model, name=options.name, device=options.device)
    given = {name: getattr(options, name) for name in ("temperature", "top_k", "top_p", "seed")}
    drawn = {name: value for name, value in given.items() if value is not None}
    record = bartviz.decode(
        model,
        text,
        beams=options.beams,
        length_penalty=options.length_penalty,
        early_stopping=options.early_stopping,
        sample=bartviz.Sampling(**drawn) if drawn else None,
        max_new_tokens=options.max_new_tokens,
        min_new_tokens=options.min_new_tokens,
        no_repeat_ngram_size=options.no_repeat_ngram_size,
        force=dict(options.force),
        ablate=options.ablate,
        truncate=options.truncate,
    )
    if options.save is not None:
        record.save(options.save)
    if options.json:
        ended = {"stopped": record.provenance.stopped, "log_probability": record.log_probability}
        print_json(_described(options, record) | ended | {"steps": _steps(record), "texts": _texts(record.beams)})
        return 0
    for step in record.steps:
        others = ", ".join(
            f"{c.label} {percent(c.probability)}" for c in step.candidates if c.token_id != step.chosen.token_id
        )
        rule = f" [{step.rule}]" if step.rule else ""
        say(f"{step.position:4} {step.chosen.label:16} {percent(step.chosen.probability):>7}{rule}   {others}")
    for ending in _texts(record.beams):
        labels = " ".join(ending["tokens"])
        say(f"{ending['state']:8} score {ending['score']:8.4f}  log p {ending['log_probability']:8.3f}  {labels}")
    say(str(record.target_text))
    say(f"({record.provenance.stopped}; log p = {record.log_probability:.3f})")
    return _saved(options)


def _saved(options: argparse.Namespace) -> int:
    if options.save is not None:
        say(f"saved    {options.save}")
    return 0


def _described(options: argparse.Namespace, record: Record) -> dict[str, Any]:
    return {
        "model": record.model.name,
        "source": record.source_text,
        "pair": record.pair_text,
        "target": record.target_text,
        "saved": None if options.save is None else str(options.save),
    }


def _kinds(record: Record) -> dict[str, dict[str, int]]:
    axes = ("layers", "heads", "rows", "columns")
    return {kind: dict(zip(axes, record.attention(kind).shape, strict=True)) for kind in record.kinds}


def _checks(record: Record) -> list[dict[str, Any]]:
    return [
        {"kind": check.kind, "name": check.name, "value": check.value, "limit": check.limit, "passed": check.passed}
        for check in record.check()
    ]


def _steps(record: Record) -> list[dict[str, Any]]:
    return [
        {
            "position": step.position,
            "token": step.chosen.label,
            "token_id": step.chosen.token_id,
            "probability": step.chosen.probability,
            "entropy_bits": step.entropy,
            "rule": step.rule,
            "candidates": [
                {"token": c.label, "token_id": c.token_id, "probability": c.probability} for c in step.candidates
            ],
        }
        for step in record.steps
    ]


def _texts(tree: BeamTree | None) -> list[dict[str, Any]]:
    """The finished texts of a beam search, best score first."""
    if tree is None:
        return []
    ended = [number for number, node in enumerate(tree.nodes) if node.state in ("finished", "best")]
    return [
        {
            "state": tree.nodes[number].state,
            "score": tree.nodes[number].score,
            "log_probability": tree.nodes[number].total,
            "tokens": [tree.nodes[ancestor].token.label for ancestor in tree.path(number)],
        }
        for number in sorted(ended, key=lambda number: -tree.nodes[number].score)
    ]
