"""Weights between those of two models of one shape, where the second was trained on from the first.

Training on new kinds of text costs a little of what was known before; a mean of both keeps most of each (Wortsman et
al. 2022, "Robust fine-tuning of zero-shot models").

python -m training.blend --before FOLDER --after FOLDER --share 0.75 --out FOLDER
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from training import measure, networks


def blended(before: Mapping[str, Tensor], after: Mapping[str, Tensor], share: float) -> dict[str, Tensor]:
    """Each tensor: `share` of the second model's, the rest of the first's. Raises ValueError if their names differ."""
    if before.keys() != after.keys():
        raise ValueError("the two models have other weights: both must be of one shape")
    return {name: before[name].lerp(after[name], share) for name in before}


def main() -> None:
    """Read the command line, blend and write the folder that ships."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("before", "after", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--share", type=float, required=True, help="of the second model, 0 to 1")
    parser.add_argument("--int8", action="store_true", help="write matrices as int8 rows, half of float16's size")
    given = parser.parse_args()
    model, tokenizer = measure.load(given.before)
    after, _ = measure.load(given.after)
    model.load_state_dict(blended(model.state_dict(), after.state_dict(), given.share))
    networks.export(model, tokenizer, given.out, int8=given.int8)


if __name__ == "__main__":
    main()
