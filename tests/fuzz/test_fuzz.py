"""A few of the mutation tests, and the commands that count them; ``make fuzz`` runs many."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random

import pytest

from bartviz.record import store
from bartviz.record.record import Record
from tests.fuzz import __main__ as command
from tests.fuzz import mutations, worker
from tests.fuzz.targets import TARGETS, Records, Target
from tests.support import stand_in

FEW = {"records": 40, "uploads": 200, "models": 12, "addresses": 2, "atlases": 20, "shards": 20, "parts": 20}


@pytest.mark.some("records", "addresses")
@pytest.mark.slow
@pytest.mark.parametrize("name", FEW)
def test_nothing_escapes(name: str) -> None:
    outcome = command.attack(name, 0, 0, FEW[name], 6)
    assert outcome.ends.total() == FEW[name]
    assert not outcome.escapes, "\n".join(outcome.lines())


def test_every_target_has_its_share() -> None:
    assert set(command.SHARES) == set(TARGETS) - {"models"}


def test_a_case_is_made_from_its_number_alone() -> None:
    data = store.encode(stand_in.record())
    made = [[Records.spoilt(Random(f"records 0 {number}"), data) for number in range(30)] for _ in range(2)]
    assert made[0] == made[1]
    assert len(set(made[0])) > 25


@pytest.mark.slow
def test_a_value_changes_in_one_place_and_the_rest_stays() -> None:
    value = json.loads(mutations.head(store.encode(stand_in.record()))[0]["__metadata__"]["bartviz"])
    before = json.dumps(value)
    for number in range(100):
        mutations.written(Random(number), mutations.tree(Random(number), value))
    assert json.dumps(value) == before


class Broken(Target):
    """A target in which everything goes wrong."""

    def prepare(self) -> None:
        """Nothing is needed."""

    def attack(self, random: Random) -> None:
        del random
        raise ValueError("not ours")


class Unusable(Records):
    """Records that open and cannot be saved."""

    def attack(self, random: Random) -> None:
        from tests.fuzz import use

        def fail(_record: Record, _path: Path) -> None:
            raise OSError(28, "no room")

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Record, "save", fail)
            use.use(stand_in.record(), random, self.folder, 0)


@pytest.mark.parametrize(("kind", "said"), [(Broken, "ValueError"), (Unusable, "save: OSError")])
def test_what_is_not_ours_is_an_escape(kind: type[Target], said: str, tmp_path: Path) -> None:
    told = worker.case(kind(tmp_path, 0), "x", 0, 7)
    assert (told["end"], told["case"]) == ("escape", 7)
    assert said in str(told["what"])


def test_a_process_that_dies_costs_one_case(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "dies"
    script.write_text(
        "#!/bin/sh\necho '{\"ready\": true}'\n"
        """if [ "$6" = 2 ]; then echo '{"case": 2, "end": "opened"}'; exit 9; fi\n"""
        """echo '{"case": 4, "end": "opened"}'\n"""
    )
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    outcome = command.attack("records", 0, 2, 5, 0)
    assert outcome.ends == {"opened": 2, "escape": 1}
    assert outcome.escapes[0][0] == 3
    assert "died (9)" in outcome.lines()[1]
    assert "--only 3" in outcome.lines()[1]
