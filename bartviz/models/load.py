"""bartviz.load: rejects an unknown name at once, before the model library is imported."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal

from bartviz.errors import ModelError
from bartviz.language import later
from bartviz.models import hub
from bartviz.models.deadline import DEADLINE, Cancel, Job, Progress, run
from bartviz.models.location import Location, locate
from bartviz.models.roots import Roots
from bartviz.safety import other_libraries
from bartviz.safety.reservations import Claims, unbounded

if TYPE_CHECKING:
    from bartviz.models.model import Model

Place = Literal["here", "cache", "hub"]


def load(
    model: str | os.PathLike[str],
    /,
    *,
    name: str | None = None,
    device: str = "cpu",
    revision: str | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    deadline: float = DEADLINE,
    roots: Roots | None = None,
    budget: int | None = None,
    claims: Claims | None = None,
    fetch: bool = True,
) -> Model:
    """A model by embedded name, folder, or hub id (downloaded once, then kept in the hub's cache).

    name: what records call it; None: an embedded name or hub id as it is, a folder's by its own name (by the one above
    it if that is "model", "checkpoint-500" or a hash).
    device: where it computes, "cpu", "cuda", "cuda:1", "mps", or "auto" for the accelerator if there is one.
    revision: the hub's branch, tag or commit. progress(bytes done, bytes in all): of the download, called in this
    thread. cancel: an event that stops loading. deadline: seconds for everything. roots: only folders under these are
    read (None: any). budget: bytes that the weights may take (None: the free memory). claims reserves the model's bytes
    before its weights are read (None: without a limit); they stay reserved while the model exists. fetch: whether the
    hub may be asked; without it a model of the hub is read as it was downloaded earlier.
    Raises ModelError (what is wrong and what to do), BudgetError, SettingError for a device that is not there,
    Cancelled.

    >>> model = bartviz.load("bart-tiny-en-de")
    >>> model.info.name
    'bart-tiny-en-de'
    """
    location = check(model, revision, roots, fetch=fetch)
    with other_libraries.starting():
        from bartviz.models import model as models

    def work(job: Job) -> Model:
        return models.read(location, name, budget, claims or unbounded, job, device, fetch=fetch)

    return run(work, seconds=deadline, cancel=cancel, progress=progress)


def check(
    name: str | os.PathLike[str], revision: str | None = None, roots: Roots | None = None, *, fetch: bool = True
) -> Location:
    """Where a model is. Raises ModelError within a second for an invalid name, and for a hub model that is not on this
    machine while the hub cannot be reached."""
    with _guarded():
        location = locate(name, revision, roots)
        hub.check(location, fetch=fetch)
    return location


def place(name: str | os.PathLike[str], roots: Roots | None = None) -> Place:
    """Where a model's files are: "here", with the package or in a folder; in the "cache" of the hub; or at the "hub",
    which is not asked. Raises ModelError for an invalid name."""
    with _guarded():
        location = locate(name, None, roots)
        if location.folder is not None:
            return "here"
        return "cache" if hub.is_here(location) else "hub"


def _guarded() -> AbstractContextManager[None]:
    return other_libraries.guarded(ModelError(later("The model's name cannot be looked up. Give another one.")))
