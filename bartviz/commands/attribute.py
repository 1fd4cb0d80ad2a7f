"""The command ``attribute``: which words that a model reads speak for each word that it writes, by one method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bartviz.analysis.attribution_methods import METHODS
from bartviz.commands.output import DEVICE, EXAMPLES, print_json, say
from bartviz.commands.run import given_text
from bartviz.errors import SettingError, choices

if TYPE_CHECKING:
    import argparse

    from bartviz.analysis.attribution import Attribution, Axis
    from bartviz.arrays import Floats
    from bartviz.drawing.theme import Figure


class _Names(Mapping[str, str]):
    """The methods as they are written on a command line, with hyphens -> their names. Plugins are looked at where a
    word is none that is built in."""

    def __getitem__(self, word: str) -> str:
        for names in (METHODS.built_in, METHODS):
            for name in names:
                if name.replace(" ", "-") == word:
                    return name
        raise KeyError(word)

    def __iter__(self) -> Iterator[str]:
        return (name.replace(" ", "-") for name in METHODS)

    def __len__(self) -> int:
        return len(METHODS)


NAMES: Mapping[str, str] = _Names()
LISTED = "{" + ",".join(name.replace(" ", "-") for name in METHODS.built_in) + "}"
"""Those that are built in, as a command's help lists them."""
SUFFIXES = (".json", ".csv", ".svg", ".pdf", ".png", ".html")
_STRONGEST = 4  # words of a line


def add(commands: Any) -> None:
    """Add the command to the parser."""
    attribute = commands.add_parser(
        "attribute",
        help="print which words read speak for each word written, by a method of your choice",
        description=(__doc__ or "").split("\n")[0],
        epilog=EXAMPLES
        + 'bartviz attribute "I want to buy a car." --method rollout\n  '
        + 'bartviz attribute "I want to buy a car." --step 3 --contrast " eine" --save why.svg\n  '
        + 'bartviz attribute "A man is riding a <mask>." --model bert-tiny-en --target car --json',
    )
    attribute.add_argument("text", help="the text, or - to read it from stdin; <mask> is the model's mask token")
    attribute.add_argument("--model", default="bart-tiny-en-de", help="embedded name, folder or hub id (%(default)s)")
    attribute.add_argument("--device", default="cpu", metavar="NAME", help=DEVICE)
    attribute.add_argument("--method", choices=NAMES, metavar=LISTED, default="leave-one-out", help="(%(default)s)")
    attribute.add_argument("--target", help="given output; or the word that is explained at a mask")
    attribute.add_argument("--step", type=int, help="explain one step alone, counted from 0")
    attribute.add_argument("--contrast", metavar="TOKEN", help="why not this one: the difference of two logits")
    attribute.add_argument("--tokens", action="store_true", help="keep the pieces of words apart")
    attribute.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help="write it: .json (opens again), .csv, .html (the figure), or a picture: .svg, .pdf, .png",
    )
    attribute.add_argument("--json", action="store_true", help="print JSON")
    attribute.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a line for each step, with the words that have the largest numbers."""
    import bartviz

    if options.save is not None and options.save.suffix.lower() not in SUFFIXES:
        raise SettingError(f"An attribution is saved as one of {choices(SUFFIXES)}.")
    text = given_text(options)
    model = bartviz.load(options.model, device=options.device)
    method = NAMES[options.method]
    found = bartviz.attribute(model, text, options.target, method=method, step=options.step, contrast=options.contrast)
    found = found if options.tokens else found.words()
    if options.save is not None:
        _write(found, options.save)
    if options.json:
        print_json(_described(found) | {"saved": None if options.save is None else str(options.save)})
        return 0
    said = found.method
    say(f"{said.name}: {said.formula} ({said.source})", error=True)
    room = max(map(len, found.steps.labels))
    for step, label in enumerate(found.steps.labels):
        parts = [_strongest(found, found.source, found.values[step])]
        if found.earlier is not None and found.earlier_values is not None:
            parts.append(_strongest(found, found.earlier, found.earlier_values[step]))
        say(f"{step + (options.step or 0):4} {label:{room}}  {'  |  '.join(parts)}".rstrip())
    if options.save is not None:
        say(f"saved    {options.save}")
    return 0


def _strongest(found: Attribution, axis: Axis, values: Floats) -> str:
    """The words with the largest numbers, whatever their sign, largest first."""
    form = ".2f" if found.method.sums is not None else "+.2f"
    order = sorted(range(len(axis)), key=lambda place: -abs(float(values[place])))[:_STRONGEST]
    return ", ".join(f"{axis.labels[place]} {values[place]:{form}}" for place in order if abs(values[place]) >= 0.005)


def _write(found: Attribution, path: Path) -> None:
    from bartviz import figures, paper
    from bartviz.record import store

    suffix = path.suffix.lower()
    if suffix == ".json":
        found.save(path)
    elif suffix == ".csv":
        store.replace(path, found.to_dataframe().to_csv(index=False).encode())
    elif suffix == ".html":
        store.replace(path, _page(figures.attribution(found)).encode())
    else:
        paper.attribution(found).save(path)


def _page(figure: Figure) -> str:
    """A page with a figure, which keeps the width that it needs on a phone, too."""
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>bartviz attribute</title>'
    return f"<!doctype html>\n<html>\n<head>{head}</head>\n<body>{figure._repr_html_()}</body>\n</html>\n"


def _described(found: Attribution) -> dict[str, Any]:
    method = found.method
    earlier = None if found.earlier is None else list(found.earlier.labels)
    return {
        "model": found.model,
        "method": method.name,
        "formula": method.formula,
        "paper": method.source,
        "sums": method.sums,
        "contrast": found.contrast,
        "steps": list(found.steps.labels),
        "explained": found.explained.tolist(),
        "source": list(found.source.labels),
        "values": found.values.tolist(),
        "earlier": earlier,
        "earlier_values": None if found.earlier_values is None else found.earlier_values.tolist(),
    }
