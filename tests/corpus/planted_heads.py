"""Networks with planted heads of twelve kinds, and how many of these are found:
``nice python -m tests.corpus.planted_heads [--networks 200] [--workers 2]``, ten minutes on two idle cores.

A pattern has several heads that follow it where one kind does what another one does, and more: a head that looks at the
previous token looks within 3 tokens. Heads with about half of their weight on a pattern may be found or not.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import torch

import bartviz
from bartviz.corpus import pattern_work
from bartviz.corpus.encode import Encoded, encode
from bartviz.corpus.read import Line
from bartviz.models.model import Model
from tests.support import planted

TEXTS = 60
PATTERNS = {
    "previous": "from any to previous token",
    "next": "from any to next token",
    "itself": "from any to itself",
    "three": "from any to 3 back",
    "broad": "from any to within 3",
    "first": "from any to first token",
    "delimiter": "from any to special",
    "same": "from word to same token",
    "role": 'from role="v" to role="s"',
    "induction": "from word to next token of same token",
    "alignment": "from word just read to link",
    "beside": "from word just read to next token of link",
    "copy": "from number just read to same token",
}
ENCODER = ("next", "itself", "first", "delimiter", "same", "role", "three", "broad")
ALSO = {
    "delimiter": {"first"},  # the first token is special
    "broad": {"previous", "next"},
    "copy": {"same", "alignment"},  # a number translates to itself
}
MAYBE = {"first": {"delimiter"}, "broad": {"three"}}
NETWORKS = 200
COLUMNS = ("follow", "found", "others", "random")


def texts(seed: int) -> list[dict[str, str]]:
    """Sources with words that come twice, their words in another order, some again, and who is linked to whom."""
    generator, found = np.random.default_rng(seed), []
    ids = planted.translation(seed)
    for _ in range(TEXTS):
        words = planted.SPECIAL + generator.permutation(planted.WORDS)[: generator.integers(4, 8)]
        number = planted.SPECIAL + planted.WORDS + generator.integers(planted.NUMBERS)
        words = np.insert(words, generator.integers(3), number)
        source = np.concatenate([words, words[:2]])
        target = ids[generator.permutation(words)]
        target = np.concatenate([target, target[:3]])
        links = [f"{i}-{j}" for i, j in np.argwhere(ids[source][:, None] == target)]
        role = ["vso"[min((word - planted.SPECIAL) // planted.KINDS, 2)] for word in source]
        text, output = planted.written(source), planted.written(target)
        found.append({"text": text, "target": output, "gold": " ".join(links), "role": " ".join(role)})
    return found


def network(seed: int) -> planted.Heads:
    """What the heads of a network do."""
    one, two, three = (ENCODER[(seed + step) % len(ENCODER)] for step in range(3))
    return {
        "encoder 0": ("previous", one),
        "encoder 1": (two, three),
        "decoder 0": ("previous", "same"),
        "decoder 1": ("induction", ("three", "first", "itself")[seed % 3]),
        "cross 0": ("alignment", "beside"),
        "cross 1": ("copy", "even"),
    }


@contextmanager
def encoded_once() -> Iterator[None]:
    """The texts of a network are encoded once, not for each pattern again: that takes most of the time."""
    known: dict[tuple[Line, bool], Encoded] = {}

    def remembered(model: Model, line: Line, *, labels: bool, **more: Any) -> Encoded:
        if (line, labels) not in known:
            known[line, labels] = encode(model, line, labels=labels, **more)
        return known[line, labels]

    with mock.patch.object(pattern_work, "encode", remembered):
        yield


@encoded_once()
def of_planted(seed: int) -> list[tuple[str, set[str], set[str]]]:
    """Of each pattern: its name, the heads that follow it by construction, and those that are found in both halves of
    the texts; without those that may be found or not."""
    heads = network(seed)
    model, corpus = planted.planted(heads, seed), texts(seed)
    places = {f"{site.replace(' ', ' L')}H{at}": one for site, both in heads.items() for at, one in enumerate(both)}
    tested = []
    for name, pattern in PATTERNS.items():
        wanted = {place for place, one in places.items() if one in {name, *ALSO.get(name, ())}}
        maybe = {place for place, one in places.items() if one in MAYBE.get(name, ())}
        if wanted:
            found = set(bartviz.find_heads(model, corpus, pattern).replicated)
            tested.append((name, wanted - maybe, found - maybe))
    return tested


@encoded_once()
def of_random(seed: int) -> list[tuple[str, set[str]]]:
    """Of each pattern: its name, and the heads of a random network that are found in both halves of the texts."""
    model, corpus = planted.random(seed), texts(seed)
    return [(name, set(bartviz.find_heads(model, corpus, pattern).replicated)) for name, pattern in PATTERNS.items()]


def tried(seed: int) -> Counter[tuple[str, str]]:
    """Of a network and of a random one, by pattern: heads that follow it, found, others, random."""
    torch.set_num_threads(1)
    counts = Counter[tuple[str, str]]()
    for name, wanted, named in of_planted(seed):
        counts[name, "follow"] += len(wanted)
        counts[name, "found"] += len(wanted & named)
        counts[name, "others"] += len(named - wanted)
    for name, named in of_random(seed):
        counts[name, "random"] += len(named)
    return counts


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Find planted heads, and none of random networks.")
    parser.add_argument("--networks", type=int, default=NETWORKS)
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args(given)
    counts = Counter[tuple[str, str]]()
    with multiprocessing.get_context("spawn").Pool(asked.workers) as pool:
        for done, found in enumerate(pool.imap_unordered(tried, range(asked.networks)), start=1):
            counts += found
            whole = {column: sum(counts[name, column] for name in PATTERNS) for column in COLUMNS}
            print(done, whole, flush=True)
    print("| pattern | heads that follow it | found | others found | found in random networks |\n|---|---|---|---|---|")
    for name, pattern in PATTERNS.items():
        print(f"| `{pattern}` | {' | '.join(str(counts[name, column]) for column in COLUMNS)} |")


if __name__ == "__main__":
    main()
