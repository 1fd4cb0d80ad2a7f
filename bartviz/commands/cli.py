"""The command line: ``bartviz app | capture | decode | align | corpus | parameters | models``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bartviz.commands import align, corpus, serve
from bartviz.errors import BartvizError
from bartviz.version import __version__

if TYPE_CHECKING:
    from bartviz.record.beam_tree import BeamTree


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0, 1 with one sentence on stderr, or 2 for invalid arguments."""
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        status = run(options)
        sys.stdout.flush()
    except BartvizError as error:
        print(f"bartviz: {error}", file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        print(f"bartviz: {error.name} is not installed: pip install 'bartviz[app]'", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader, such as ``head``, has stopped: avoid a second error at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"bartviz: the file cannot be written: {error.strerror}.", file=sys.stderr)
        return 1
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bartviz", description="See, step through and test attention: an app, and the same from a shell."
    )
    parser.add_argument("--version", action="version", version=__version__)
    parser.set_defaults(run=lambda _options: _help(parser))
    commands = parser.add_subparsers(metavar="command")

    serve.add(commands)

    capture = commands.add_parser("capture", help="run a model on a text and save the record")
    _run_arguments(capture)
    capture.add_argument("--pair", help="second sentence, for encoder models")
    capture.add_argument("--target", help="given output, for encoder-decoder models")
    capture.set_defaults(run=_capture)

    decode = commands.add_parser("decode", help="generate, print each step, and save the record")
    _run_arguments(decode)
    _decode_arguments(decode)
    decode.set_defaults(run=_decode)

    align.add(commands)
    corpus.add(commands)

    parameters = commands.add_parser("parameters", help="where a model's parameters are")
    parameters.add_argument("model", help="a name of the catalogue, or a folder with config.json")
    parameters.set_defaults(run=_parameters)

    models = commands.add_parser("models", help="list the models known by name")
    models.set_defaults(run=_models)
    return parser


def _help(parser: argparse.ArgumentParser) -> int:
    parser.print_help()
    return 0


def _decode_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--max-new-tokens", type=int)
    parser.add_argument("--min-new-tokens", type=int)
    parser.add_argument("--no-repeat-ngram-size", type=int, metavar="N", help="no N tokens twice")
    parser.add_argument("--beams", type=_beams, default=1, metavar="N", help='1 is greedy; "own" the checkpoint\'s')
    parser.add_argument("--length-penalty", type=float, help="of beam search: score = log p / length ** penalty")
    parser.add_argument("--early-stopping", type=_stopping, metavar="yes|no|never")
    parser.add_argument("--temperature", type=float, help="this and the next three: draw each token")
    parser.add_argument("--top-k", type=int, help="only so many of the most probable")
    parser.add_argument("--top-p", type=float, help="only the most probable that together reach this")
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


def _run_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text")
    parser.add_argument("--model", default="bart-tiny-en-de", help="embedded name, folder or hub id (%(default)s)")
    parser.add_argument("--ablate", action="append", default=[], metavar='"cross L2H5"', help="silence a head")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the record, such as run.safetensors")


def _capture(options: argparse.Namespace) -> int:
    import bartviz

    model = bartviz.load(options.model)
    record = bartviz.capture(model, options.text, pair=options.pair, target=options.target, ablate=options.ablate)
    for kind in record.kinds:
        layers, heads, rows, columns = record.attention(kind).shape
        print(f"{kind:8} {layers} layers x {heads} heads, {rows} rows attend to {columns} columns")
    if record.target_text is not None:
        print(f"output   {record.target_text}")
    for check in record.check():
        value = "nothing to measure by" if check.value is None else f"{check.value:.2g} (limit {check.limit:g})"
        print(f"{'ok  ' if check.passed else 'FAIL'} {check.kind or ''} {check.name}: {value}")
    return _save(options, record)


def _decode(options: argparse.Namespace) -> int:
    import bartviz

    model = bartviz.load(options.model)
    given = {name: getattr(options, name) for name in ("temperature", "top_k", "top_p", "seed")}
    drawn = {name: value for name, value in given.items() if value is not None}
    record = bartviz.decode(
        model,
        options.text,
        beams=options.beams,
        length_penalty=options.length_penalty,
        early_stopping=options.early_stopping,
        sample=bartviz.Sampling(**drawn) if drawn else None,
        max_new_tokens=options.max_new_tokens,
        min_new_tokens=options.min_new_tokens,
        no_repeat_ngram_size=options.no_repeat_ngram_size,
        force=dict(options.force),
        ablate=options.ablate,
    )
    for step in record.steps:
        others = ", ".join(
            f"{c.label} {c.probability:.1%}" for c in step.candidates if c.token_id != step.chosen.token_id
        )
        rule = f" [{step.rule}]" if step.rule else ""
        print(f"{step.position:4} {step.chosen.label:16} {step.chosen.probability:7.1%}{rule}   {others}")
    _print_texts(record.beams)
    print(f"{record.target_text}\n({record.provenance.stopped}; log p = {record.log_probability:.3f})")
    return _save(options, record)


def _print_texts(tree: BeamTree | None) -> None:
    """The finished texts of a beam search, best score first."""
    if tree is None:
        return
    ended = [number for number, node in enumerate(tree.nodes) if node.state in ("finished", "best")]
    for number in sorted(ended, key=lambda number: -tree.nodes[number].score):
        node, labels = tree.nodes[number], " ".join(tree.nodes[ancestor].token.label for ancestor in tree.path(number))
        print(f"{node.state:8} score {node.score:8.4f}  log p {node.total:8.3f}  {labels}")


def _save(options: argparse.Namespace, record: object) -> int:
    from bartviz.record.record import Record

    assert isinstance(record, Record)
    if options.save is not None:
        record.save(options.save)
        print(f"saved    {options.save}")
    return 0


def _parameters(options: argparse.Namespace) -> int:
    import bartviz

    print(bartviz.parameters(options.model).to_string())
    return 0


def _models(options: argparse.Namespace) -> int:
    from bartviz.families.catalogue import CATALOGUE

    for entry in CATALOGUE:
        print(f"{entry.name:32} {entry.kind:16} {entry.source:9} {entry.title}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
