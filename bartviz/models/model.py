"""Models: read, and validated before use.

Each stage of loading takes what the one before it gives: the location -> the files -> the settings (sanitized, sizes
checked, bytes predicted) -> the tokenizer -> the weights (safetensors only, every one finite) -> the network (every
weight present, attached to the tape, probed by one pass) -> the model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Literal, NoReturn

import torch
from transformers import GenerationConfig, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from bartviz import hooks
from bartviz.callbacks import never
from bartviz.errors import ModelError, SettingError
from bartviz.families.dropout import dropout as dropout_of
from bartviz.language import later
from bartviz.models import build, checkpoint, device, hub, weights
from bartviz.models import tokenizer as vocabulary
from bartviz.models.build import Network
from bartviz.models.checkpoint import Settings
from bartviz.models.deadline import Job
from bartviz.models.files import Files
from bartviz.models.location import Location
from bartviz.models.one_thread import alone
from bartviz.models.task_head import TaskHead
from bartviz.models.weights import Weights
from bartviz.record.record import ModelInfo, Record
from bartviz.safety.other_libraries import guarded
from bartviz.safety.reservations import Claims
from bartviz.safety.torch_defaults import torch_defaults

Source = Literal["embedded", "folder", "hub", "memory"]


@dataclass(frozen=True, eq=False)
class Model:
    """A network that has passed every check: float32, eval, its attention on the tape. Shared: do not modify it.

    ``notices`` list what was left out or replaced; ``revision`` is the hub's commit; ``nbytes`` the size in memory.
    ``head``: what a fine-tuned checkpoint labels; None for any other. ``network`` is on the CPU, to read its matrices;
    ``runner`` is what runs: the same, or its copy on another ``device``. ``output_alone``: its output layer alone makes
    the logits from the last states. ``unapplied``: the checkpoint's generation settings that runs do not apply.

    >>> model.info.name, model.info.kind, model.info.parameters
    ('bart-tiny-en-de', 'encoder-decoder', 7387136)
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
    changed: Callable[[], bool] = field(default=never, repr=False)
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

    def save(self, path: str | PathLike[str], *, text: str | None = None) -> None:
        """Write one HTML file in which the model runs on any text, in any browser and without a network; or, for a name
        that does not end in ``.html``, a folder of such a page for a web host, which large models need.

        text: what the page shows at first. Raises ModelError, with the reason, for a model that cannot run in a page;
        SettingError, OSError.

        >>> bartviz.load("bart-tiny-en-de").save("translator.html")
        """
        hooks.live().save(self, path, text=text)

    def stale(self) -> bool:
        """Whether the files, or the weights of a wrapped network, have changed since the model was validated.

        A loaded model keeps using the weights that were validated. A wrapped network is refused from then on.
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
        raise SettingError(f"The first argument must be a model from bartviz.load, not a {name}.{advice}")
    if model.info.source == "memory" and model.stale():
        raise ModelError(later("The network's weights have changed since it was wrapped. Wrap it again."))
    if not isinstance(record, Record | None):
        raise SettingError(f"A record from bartviz.capture is expected, not a {type(record).__name__}.")


@torch_defaults()
def read(
    location: Location,
    name: str | None,
    budget: int | None,
    claims: Claims,
    job: Job,
    where: str = "cpu",
    *,
    fetch: bool = True,
) -> Model:
    """Fetch, check and build a model: the work of ``bartviz.load``, which documents the arguments.

    Raises ModelError, BudgetError, SettingError for a device that is not there, Cancelled.
    """
    device.chosen(where)
    unforeseen = later("The model cannot be loaded: its files are not in the expected form. Choose another model.")
    with guarded(ModelError(unforeseen)):
        files = _files(location, budget, job, fetch=fetch)
        settings = checkpoint.read(files)
        paths = files.weights()
        needed = build.check_budget(settings, budget, sum(map(weights.check_file, paths)))
        with alone(job):
            words = vocabulary.read(files, settings)
        with claims(needed, job.check) as claim:
            stored = weights.read(paths, job)
            network = build.network_of(settings, stored, words.tokenizer, job)
            if files.changed():
                raise ModelError(later("The model's files changed while they were read. Load it again."))
            model = assembled(
                name or location.name,
                location.source,
                settings,
                words,
                stored,
                network,
                notices=files.notices,
                revision=files.commit,
                changed=files.changed,
            ).to(where)
            claim.become(model, model.nbytes)
    return model


def _files(location: Location, budget: int | None, job: Job, *, fetch: bool) -> Files:
    """The files of a model; of one at the hub they are downloaded, the weights last and only if they fit."""
    if location.folder is not None:
        return Files.of(location.folder, location.roots)

    def inspect(files: Files) -> None:
        files.check_vocabulary()
        build.check_budget(checkpoint.read(files), budget)

    return hub.snapshot(location, job, inspect=inspect, fetch=fetch)


def assembled(
    name: str,
    source: Source,
    settings: Settings,
    words: vocabulary.Read,
    stored: Weights,
    network: Network,
    *,
    notices: Iterable[str],
    changed: Callable[[], bool],
    revision: str | None = None,
) -> Model:
    """The model of a network and its tokenizer. ``notices``: on where they come from; others are added."""
    module = network.module
    content = f"{stored.digest} {words.digest} {type(module).__name__} {settings.content}"
    fingerprint = hashlib.sha256(content.encode()).hexdigest()[:32]
    return Model(
        _describe(name, source, network, settings, fingerprint),
        module,
        words.tokenizer,
        module.config,
        settings.generation,
        (*notices, *settings.notices, *words.notices, *network.notices),
        sum(map(build.nbytes, network.modules)),
        revision,
        network.head,
        changed,
        output_alone=network.output_alone,
        unapplied=settings.unapplied,
    )


def _describe(name: str, source: Source, network: Network, settings: Settings, fingerprint: str) -> ModelInfo:
    """The description of a network and its head in records."""
    sizes, architecture = settings.sizes, type(network.module).__name__
    dropout = dropout_of(network.module.config.to_dict())
    return ModelInfo(
        name=name or architecture,
        source=source,
        family=sizes.model_type,
        architecture=architecture if network.head is None else network.head.architecture,
        kind=sizes.family.kind,
        trained=network.trained,
        encoder_layers=sizes.encoder.layers if sizes.encoder else 0,
        encoder_heads=sizes.encoder.heads if sizes.encoder else 0,
        decoder_layers=sizes.decoder.layers if sizes.decoder else 0,
        decoder_heads=sizes.decoder.heads if sizes.decoder else 0,
        width=sizes.width,
        vocabulary=sizes.vocabulary,
        positions=sizes.positions,
        parameters=sum(parameter.numel() for module in network.modules for parameter in module.parameters()),
        fingerprint=fingerprint,
        activation=f"gated-{sizes.activation}" if sizes.gated else sizes.activation,
        dropout=dropout.added,
        attention_dropout=dropout.weights,
        like=sizes.family.like or None,
    )
