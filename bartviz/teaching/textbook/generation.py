"""Lines 22 to 28: writing a text step by step. Those without a check need a model (``textbook.measured``)."""

from __future__ import annotations

import math

import numpy as np

from bartviz.analysis.article_models import BART, MARIAN, T5, TITLES, decoder, read, rows, sizes_of
from bartviz.analysis.costs import Costs
from bartviz.analysis.measures import of_record
from bartviz.language import later
from bartviz.teaching.textbook.judging import CONFIGURATION, START, Claim, Evidence, Verdict, number

TRIED = 3e19  # a billion a second for a thousand years of 3.15e7 seconds
SOURCE, TARGET = 512, 64  # tokens of a text and of its summary
WANTED = ("Ich", "will", "ein", "Auto", "kaufen")


def _reused(evidence: Evidence) -> Verdict:
    record, basis = evidence.written()
    keys = record.attention("cross").keys  # (L, H, S, d)
    layers = len(keys)
    apart = min((float(np.abs(keys[i] - keys[j]).max()) for i in range(layers) for j in range(i)), default=0.0)
    matrices = len({row.name for row in rows(BART) if row.role == "cross-attention key weight"})
    numbers = (
        number(later("BART base: key matrices of cross-attention"), 1, matrices),
        number(later("keys of two layers: smallest of their largest differences"), 0, round(apart, 2), apart < 1e-6),
    )
    why = later(
        "The encoder's output is the same for all, and keys and values are kept from step to step; but each of the "
        "{layers} decoder layers makes its own keys and values from it.",
        layers=decoder(BART).layers,
    )
    return Verdict(numbers, why, later("{first}; {second}", first=later(CONFIGURATION), second=basis))


def _expensive(_evidence: Evidence) -> Verdict:
    costs = Costs(BART)
    table = costs.operations(SOURCE, TARGET)
    once = int(table[table["side"] == "encoder"]["multiply_adds"].sum())
    steps = costs.generation(SOURCE, TARGET)
    every, again = int(steps["cached"].sum()), once * TARGET
    short = costs.generation(64, TARGET)["cached"].sum()
    small = costs.operations(64, TARGET)
    small_once = int(small[small["side"] == "encoder"]["multiply_adds"].sum())
    numbers = (
        number(
            later("{n} source tokens, {m} steps: the encoder's multiply-adds", n=SOURCE, m=TARGET),
            f"> {every:,}",
            once,
            once > every,
        ),
        number(
            later("saved by encoding once instead of at each step"),
            "> 90%",
            f"{1 - (once + every) / (again + every):.0%}",
            1 - (once + every) / (again + every) > 0.9,
        ),
        number(
            later("{n} source tokens, {m} steps: the encoder's multiply-adds", n=64, m=TARGET),
            f"> {int(short):,}",
            small_once,
            small_once > short,
            core=False,
        ),
    )
    why = later(
        "For a long text and a short summary it is {share:.0%} of the work; for as many words out as in, the "
        "decoder is the expensive part.",
        share=once / (once + every),
    )
    return Verdict(numbers, why, later(CONFIGURATION))


def _product(evidence: Evidence) -> Verdict:
    record, basis = evidence.written()
    chosen = [step.chosen.probability for step in record.steps]
    product, total = math.prod(chosen), record.log_probability
    logs = sum(math.log(max(one, 1e-300)) for one in chosen)
    numbers = (
        number(
            later("product of {steps} probabilities", steps=len(chosen)),
            float(f"{math.exp(total):.6g}"),
            float(f"{product:.6g}"),
            math.isclose(product, math.exp(total), rel_tol=1e-4),
        ),
        number(
            later("sum of their logarithms"), round(total, 4), round(logs, 4), math.isclose(total, logs, abs_tol=1e-3)
        ),
    )
    why = later(
        "p = {p:.3g}, log p = {log:.2f}. It is the chain rule; Bayes' rule, which one article names for it, "
        "turns a condition around and is not needed.",
        p=product,
        log=total,
    )
    return Verdict(numbers, why, basis)


def _start(evidence: Evidence) -> Verdict:
    record, basis = evidence.shipped(START)
    given = record.attention("decoder").query.labels[0]
    config = read(BART)
    numbers = [
        number(
            later("BART base: first decoder id"), int(config["bos_token_id"]), int(config["decoder_start_token_id"])
        ),
        number(later("first decoder input of the BART that ships"), "<s>", given),
    ]
    for name in (MARIAN, T5):
        found = read(name)
        label = later("{model}: it starts from a padding token", model=TITLES[name])
        start, pad = int(found["decoder_start_token_id"]), int(found["pad_token_id"])
        numbers.append(number(label, pad, start, core=False))
    why = later(
        "A start token is needed, but BART's is {given} (id {start}), its end token, and Marian and T5 start from "
        "their padding token; <s> is what BART then writes first.",
        given=given,
        start=config["decoder_start_token_id"],
    )
    return Verdict(tuple(numbers), why, later("{first}; {second}", first=later(CONFIGURATION), second=basis))


