"""Run the mutation tests and print the results; the exit code is 1 if an unexpected error was raised."""

from __future__ import annotations

import argparse
import json
import os
import queue
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import IO

from tests.fuzz.targets import LONG, TARGETS

STARTING = 600  # seconds until a worker is ready
PATIENCE = 300  # seconds for one case, on a machine that may be busy; a hang, not a slow case
SHARES = {
    "records": 1.0,
    "uploads": 5.0,
    "weights": 0.25,
    "configurations": 0.25,
    "tokenizers": 0.15,
    "atlases": 0.25,
    "shards": 0.25,
    "parts": 1.0,
    "addresses": 0.05,
}
# of N


@dataclass
class Outcome:
    """What became of the cases of one target."""

    target: str
    seed: int
    ends: Counter[str] = field(default_factory=Counter)
    escapes: list[tuple[int, str]] = field(default_factory=list)
    slow: list[tuple[int, float]] = field(default_factory=list)
    peak: int = 0  # kB

    def add(self, told: dict[str, object]) -> None:
        number, seconds = int(str(told["case"])), float(str(told.get("seconds", 0.0)))
        self.ends[str(told["end"])] += 1
        if told["end"] == "escape":
            self.escapes.append((number, str(told["what"])))
        if seconds > LONG:
            self.slow.append((number, seconds))

    def lines(self) -> list[str]:
        """A row of the table, and a line for each escape that says how it is seen again."""
        ends, slowest = self.ends, max((seconds for _, seconds in self.slow), default=0.0)
        row = (
            f"{self.target:<15}{ends.total():>7}{ends['opened']:>8}{ends['refused']:>9}{ends['escape']:>9}"
            f"{len(self.slow):>6}{slowest:>9.1f}{self.peak // 1024:>7}"
        )
        again = f"python -m tests.fuzz {self.target} --seed {self.seed} --only"
        return [row, *(f"  {what}\n    {again} {number}" for number, what in self.escapes)]


HEAD = f"{'target':<15}{'N':>7}{'opened':>8}{'refused':>9}{'escapes':>9}{'slow':>6}{'longest':>9}{'MB':>7}"


def attack(target: str, seed: int, first: int, last: int, uses: int) -> Outcome:
    """Run the cases of a target in processes that may die or hang: the next one goes on behind the case that did it."""
    outcome = Outcome(target, seed)
    while first < last:
        first = _work(outcome, first, last, uses)
    return outcome


def _work(outcome: Outcome, first: int, last: int, uses: int) -> int:
    """One process; gives the number of the first case that it has not done."""
    command = [sys.executable, "-m", "tests.fuzz.worker", outcome.target, str(outcome.seed), str(uses)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "RUST_BACKTRACE": "0"}
    lines: queue.Queue[str | None] = queue.Queue()
    complaints: list[str] = []
    with subprocess.Popen(
        [*command, str(first), str(last)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        readers = [
            threading.Thread(target=_read, args=(process.stdout, lines.put), daemon=True),
            threading.Thread(
                target=_read, args=(process.stderr, lambda said: complaints.append(said or "")), daemon=True
            ),
        ]
        for reader in readers:
            reader.start()
        patience = STARTING
        try:
            while (line := lines.get(timeout=patience)) is not None:
                if not line.startswith("{"):
                    continue
                told = json.loads(line)
                patience = PATIENCE
                if "case" in told:
                    outcome.add(told)
                    first = int(told["case"]) + 1
                outcome.peak = max(outcome.peak, told.get("peak", 0))
            code = process.wait()
            what = f"the process died ({code}): {''.join(complaints[-4:]).strip()}"
        except queue.Empty:
            what = f"no end after {patience} seconds"
        finally:
            process.kill()
            for reader in readers:
                reader.join()
    if first < last:
        if patience == STARTING:
            raise SystemExit(f"{outcome.target} could not begin: {what}")
        outcome.add({"case": first, "end": "escape", "what": what})
        first += 1
    return first


def _read(stream: IO[str] | None, put: object) -> None:
    assert stream is not None
    assert callable(put)
    for line in stream:
        put(line)
    put(None)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="target", help=", ".join(TARGETS), choices=[*TARGETS, []])
    parser.add_argument("--n", type=int, default=400, help="records; of the others a share of it (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--uses", type=int, default=8, help="figures drawn of each record that opens (%(default)s)")
    parser.add_argument("--only", type=int, help="one case, by its number")
    given = parser.parse_args()
    escaped = 0
    print(HEAD, flush=True)
    for target in given.targets or SHARES:
        first, last = (0, max(1, round(SHARES.get(target, 1.0) * given.n)))
        if given.only is not None:
            first, last = given.only, given.only + 1
        outcome = attack(target, given.seed, first, last, given.uses)
        escaped += len(outcome.escapes)
        print("\n".join(outcome.lines()), flush=True)
    print(f"{escaped} escapes" if escaped else "nothing escaped")
    return int(escaped > 0)


if __name__ == "__main__":
    sys.exit(main())
