"""Make the numbers of the lesson "Is attention an explanation?": one word of the start page's record by every method of
attribution, judged. ``python -m training.judged``, after ``training.records``.
"""

from __future__ import annotations

import numpy as np

import bartviz
from bartviz.analysis import start
from bartviz.analysis.attribution_methods import METHODS
from bartviz.attribution.judge import judge, without
from bartviz.features.lessons.judged import FILE, JudgedWord
from bartviz.features.why import numbers
from bartviz.record import store
from bartviz.serving import saved_records


def made() -> JudgedWord:
    """The word that the start page shows first, by every method."""
    record = saved_records.read("start")
    model = bartviz.load(record.model.name)
    places = numbers.places(record)
    at = numbers.chosen(record, places, None)
    found = {name: bartviz.attribute(model, record, method=name, step=at) for name in METHODS}
    strong, others = numbers.to_remove(record, places[at], numbers.shown(record, found["leave-one-out"]))
    fallen = [without(model, record, words, step=at) for words in (strong, others)]
    verdicts = judge(model, record)
    words = found["leave-one-out"].words().source
    return JudgedWord(
        row=start.row_of(record, "cross"),
        methods=tuple(METHODS),
        words=words.labels,
        special=words.special,
        values=np.stack([one.words().values[0] for one in found.values()]),
        verdicts=tuple(verdicts[name].verdict for name in METHODS),
        chance=fallen[0].before,
        removed=tuple(words.labels[i] for i in strong),
        without=fallen[0].after,
        drawn=tuple(words.labels[i] for i in others),
        at_random=fallen[1].after,
    )


def main() -> None:
    """Write the file beside the records."""
    one = made()
    store.replace(FILE, store.to_json(one).encode())
    print(f"{FILE.name}: {', '.join(f'{name}: {said}' for name, said in zip(one.methods, one.verdicts, strict=True))}")


if __name__ == "__main__":
    main()
