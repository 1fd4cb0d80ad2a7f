"""Measure the models that ship, and print the tables that their cards quote.

python -m training.evaluate --corpus FOLDER [--models bartviz/embedded] [--split test] [--only MODEL]
python -m training.evaluate --cases | --own | --fresh
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

import bartviz
from bartviz.analysis.aligners import READINGS
from bartviz.analysis.denoising import NOISE
from bartviz.arrays import Floats
from training import bert, context, corpus, everyday, fresh, lists, measure, names_check, restored, sequence
from training.measure import JOBS
from training.vocabulary import POSITIONS as LONGEST

MODELS = Path("bartviz/embedded")
DENOISER, TRANSLATOR, BERT = "bart-tiny-denoise", "bart-tiny-en-de", "bert-tiny-en"
EVERYDAY = (
    "I want to buy a car.",
    "Good morning! How are you?",
    "Where is the train station?",
    "The cat is sleeping on the sofa.",
    "My brother is older than me.",
    "Can you help me, please?",
    "We are going to the cinema tonight.",
    "I don't understand this question.",
    "What time does the shop close?",
    "She has lived in Berlin for three years.",
    "The children are playing in the garden.",
    "He forgot his keys at home.",
    "I would like a cup of coffee.",
    "It was raining when we left the house.",
    "The book on the table is mine.",
    "You must not park here.",
    "If I had time, I would learn German.",
    "The teacher explained the lesson to the students.",
    "My grandmother baked a chocolate cake for my birthday.",
    "The old bridge was built before the war.",
)


def main() -> None:
    """Read the command line and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", help="folder of the corpus (default: BARTVIZ_CORPUS)")
    parser.add_argument("--models", type=Path, default=MODELS, help="folder of the model folders")
    parser.add_argument("--split", choices=("valid", "test"), default="test", help="split of the translation figures")
    parser.add_argument("--only", choices=(DENOISER, TRANSLATOR, BERT), help="measure one model")
    parser.add_argument("--cases", action="store_true", help="translate the everyday sentences and nothing else")
    parser.add_argument("--own", action="store_true", help="measure the project's own lists and nothing else")
    parser.add_argument("--fresh", action="store_true", help="try the fresh sentences and texts and nothing else")
    parser.add_argument("--beams", type=int, nargs="*", default=[1, 4], help="beams to translate with, 1 is greedy")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    if given.cases:
        print(cases(given.models / TRANSLATOR))
        return
    if given.own:
        print(own_lists(*measure.load(given.models / TRANSLATOR)))
        return
    if given.fresh:
        print(fresh_sentences(*measure.load(given.models / TRANSLATOR)))
        print(fresh_texts(*measure.load(given.models / DENOISER)))
        return
    folder = corpus.folder(given.corpus)
    for name in (TRANSLATOR, DENOISER, BERT):
        if given.only in (None, name):
            print(f"## {name}\n\n{report(name, given, folder)}", flush=True)


def report(name: str, given: argparse.Namespace, folder: Path) -> str:
    """The tables of one model."""
    if name == TRANSLATOR:
        return translator(given.models / name, folder, given.split, given.beams)
    return (denoiser if name == DENOISER else encoder)(given.models / name, folder)


def translator(model_folder: Path, folder: Path, split: str, beams: Sequence[int]) -> str:
    """BLEU, chrF, the project's own lists, and alignment error rates."""
    model, tokenizer = measure.load(model_folder)
    rows = corpus.pairs(folder, split, all_rows=True)
    found = [measure.translation(model, tokenizer, rows, count) for count in beams]
    body = [
        ["greedy" if count == 1 else f"{count} beams", f"{quality['BLEU']:.1f}", f"{quality['chrF']:.1f}"]
        for count, quality in zip(beams, found, strict=True)
    ]
    ours = bartviz.load(model_folder)
    rates = [error_rates(measure.alignments(ours, folder, reading), reading) for reading in READINGS]
    quality = table([f"{split}, {len(corpus.references(rows))} sentences", "BLEU", "chrF"], body)
    return "\n".join([quality, own_lists(model, tokenizer), *rates])


def own_lists(model: Any, tokenizer: Any) -> str:
    """Everyday sentences by kind, and names and numbers: the lists in `training/data`."""
    translate = functools.partial(sequence.translate, model, tokenizer)
    counts = everyday.by_kind(everyday.cases(), translate)
    body = [[kind, str(good), str(count)] for kind, (good, count) in counts.items()]
    single = [counts[kind] for kind in counts if kind != everyday.TWO]
    body.insert(len(single), ["all of these", *(str(sum(column)) for column in zip(*single, strict=True))])
    whole, pieces = names_check.share(names_check.cases(), translate)
    return "\n".join(
        [
            table(["everyday sentences, greedy", "right", "of"], body),
            table(
                ["names, places, numbers, times", "share"], [["sentences", f"{whole:.2f}"], ["pieces", f"{pieces:.2f}"]]
            ),
        ]
    )


def error_rates(rates: measure.Rates, labelling: str) -> str:
    """Error rate of every head, layer and combination, for one labelling of the rows."""
    count = rates.head.shape[1]
    body = [
        [f"layer {layer}", *(f"{rate:.2f}" for rate in row), f"{rates.layer[layer]:.2f}"]
        for layer, row in enumerate(rates.head)
    ]
    best = divmod(int(rates.head.argmin()), count)
    chosen, together = rates.best_heads
    lines = [
        table(
            [f"rows labelled by what they {labelling[:-1]}", *(f"H{h}" for h in range(count)), "mean of layer"], body
        ),
        f"Best head L{best[0]}H{best[1]}: {rates.head.min():.3f}. Best layer: {min(rates.layer):.3f}. "
        f"All heads: {rates.every:.3f}. {' + '.join(f'L{layer}H{head}' for layer, head in chosen)}: {together:.3f}.",
        "",
    ]
    return "\n".join(lines)


