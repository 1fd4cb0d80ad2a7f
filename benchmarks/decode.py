"""decode() with everything kept, against generate() without attention and inseq: the same tokens."""

from __future__ import annotations

import copy
import warnings
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import torch
from transformers import GenerationConfig

import bartviz
from bartviz.families.catalogue import EMBEDDED
from bartviz.record.record import Record
from benchmarks.pairs import paired
from benchmarks.subjects import ids, subject, text

NEW = 32


def report(folder: Path, *, lengths: tuple[int, ...] = (32, 128, 512), seconds: float = 15.0) -> None:
    print(f"\nDecoding {NEW} tokens: CPU time of bartviz.decode, everything kept, / generate() without attention")
    model = subject("facebook/bart-base", folder)
    plain = copy.deepcopy(model.network)
    plain.set_attn_implementation("sdpa")
    model.generation.eos_token_id = None  # random weights may end at any step; both go on to the same length
    model.generation.forced_eos_token_id = None
    settings = GenerationConfig(
        decoder_start_token_id=2,
        bos_token_id=0,
        pad_token_id=1,
        num_beams=1,
        do_sample=False,
        max_new_tokens=NEW,
        forced_bos_token_id=model.generation.forced_bos_token_id,
    )
    plain.generation_config = settings
    for n in lengths:
        source, tensor = text(n), torch.tensor([ids(n)])

        def ours(source: str = source) -> Record:
            return bartviz.decode(model, source, max_new_tokens=NEW)

        def theirs(tensor: torch.Tensor = tensor) -> list[int]:
            out: list[int] = plain.generate(tensor, generation_config=settings)[0, 1:].tolist()
            return out

        same = [step.chosen.token_id for step in ours().steps] == theirs()
        ratio = paired(ours, theirs, seconds=seconds)
        print(f"  facebook/bart-base   n = {n:5}   {ratio}   same tokens: {same}", flush=True)
    _inseq(seconds)
    _together(seconds)


def _inseq(seconds: float) -> None:
    """A sentence with the attention of its decoder: inseq is not among our packages, and measured where it is there."""
    if find_spec("inseq") is None:
        print("  bart-tiny-en-de, a sentence / inseq: not installed", flush=True)
        return
    import inseq

    warnings.simplefilter("ignore")
    options = {"attn_implementation": "eager"}
    peer = inseq.load_model(str(EMBEDDED / "bart-tiny-en-de"), "attention", model_kwargs=options)
    model, text = bartviz.load("bart-tiny-en-de"), "The teacher gave the old book to a friend of mine."

    def theirs() -> Record:
        output = peer.attribute(text, attribute_target=True, show_progress=False)
        return bartviz.from_attentions(output)

    same = bartviz.decode(model, text).target_text == theirs().target_text
    ratio = paired(lambda: bartviz.decode(model, text), theirs, seconds=seconds)
    print(f"  bart-tiny-en-de, a sentence / inseq {version('inseq')}   {ratio}   same text: {same}", flush=True)


def _together(seconds: float) -> None:
    """Texts that visitors send at the same time, with what the app keeps of each."""
    model = bartviz.load("bart-tiny-en-de")
    texts = [f"I have {number} books and {number + 50} dogs." for number in range(8)]
    ratio = paired(
        lambda: bartviz.decode_batch(model, texts, values=True),
        lambda: [bartviz.decode(model, text, values=True) for text in texts],
        seconds=seconds,
    )
    print(f"  bart-tiny-en-de, 8 texts together / one after another   {ratio}", flush=True)
