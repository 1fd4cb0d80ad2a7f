"""A process that runs the cases of one target in order, and reports each as a line of JSON.

Called as ``python -m tests.fuzz.worker TARGET SEED USES FIRST LAST`` by ``tests.fuzz``, which watches over it.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
import traceback
from pathlib import Path
from random import Random

from bartviz.errors import BartvizError
from tests.fuzz.targets import TARGETS, Target
from tests.fuzz.use import NotUsed


def case(target: Target, name: str, seed: int, number: int) -> dict[str, object]:
    """What became of one case, and the seconds of processor time that it took."""
    start = time.process_time()
    told: dict[str, object]
    try:
        target.attack(Random(f"{name} {seed} {number}"))
        told = {"end": "opened"}
    except BartvizError as error:
        told = {"end": "refused", "what": type(error).__name__}
        str(error).encode()  # said to a person
    except NotUsed as error:
        told = {"end": "escape", "what": f"{error}: {_place(error.__cause__ or error)}"}
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        told = {"end": "escape", "what": _place(error)}
    return told | {"case": number, "seconds": time.process_time() - start}


def _place(error: BaseException) -> str:
    """The kind of an error, its first words, and the last line of ours that it went through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/bartviz/" in frame.filename]
    where = f" at {'/'.join(Path(frames[-1].filename).parts[-2:])}:{frames[-1].lineno}" if frames else ""
    said = str(error).strip()
    return f"{type(error).__name__}{where} ({said[-160:] if 'Traceback' in said or ' File ' in said else said[:160]})"


def main(name: str, seed: int, uses: int, first: int, last: int) -> None:
    kind = TARGETS[name]
    with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
        target = kind(Path(place), uses)
        resource.setrlimit(resource.RLIMIT_AS, (kind.memory, kind.memory))
        print(json.dumps({"ready": True}), flush=True)
        for number in range(first, last):
            print(json.dumps(case(target, name, seed, number), ensure_ascii=True), flush=True)
        print(json.dumps({"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:6]))
