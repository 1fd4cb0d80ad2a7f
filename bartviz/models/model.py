"""Models: located, read, and validated before use.

Order of loading: the name -> the settings (sanitized, sizes checked, bytes predicted) -> the weights (safetensors
only) -> the tape -> the checks: every weight present and finite, tokenizer and vocabulary consistent, one probe pass.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NoReturn

import torch
from transformers import GenerationConfig, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from bartviz.errors import ModelError, SettingError
from bartviz.families.catalogue import EMBEDDED
from bartviz.families.dropout import dropout as dropout_of
from bartviz.language import later
from bartviz.models import build, checkpoint, device, folders, hub, weights
from bartviz.models import tokenizer as vocabulary
from bartviz.models.alone import alone
from bartviz.models.checkpoint import Settings
from bartviz.models.deadline import Job
from bartviz.models.folders import Roots
from bartviz.models.task_head import TaskHead
from bartviz.record.record import ModelInfo, Record
from bartviz.safety.foreign import guarded
from bartviz.safety.memory import Claims
from bartviz.safety.torch_defaults import torch_defaults

Source = Literal["embedded", "folder", "hub", "memory"]
Stamp = tuple[tuple[str, int, int, int], ...]
Location = tuple[Source, Path, str | None, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Model:
    """A network that has passed every check: float32, eval, its attention on the tape. Shared: do not modify it.

    ``notices`` list what was left out or replaced; ``revision`` is the hub's commit; ``nbytes`` the size in memory.
    ``head``: what a fine-tuned checkpoint labels; None for any other. ``network`` is on the CPU, to read its matrices;
    ``runner`` is what runs: the same, or its copy on another ``device``. ``output_alone``: its output layer alone makes
    the logits from the last states. ``unapplied``: the checkpoint's generation settings that runs do not apply.
    """

    info: ModelInfo
    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    config: PreTrainedConfig
    generation: GenerationConfig
    notices: tuple[str, ...]
    nbytes: int
    revision: str | None = None
    head: TaskHead | None = None
    changed: Callable[[], bool] = field(default=lambda: False, repr=False)
    copied: PreTrainedModel | None = None
    output_alone: bool = False
    unapplied: tuple[str, ...] = ()

    @property
    def runner(self) -> PreTrainedModel:
        """The network that passes run on."""
        return self.network if self.copied is None else self.copied

    @property
    def device(self) -> torch.device:
        """Where passes run; their inputs belong there."""
        return device.CPU if self.copied is None else self.copied.device

    def creating(self) -> AbstractContextManager[object]:
        """A block in which torch makes new tensors on that device."""
        return nullcontext() if self.copied is None else self.device

    def to(self, name: str) -> Model:
        """The same model with its passes on another device: "cpu", "cuda", "cuda:1", "mps", or "auto" for the
        accelerator if there is one. Raises SettingError for a device that is not there, BudgetError if it is full."""
        where = device.chosen(name)
        with guarded(ModelError(later("The model cannot be copied to {name}.", name=str(where)))):
            return replace(self, copied=None if where == device.CPU else device.on(self.network, where))

    def __repr__(self) -> str:
        info = self.info
        state = "looks trained" if info.trained else "looks untrained"
        return f"<Model {info.name}: {info.architecture}, {state}, {info.parameters:,} parameters, {info.source}>"

    def __reduce__(self) -> NoReturn:
        raise ModelError(
            later("A model cannot be copied or sent to another process: load it there by its name, and send records.")
        )

    def stale(self) -> bool:
        """Whether the files, or the weights of a wrapped network, have changed since the model was validated.

        A loaded model goes on with the weights that were validated. A wrapped network is refused from then on.
        """
        return self.changed()


def expect_model(model: object, record: object = None) -> None:
    """Raise SettingError unless the arguments are a model and, if given, a record; ModelError if the weights of a
    wrapped network have changed."""
    if not isinstance(model, Model):
        advice = " Wrap it first: bartviz.wrap(network, tokenizer)." if isinstance(model, PreTrainedModel) else ""
        if isinstance(getattr(model, "model", None), PreTrainedModel):
            advice = " Wrap its network: bartviz.wrap(pipeline.model, pipeline.tokenizer)."
        name = type(model).__name__
        raise SettingError(f"The first argument is a model, as bartviz.load gives it, not a {name}.{advice}")
    if model.info.source == "memory" and model.stale():
        raise ModelError(later("The network's weights have changed since it was wrapped. Wrap it again."))
    if not isinstance(record, Record | None):
        raise SettingError(f"A record is expected, as bartviz.capture gives it, not a {type(record).__name__}.")


@torch_defaults()
def read(
    model: str | os.PathLike[str],
    name: str | None,
    revision: str | None,
    roots: Roots | None,
    budget: int | None,
    claims: Claims,
    job: Job,
    where: str = "cpu",
    *,
    fetch: bool = True,
) -> Model:
    """Find, check and build a model: the work of ``bartviz.load``, which documents the arguments.

    Raises ModelError, BudgetError, SettingError for a device that is not there, Cancelled.
    """
    device.chosen(where)
    unforeseen = later("The model cannot be loaded: its files are not in the expected form. Choose another model.")
    with guarded(ModelError(unforeseen)):
        location = _find(model, revision, roots, budget, job, fetch)
        called = name or (folders.name_of(location[1]) if location[0] == "folder" else str(model))
        return _read(location, called, roots, budget, claims, job, where)


def _read(
    location: Location, name: str, roots: Roots | None, budget: int | None, claims: Claims, job: Job, where: str
) -> Model:
    source, folder, commit, notices = location
    stamp = _stamp(folder)
    files = folders.contents(folder, roots if source == "folder" else None)
    settings = checkpoint.read(files)
    paths = _weight_paths(files)
    needed = build.check_budget(settings, budget, sum(weights.check_file(path) for path in paths))
    words = _tokenizer(files, settings, job)
    tokenizer = words.tokenizer
    with claims(needed, job.check) as claim:
        stored = weights.read(paths, job)
        network, head, network_notices = build.network_of(settings, stored, job)
        output_alone = build.probe(network, tokenizer)
        if _stamp(folder) != stamp:
            raise ModelError(later("The model's files changed while they were read. Load it again."))
        content = hashlib.sha256(f"{stored.digest} {words.digest} {type(network).__name__} {settings.content}".encode())
        of_words = (*words.notices, *vocabulary.notices(tokenizer, settings))
        notices = (*notices, *settings.notices, *of_words, *network_notices)
        info = describe(name, source, network, head, settings, content.hexdigest()[:32])
        size = build.nbytes(network) + nbytes(head)
        model = Model(
            info,
            network,
            tokenizer,
            network.config,
            settings.generation,
            notices,
            size,
            commit,
            head,
            lambda: _stamp(folder) != stamp,
            output_alone=output_alone,
            unapplied=settings.unapplied,
        ).to(where)
        claim.become(model, size)
    return model


def _find(
    name: str | os.PathLike[str], revision: str | None, roots: Roots | None, budget: int | None, job: Job, fetch: bool
) -> Location:
    """Resolve a name: source, folder, commit, notices. A hub model is downloaded, settings first."""
    hub.check_revision(revision)
    shipped = isinstance(name, str) and name in folders.embedded()
    folder = EMBEDDED / name if shipped else folders.find(name, roots)
    if folder is not None:
        if revision is not None:
            raise ModelError(later("Only models of the hub have revisions: leave the revision out."))
        return "embedded" if shipped else "folder", folder, None, ()

    def inspect(folder: Path) -> None:
        files = folders.contents(folder)
        folders.check_vocabulary(files)
        build.check_budget(checkpoint.read(files), budget)

    snapshot = hub.snapshot(str(name), revision, job, inspect=inspect, fetch=fetch)
    return "hub", snapshot.folder, snapshot.commit, snapshot.notices


def _weight_paths(files: Mapping[str, Path]) -> list[Path]:
    names = folders.weight_names(files)
    if folders.WEIGHTS_INDEX in files and folders.WEIGHTS not in names:
        folders.check_shards(checkpoint.read_json(files[folders.WEIGHTS_INDEX]), files)
    return [files[name] for name in names]


def _tokenizer(files: Mapping[str, Path], settings: Settings, job: Job) -> vocabulary.Read:
    with alone(job):
        return vocabulary.read(files, settings)


def nbytes(head: TaskHead | None) -> int:
    """Bytes of a head that is not a part of its network."""
    return 0 if head is None or head.module is None else build.nbytes(head.module)


def describe(
    name: str, source: Source, network: PreTrainedModel, head: TaskHead | None, settings: Settings, fingerprint: str
) -> ModelInfo:
    """What records say of a network and its head."""
    sizes = settings.sizes
    dropout = dropout_of(network.config.to_dict())
    modules = (network, *([] if head is None or head.module is None else [head.module]))
    return ModelInfo(
        name=name or type(network).__name__,
        source=source,
        family=sizes.model_type,
        architecture=type(network).__name__ if head is None else head.architecture,
        kind=sizes.family.kind,
        trained=weights.looks_trained(network),
        encoder_layers=sizes.encoder.layers if sizes.encoder else 0,
        encoder_heads=sizes.encoder.heads if sizes.encoder else 0,
        decoder_layers=sizes.decoder.layers if sizes.decoder else 0,
        decoder_heads=sizes.decoder.heads if sizes.decoder else 0,
        width=sizes.width,
        vocabulary=sizes.vocabulary,
        positions=sizes.positions,
        parameters=sum(parameter.numel() for module in modules for parameter in module.parameters()),
        fingerprint=fingerprint,
        activation=f"gated-{sizes.activation}" if sizes.gated else sizes.activation,
        dropout=dropout.added,
        attention_dropout=dropout.weights,
        like=sizes.family.like or None,
    )


def _stamp(folder: Path) -> Stamp:
    """Name, size, time and inode of every file of a model, to detect replaced files."""
    try:
        entries = [(entry.name, entry.stat()) for entry in os.scandir(folder) if folders.is_read(entry.name)]
    except OSError:
        return ()
    return tuple(sorted((name, stat.st_size, stat.st_mtime_ns, stat.st_ino) for name, stat in entries))