def _last_head(evidence: Evidence) -> Verdict:
    record, basis = evidence.shipped(START)
    scores = of_record(record, "cross").values["alignment"]  # (L, H)
    layer, head = (int(place) for place in np.unravel_index(int(np.nanargmax(scores)), scores.shape))
    last, best, better = float(scores[-1, 0]), float(scores[layer, head]), int((scores > scores[-1, 0]).sum())
    numbers = (
        number(
            later("last layer, first head: weight on words that choose each other"),
            "≥ 0.5",
            round(last, 3),
            last >= 0.5,
        ),
        number(later("heads that align better"), 0, better, core=False),
        number(later("best head"), f"L{len(scores) - 1}H0", f"L{layer}H{head}", core=False),
    )
    why = later(
        "It puts {last:.3f} of its weight on pairs of words that choose each other; {better} of {heads} heads do "
        "better, L{layer}H{head} best with {best:.3f}.",
        last=last,
        better=better,
        heads=scores.size,
        layer=layer,
        head=head,
        best=best,
    )
    return Verdict(numbers, why, basis)


def _car(evidence: Evidence) -> Verdict:
    record, basis = evidence.shipped(START)
    words = [step.chosen.label for step in record.steps if step.chosen.label.strip().isalpha()]
    place = next(i for i, step in enumerate(record.steps) if step.chosen.label == words[1])
    second = {candidate.label: candidate.probability for candidate in record.steps[place].candidates}
    same = sum(one == other for one, other in zip(words, WANTED, strict=False))
    numbers = (
        number(later("words as in the article"), len(WANTED), same, same >= len(WANTED) - 1),
        number(later("second word"), WANTED[1], words[1], core=False),
        number(
            later("probability of “{word}” there", word=WANTED[1]),
            later("the largest"),
            f"{second.get(WANTED[1], 0):.0%}",
            words[1] == WANTED[1],
            core=False,
        ),
        number(later("token that ends the text"), "</s>", record.steps[-1].chosen.label),
    )
    why = later(
        "The small translator that ships writes “{text}”: {same} of {words} words, “{other}” with {p:.0%} and “will” "
        "at {q:.0%}. The end token ends it.",
        text=record.target_text,
        same=same,
        words=len(WANTED),
        other=words[1],
        p=second[words[1]],
        q=second.get(WANTED[1], 0),
    )
    return Verdict(numbers, why, basis)


def _space(evidence: Evidence) -> Verdict:
    record, basis = evidence.shipped(START)
    length, tiny, base = len(record.steps) - 2, record.model.vocabulary, sizes_of(BART).vocabulary
    numbers = (
        number(later("texts of {n} tokens, vocabulary {size:,}", n=length, size=tiny), f"> {TRIED:.0e}",
               float(tiny**length), tiny**length > TRIED),
        number(later("texts of {n} tokens, vocabulary {size:,}", n=length, size=base), f"> {TRIED:.0e}",
               float(base**length), base**length > TRIED),
    )  # fmt: skip
    why = later(
        "A text of {n} tokens is one of {size:,}^{n}; a billion tried each second for a thousand years are about "
        "{tried:.0e}.",
        n=length,
        size=base,
        tried=TRIED,
    )
    return Verdict(numbers, why, later("{first}; {second}", first=later(CONFIGURATION), second=basis))


CLAIMS: tuple[Claim, ...] = (
    Claim("22", "generation", ("seq", "bart chapter"), "decoding", {}),
    Claim("22b", "generation", ("korean",), "heads", {"kind": "cross"}, _reused),
    Claim("22c", "generation", ("bart chapter",), "parameters", {"of": BART, "n": "512"}, _expensive),
    Claim("22d", "generation", ("bart chapter", "korean"), "experiments", {"experiment": "ablation"}),
    Claim("23", "generation", ("seq", "korean"), "decoding", {}, _product),
    Claim("23b", "generation", ("seq",), "decoding", {}, _space),
    Claim("24b", "generation", ("seq",), "decoding", {}),
    Claim("25c", "generation", ("bart chapter",), "heads", {"kind": "cross"}),
    Claim("25d", "generation", ("bart chapter",), "decoding", {}),
    Claim("28b", "generation", ("seq",), "decoding", {}),
    Claim("24", "generation", ("seq", "bart chapter"), "decoding", {"step": "1"}, _start),
    Claim("25", "generation", ("bart chapter",), "heads", {"kind": "cross", "layer": "3", "head": "0"}),
    Claim(
        "25b", "generation", ("bart chapter",), "alignment", {"align": "head", "layer": "3", "head": "0"}, _last_head
    ),
    Claim("26", "generation", ("seq",), "decoding", {"step": "3"}, _car),
    Claim("27", "generation", ("korean",), "decoding", {}),
    Claim("28", "generation", ("seq",), "parameters", {"of": BART, "part": "head"}),
)
