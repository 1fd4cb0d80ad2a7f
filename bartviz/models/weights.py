"""A checkpoint's weights: read only from safetensors, as float32, and validated before use.

Floats of any precision are read, and matrices as int8 with a scale for each row (int8.py writes them). Letters: N rows
and D columns of a matrix.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from bartviz.errors import ModelError
from bartviz.families.registry import of_network
from bartviz.language import later
from bartviz.models.deadline import Job
from bartviz.safety import reservations

INT8 = "bartviz-int8"  # the metadata's format in a file whose matrices are int8
SCALE = ".row_scale"  # after a matrix's name: the name of its scales
LARGEST = 127  # of the stored integers, on both sides of 0
_SCALES = frozenset({"F32", "F16"})
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
    """The bytes that a safetensors file takes as float32, from its header alone. Raises ModelError naming the file, or
    the weight whose scales are missing or too many.

    The reader checks the header, and that the tensors cover the file exactly.
    """
    try:
        with safe_open(path, framework="pt", backend="pread") as file:
            matrices = _int8_matrices(file)
            slices = {key: file.get_slice(key) for key in _names(file, matrices)}
            return 4 * sum(
                _numbers(piece.get_shape())
                for key, piece in slices.items()
                if key in matrices or piece.get_dtype() in _FLOATS
            )
    except (SafetensorError, OSError, MemoryError):
        raise ModelError(_damaged(path)) from None


def read(paths: Sequence[Path], job: Job) -> Weights:
    """All tensors of the files, int8 matrices multiplied by their scales. Raises ModelError for damaged files, numbers
    quantized in another way or not finite, and duplicate names.

    Each tensor is copied into memory: tensors mapped from a file would change, or crash the process, if the file were
    replaced while the model is in use.
    """
    digest = hashlib.sha256()
    tensors: dict[str, Tensor] = {}
    for path in paths:
        try:
            with safe_open(path, framework="pt", backend="pread") as file:
                matrices = _int8_matrices(file)
                for key in _names(file, matrices):
                    job.check()
                    if key in tensors:
                        raise ModelError(later("The model's files hold the weight {name} twice.", name=shown([key])))
                    stored = file.get_slice(key).get_dtype()
                    if key in matrices:
                        tensors[key] = _expanded(file.get_tensor(key), file.get_tensor(key + SCALE), key, digest)
                    elif stored in _FLOATS:
                        tensors[key] = _to_float32(file.get_tensor(key), key, digest)
                    else:
                        _refuse_quantized(key, stored)
        except (SafetensorError, OSError, MemoryError, RuntimeError) as error:
            if reservations.was_short(error):  # the file is sound: its header and sizes were checked before
                raise MemoryError from None  # becomes BudgetError in foreign.guarded
            raise ModelError(_damaged(path)) from None
    return Weights(tensors, digest.hexdigest())


def network_weights(network: nn.Module, job: Job) -> Weights:
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


def _names(file: Any, matrices: Collection[str]) -> list[str]:
    """The names of a file's tensors in order, without the scales of these matrices."""
    return sorted(set(file.keys()) - {key + SCALE for key in matrices})


def _int8_matrices(file: Any) -> frozenset[str]:
    """The names of a file's int8 matrices, each of which has a scale for each row; none unless the metadata say that
    bartviz wrote it. Raises ModelError."""
    if (file.metadata() or {}).get("format") != INT8:
        return frozenset()
    slices = {key: file.get_slice(key) for key in file.keys()}  # noqa: SIM118 - not a mapping
    stored = {key: (piece.get_dtype(), tuple(piece.get_shape())) for key, piece in slices.items()}
    matrices = frozenset(key for key, (kind, _) in stored.items() if kind == "I8")
    for key in sorted(matrices):
        shape = stored[key][1]
        kind, scales = stored.get(key + SCALE, ("", ()))
        if len(shape) != 2 or kind not in _SCALES or scales != shape[:1]:
            raise ModelError(
                later(
                    "The model's weight {name} is stored as int8 without one scale for each of its rows. The same file "
                    "must hold {scales}, float32 or float16. Write the model again with bartviz.models.int8.write.",
                    name=shown([key]),
                    scales=shown([key + SCALE]),
                )
            )
    alone = sorted(key for key in stored if key.endswith(SCALE) and key.removesuffix(SCALE) not in matrices)
    if alone:
        raise ModelError(
            later(
                "The model's file holds scales for weights that it does not store as int8: {names}. Write the model "
                "again with bartviz.models.int8.write.",
                names=shown(alone),
            )
        )
    return matrices


def _expanded(values: Tensor, scales: Tensor, key: str, digest: Any) -> Tensor:
    """An int8 matrix as float32, each row multiplied by its scale, checked; updates the digest with both."""
    _update(digest, key, values)
    _update(digest, key + SCALE, scales)
    if values.numel() and (values.amin() < -LARGEST or scales.amin() < 0):
        raise ModelError(
            later(
                "The model's weight {name} holds int8 numbers below {least} or negative scales, which bartviz never "
                "writes: the file is damaged. Download, copy or write the model again.",
                name=shown([key]),
                least=-LARGEST,
            )
        )
    return _finite(values.to(torch.float32).mul_(scales.to(torch.float32)[:, None]), key)  # (N, D)


def _to_float32(stored: Tensor, key: str, digest: Any) -> Tensor:
    """The tensor as float32, checked to be finite; updates the digest."""
    _update(digest, key, stored)
    return _finite(stored.to(torch.float32), key)


def _update(digest: Any, key: str, stored: Tensor) -> None:
    """Add a tensor's name, shape and stored bytes to the digest."""
    digest.update(f"{key} {stored.dtype} {tuple(stored.shape)}".encode())
    digest.update(stored.contiguous().reshape(-1).view(torch.uint8).numpy().data)


def _finite(tensor: Tensor, key: str) -> Tensor:
    """The same tensor. Raises ModelError if it holds NaN or infinity."""
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


def judge(network: Any, info: Mapping[str, Any], output: bool, *, in_memory: bool = False) -> tuple[str, ...]:
    """Notices on unused parts of a checkpoint; raises ModelError unless its weights fit the network exactly.

    ``info``: transformers' loading info; ``output``: whether an output matrix is stored, or tied to the embedding.
    in_memory: whether the weights are those of a caller's network, and not of a checkpoint.
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
    if of_network(network).tying == "output" and not output:  # transformers would tie it
        missing.append("lm_head.weight")
    if missing:
        raise ModelError(
            later(
                "The network lacks {count} weights that its class has: {names}. Wrap it unchanged, as "
                "transformers builds it.",
                count=len(missing),
                names=shown(missing),
            )
            if in_memory
            else later(
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
                "The network has {count} weights that its class does not have: {names}. Wrap it unchanged, "
                "as transformers builds it.",
                count=len(body),
                names=shown(body),
            )
            if in_memory
            else later(
                "The checkpoint has {count} weights that its configuration does not describe: {names}. The "
                "network would not be the one that was trained, so it is not loaded.",
                count=len(body),
                names=shown(body),
            )
        )
    heads = sorted({".".join(key.removeprefix(prefix).split(".")[:2]) for key in extra})
    if not heads:
        return ()
    if in_memory:
        return (later("Parts of the network that are not used: {names}.", names=shown(heads)),)
    return (later("Parts of the checkpoint that are not used: {names}.", names=shown(heads)),)


def _computed(network: Any, key: str) -> bool:
    """Whether a missing weight is computed: sinusoidal positions follow from a formula (Pegasus does not store
    them)."""
    return of_network(network).positions == "sinusoidal" and key.endswith("embed_positions.weight")


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
