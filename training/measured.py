"""Make the verdicts of the textbook that need a run of a model, or long. ``python -m training.measured``."""

from __future__ import annotations

import bartviz
from bartviz.features.textbook import measured, run_measured, verdict
from bartviz.features.textbook.judging import MODEL, Verdict
from bartviz.record import store


def made() -> dict[str, Verdict]:
    """The verdicts by the number of their claims."""
    fixed = {number: found for number in measured.LONG if (found := verdict(number)) is not None}
    return run_measured.judge_all(bartviz.load(MODEL)) | fixed


def main() -> None:
    """Write the file of the textbook."""
    found = made()
    store.replace(measured.FILE, measured.to_json(found).encode())
    print(f"{measured.FILE.name}: {', '.join(f'{number} {one.word}' for number, one in found.items())}")


if __name__ == "__main__":
    main()
