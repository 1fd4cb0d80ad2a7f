"""One step after another: what is on the tape stays, a run is stopped, and texts of a batch leave each other alone."""

from __future__ import annotations

import pytest
import torch

from bartviz.errors import Cancelled
from bartviz.run.step import Stepper
from bartviz.tape.tape import Tape, Tapes, recording
from tests.support import loaded


@torch.inference_mode()
def test_what_is_on_the_tape_stays_when_the_rows_are_put_into_another_order() -> None:
    model = loaded.model("bart")
    tape = Tape()
    with recording(tape):
        stepper = Stepper.start(model, torch.tensor([[0, 7, 9, 2]]))
        stepper.step(torch.tensor([[2]]))
        stepper.reorder(torch.tensor([0, 0]))
        stepper.step(torch.tensor([[8], [9]]))
        before = tape.entries["decoder", 0].k
        assert before is not None
        copied = before.clone()
        stepper.reorder(torch.tensor([1, 1]))
        stepper.step(torch.tensor([[4], [5]]))
    assert torch.equal(before, copied)
    assert not torch.equal(before[0], before[1])
    after = tape.entries["decoder", 0].k
    assert after is not None
    assert torch.equal(after[0, :, :2], after[1, :, :2])


def test_a_run_is_stopped_at_the_next_layer() -> None:
    model, asked = loaded.model("bart"), 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked == 3 + 4 + 2  # 3 layers of the encoder, one step of 2 x 2, then the second of the next

    with recording(Tape(cancelled=cancelled)), torch.inference_mode():
        stepper = Stepper.start(model, torch.tensor([[0, 7, 2]]))
        stepper.step(torch.tensor([[2]]))
        with pytest.raises(Cancelled):
            stepper.step(torch.tensor([[9]]))
    assert asked == 9


@torch.inference_mode()
def test_a_text_of_a_batch_keeps_no_memory_of_the_others() -> None:
    model, tapes = loaded.model("bart"), [Tape(), Tape()]
    sources = [torch.tensor([[0, 7, 9, 11, 2]]), torch.tensor([[0, 8, 2]])]
    steppers = []
    for tape, source in zip(tapes, sources, strict=True):
        with recording(tape):
            steppers.append(Stepper.start(model, source))
    with recording(Tapes(tapes, [5, 3])):
        Stepper.joined(steppers).step(torch.tensor([[2], [2]]))
    for tape, length in zip(tapes, (5, 3), strict=True):
        tape.part()
        keys = tape.entries["cross", 1].k
        assert keys is not None
        assert keys.shape[2] == length
        assert keys.untyped_storage().nbytes() == keys.nbytes