def denoiser(model_folder: Path, folder: Path) -> str:
    """Loss and token accuracy per noise function, on the validation split."""
    model, tokenizer = measure.load(model_folder)
    found = measure.reconstruction(model, tokenizer, folder)
    body = [[name, f"{accuracy:.3f}", f"{loss:.3f}"] for name, (loss, accuracy) in found.items()]
    quality = table(["noise (validation split)", "token accuracy", "loss in nats"], body)
    copied = measure.copy_heads(bartviz.load(model_folder), folder)  # (2, L, H)
    parts = [copy_table(weights, name) for weights, name in zip(copied, READINGS, strict=True)]
    return "\n".join([quality, *parts])


def copy_table(weights: Floats, labelling: str) -> str:
    """Weight of each cross-attention head on the token that a row predicts, or reads."""
    count = weights.shape[1]
    body = [[f"layer {layer}", *(f"{value:.2f}" for value in row)] for layer, row in enumerate(weights)]
    layer, head = divmod(int(weights.argmax()), count)
    most = f"Most weight: L{layer}H{head} ({weights.max():.2f}).\n"
    return table([f"weight on the token a row {labelling}", *(f"H{h}" for h in range(count))], body) + "\n" + most


def encoder(model_folder: Path, folder: Path) -> str:
    """Masked-token and next-sentence accuracy on the validation split, gaps of pairs, and the jobs of the heads."""
    model, tokenizer = measure.load(model_folder)
    found = bert.check(model, tokenizer, folder)
    quality = table(["validation split", "value"], [[name, f"{value:.3f}"] for name, value in found.items()])
    gaps = context.counts([(pair, context.guess(model, tokenizer, pair)) for pair in context.cases()])
    quality += "\n" + table(
        [f"gaps of our own pairs ({len(context.cases())})", "count"], [[name, str(n)] for name, n in gaps.items()]
    )
    jobs = measure.bert_heads(bartviz.load(model_folder), folder)  # (4, L, H)
    layers, count = jobs.shape[1:]
    body = [
        [f"L{layer}H{head}", *(f"{value:.2f}" for value in jobs[:, layer, head])]
        for layer in range(layers)
        for head in range(count)
    ]
    tops = [divmod(int(job.argmax()), count) for job in jobs]
    best = ", ".join(
        f"{name} L{layer}H{head} ({job.max():.2f})"
        for name, job, (layer, head) in zip(JOBS.values(), jobs, tops, strict=True)
    )
    return f"{quality}\n{table(['head', *JOBS.values()], body)}\nMost weight: {best}.\n"


def cases(model_folder: Path) -> str:
    """Greedy translations of everyday sentences."""
    model, tokenizer = measure.load(model_folder)
    found = sequence.translate(model, tokenizer, EVERYDAY)
    return table(["English", "German"], [[en, de] for en, de in zip(EVERYDAY, found, strict=True)])


def fresh_sentences(model: Any, tokenizer: Any) -> str:
    """The judgements of the fresh sentences by kind, and the articles' sentences to be read.

    Where the model translates some of them as no reading has judged yet: all lines of `fresh.txt`, to be judged.
    """
    translate = functools.partial(sequence.translate, model, tokenizer)
    found = fresh.translated(fresh.cases(), functools.partial(as_the_app_reads, model, tokenizer))
    if missing := sum(fresh.OPEN in case.judged for case in found):
        return f"{fresh.written(found)}\n# {missing} lines with {fresh.OPEN} are new: write 1 or 0 in their place"
    english = lists.words("held_out.toml", "articles")
    body = [[en, de] for en, de in zip(english, translate(list(english)), strict=True)]
    return "\n".join(
        [
            judgements(found),
            f"The readings agree on {fresh.agreed(found)} of {len(found)}.\n",
            table(["English of the articles", "German"], body),
        ]
    )


def as_the_app_reads(model: Any, tokenizer: Any, texts: Sequence[str]) -> list[str]:
    """Translations of what the app reads for texts that are typed in it."""
    read = [fresh.read(text, lambda part: len(tokenizer(part)["input_ids"])) for text in texts]
    return sequence.translate(model, tokenizer, read)


def judgements(found: Sequence[fresh.Case]) -> str:
    """How many of the fresh sentences are right, by kind."""
    return table(["fresh sentences, greedy", "first reading", "second reading", "both", "of"], fresh.rows(found))


def fresh_texts(model: Any, tokenizer: Any) -> str:
    """How many of the fresh texts are restored exactly, by noise function."""
    found = restored.texts()
    restore = functools.partial(sequence.translate, model, tokenizer, longest=LONGEST)
    body = [[name, str(restored.exact(found, name, restore)), str(len(found))] for name in NOISE]
    return table(["fresh texts, greedy", "restored exactly", "of"], body)


def table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A Markdown table, columns padded to be read as they are."""
    widths = [max(len(row[i]) for row in (head, *body)) for i in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |" for row in (head, *body)
    ]
    return "\n".join([lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:], ""])


if __name__ == "__main__":
    main()
