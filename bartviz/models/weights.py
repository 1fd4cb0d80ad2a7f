"""A checkpoint's weights: read only from safetensors, as float32, and validated before use."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from bartviz.errors import ModelError
from bartviz.families.registry import family_of
from bartviz.language import later
from bartviz.models.deadline import Job
from bartviz.safety import memory

_FLOATS = frozenset({"F64", "F32", "F16", "BF16"})
_FLOAT_TYPES = frozenset({torch.float64, torch.float32, torch.float16, torch.bfloat16})
_UNTRAINED_SPREAD = 0.01
# Left over in old checkpoints, or recomputed from the configuration.
_HARMLESS = re.compile(
    r"(^|\.)(position_ids|token_type_ids|masked_bias|version)$|\.attn\.bias$|embed_positions\.weight$"
    r"|EncDecAttention\.relative_attention_bias\.weight$"
)
# The parts of a network that attention depends on; the rest are task heads.
_BODY = re.compile(
    r"^(embeddings|embeddings_project|encoder|decoder|transformer|shared|wte|wpe|ln_f|h|layer|layers|block)\."
)


@dataclass(frozen=True)
class Weights:
    """Tensors by name, float32; ``digest``: SHA-256 over their names, shapes and bytes as stored."""

    tensors: Mapping[str, Tensor]
    digest: str


def check_file(path: Path) -> int:
    """The bytes that a safetensors file takes as float32, from its header alone. Raises ModelError naming the file.

    The reader checks the header, and that the tensors cover the file exactly.
    """
    try:
        with safe_open(path, framework="pt", backend="pread") as file:
            slices = [file.get_slice(key) for key in file.keys()]  # noqa: SIM118 - not a mapping
            return 4 * sum(_numbers(piece.get_shape()) for piece in slices if piece.get_dtype() in _FLOATS)
    except (SafetensorError, OSError, MemoryError):
        raise ModelError(_damaged(path)) from None


def read(paths: Sequence[Path], job: Job) -> Weights:
    """All tensors of the files. Raises ModelError for damaged files, quantized or non-finite numbers, and duplicate
    names.

    Each tensor is copied into memory: tensors mapped from a file would change, or crash the process, if the file were
    replaced while the model is in use.
    """
    digest = hashlib.sha256()
    tensors: dict[str, Tensor] = {}
    for path in paths:
        try:
            with safe_open(path, framework="pt", backend="pread") as file:
                for key in sorted(file.keys()):
                    job.check()
                    if key in tensors:
                        raise ModelError(later("The model's files hold the weight {name} twice.", name=shown([key])))
                    stored = file.get_slice(key).get_dtype()
                    if stored not in _FLOATS:
                        _refuse_quantized(key, stored)
                        continue
                    tensors[key] = _to_float32(file.get_tensor(key), key, digest)
        except (SafetensorError, OSError, MemoryError, RuntimeError) as error:
            if memory.was_short(error):  # the file is sound: its header and sizes were checked before
                raise MemoryError from None  # becomes BudgetError in foreign.guarded
            raise ModelError(_damaged(path)) from None
    return Weights(tensors, digest.hexdigest())


def of(network: nn.Module, job: Job) -> Weights:
    """The tensors of a network in memory: float32 ones on the CPU are shared with it, all others are copied.

    A tensor with several names is hashed, and copied, once. Raises ModelError as ``read`` does.
    """
    digest = hashlib.sha256()
    tensors: dict[str, Tensor] = {}
    names: dict[object, str] = {}
    for key, tensor in sorted(network.state_dict().items()):
        job.check()
        if tensor.dtype not in _FLOAT_TYPES:
            _refuse_quantized(key, str(tensor.dtype).removeprefix("torch."))
            continue
        first = names.setdefault(identity(tensor), key)
        if first != key:
            digest.update(f"{key} is {first}".encode())
        tensors[key] = tensors[first] if first != key else _to_float32(tensor.detach().cpu(), key, digest)
    return Weights(tensors, digest.hexdigest())


def identity(tensor: Tensor) -> tuple[object, ...]:
    """Equal for two names of the same numbers in memory."""
    return tensor.device, tensor.dtype, tensor.data_ptr(), tuple(tensor.shape), tensor.stride()


def _to_float32(stored: Tensor, key: str, digest: Any) -> Tensor:
    """The tensor as float32, checked to be finite; updates the digest with its name, shape and stored bytes."""
    digest.update(f"{key} {stored.dtype} {tuple(stored.shape)}".encode())
    digest.update(stored.contiguous().reshape(-1).view(torch.uint8).numpy().data)
    tensor = stored.to(torch.float32)
    if tensor.numel() and not all(torch.isfinite(end) for end in torch.aminmax(tensor)):
        raise ModelError(
            later(
                "The model's weight {name} holds numbers that are not finite (NaN or infinity): the training "
                "failed or the file is damaged.",
                name=shown([key]),
            )
        )
    return tensor


def _refuse_quantized(key: str, stored: str) -> None:
    """Raise ModelError for a weight that is not a float; integer buffers are fine."""
    if not _HARMLESS.search(key):
        raise ModelError(
            later(
                "The model's weight {name} is stored as {stored}: quantized models cannot be read. Choose the "
                "model in float32, float16 or bfloat16.",
                name=shown([key]),
                stored=stored,
            )
        )


def judge(network: Any, info: Mapping[str, Any], output: bool) -> tuple[str, ...]:
    """Notices on unused parts of a checkpoint; raises ModelError unless its weights fit the network exactly.

    ``info``: transformers' loading info; ``output``: whether an output matrix is stored, or tied to the embedding.
    Task heads of the checkpoint are left out and named; anything missing is an error.
    """
    mismatched = sorted(str(entry[0]) for entry in info["mismatched_keys"])
    if mismatched:
        raise ModelError(
            later("The weights do not fit the configuration: {names} has another shape.", names=shown(mismatched))
            if len(mismatched) == 1
            else later("The weights do not fit the configuration: {names} have other shapes.", names=shown(mismatched))
        )
    missing = sorted(key for key in info["missing_keys"] if not _computed(network, key))
    if family_of(network.config.model_type).tying == "output" and not output:  # transformers would tie it
        missing.append("lm_head.weight")
    if missing:
        raise ModelError(
            later(
                "The checkpoint lacks {count} of the network's weights: {names}. The rest would be random "
                "numbers, so the model is not loaded.",
                count=len(missing),
                names=shown(missing),
            )
        )
    if info["error_msgs"]:
        raise ModelError(later("The weights do not fit the configuration."))
    prefix = network.base_model_prefix + "."
    extra = sorted(key for key in info["unexpected_keys"] if not _HARMLESS.search(key))
    body = [key for key in extra if _BODY.match(key.removeprefix(prefix)) and ".pooler." not in key]
    if body:
        raise ModelError(
            later(
                "The checkpoint holds {count} weights that its configuration has no place for: {names}. The "
                "network would not be the one that was trained, so it is not loaded.",
                count=len(body),
                names=shown(body),
            )
        )
    heads = sorted({".".join(key.removeprefix(prefix).split(".")[:2]) for key in extra})
    return (later("Parts of the checkpoint that are not used: {names}.", names=shown(heads)),) if heads else ()


def _computed(network: Any, key: str) -> bool:
    """Whether a missing weight is computed: sinusoidal positions follow from a formula (Pegasus does not store
    them)."""
    return family_of(network.config.model_type).positions == "sinusoidal" and key.endswith("embed_positions.weight")


def absent_heads(network: Any, missing: Iterable[str], stored: Iterable[str]) -> bool:
    """Whether only heads are missing, each of them entirely: then a smaller network is complete.

    A head is a module outside the network's body (``cls.predictions``, ``lm_head``) or the pooler.
    """
    body = network.base_model_prefix + "."
    stored = set(stored)
    for key in missing:
        head = "pooler" if "pooler." in key else _head(key)
        if head != "pooler" and key.startswith(body):
            return False
        if any(head in name.split(".") if head == "pooler" else name.startswith(head + ".") for name in stored):
            return False
    return True


def _head(key: str) -> str:
    """``cls.predictions.bias`` -> ``cls.predictions``; ``lm_head.bias`` -> ``lm_head``."""
    parts = key.split(".")
    return ".".join(parts[:2]) if parts[0] == "cls" else parts[0]


def looks_trained(network: nn.Module) -> bool:
    """Whether training has moved these weights away from their initial values.

    These families initialize every normalization gain to exactly 1, whatever the seed, and the first step of any
    optimizer moves the gains. The criterion is a root mean square of (gain - 1) of 0.01 or more.
    A network without normalization counts as trained, because this cannot be judged.
    """
    norms = [module for module in network.modules() if "Norm" in type(module).__name__]
    gains = [
        gain.detach().reshape(-1) - 1 for norm in norms for name, gain in norm.named_parameters() if name == "weight"
    ]
    return not gains or bool(torch.cat(gains).square().mean().sqrt() >= _UNTRAINED_SPREAD)


def shown(keys: Sequence[str], most: int = 4) -> str:
    """The first few weight names, printable and short."""
    names = ["".join(c if c.isascii() and c.isprintable() else "?" for c in key[:80]) for key in keys[:most]]
    listed = ", ".join(names)
    return later("{names} and {count} more", names=listed, count=len(keys) - most) if len(keys) > most else listed


def _numbers(shape: Sequence[int]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _damaged(path: Path) -> str:
    return later(
        "The weights in {name} cannot be read: the file is empty, cut off or damaged. "
        "Download or copy the model again.",
        name=path.name,
    )
