"""A checkpoint's settings: read, stripped of anything that could run code or change the attention, and validated."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from transformers import GenerationConfig, PreTrainedConfig
from transformers.activations import ACT2FN
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from bartviz.errors import ModelError, choices
from bartviz.families import config as configs
from bartviz.language import later
from bartviz.models import task_head, unlisted
from bartviz.models.files import Files
from bartviz.models.task_head import TaskHead
from bartviz.safety.other_libraries import guarded

# What a configuration may request and does not get, with the words for the notice.
_STRIPPED: Mapping[str, str] = {
    "auto_map": "code of its own (auto_map)",
    "custom_pipelines": "code of its own (custom_pipelines)",
    "quantization_config": "quantized weights (quantization_config)",
    "compression_config": "quantized weights (compression_config)",
    "attn_implementation": "an attention function of its own (attn_implementation)",
    "_attn_implementation": "an attention function of its own (_attn_implementation)",
    "_attn_implementation_internal": "an attention function of its own (_attn_implementation_internal)",
}
# Fields of every configuration that must not come from a file.
_RESERVED = frozenset(
    {"transformers_version", "architectures", "output_hidden_states", "return_dict", "dtype", "use_cache"}
    | {"chunk_size_feed_forward", "is_encoder_decoder", "id2label", "label2id", "problem_type", "is_decoder"}
    | {"add_cross_attention"}
)
# Keys that transformers reads although they are not fields (T5 1.1 does not scale its outputs).
_EXTRA = frozenset(
    {"tie_word_embeddings", "scale_decoder_outputs", "rope_theta", "rope_scaling", "partial_rotary_factor"}
    | {"rotary_pct", "rotary_emb_base", "rope_local_base_freq", "global_rope_theta", "local_rope_theta"}
    | {"sliding_window_pattern", "global_attn_every_n_layers"}
)
_SPECIAL = ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id")
_IDS = (*_SPECIAL, "forced_bos_token_id", "forced_eos_token_id")
_LISTS_OF_IDS = ("suppress_tokens", "begin_suppress_tokens", "bad_words_ids")


def _whole(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**31


def _positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf


def _ids(value: object) -> bool:
    return isinstance(value, list) and all(map(_whole, value))


def _share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _decay(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and _whole(value[0]) and _positive(value[1])


def _biases(value: object) -> bool:
    """A list of [ids, bias], the form in which a file can hold a bias for each sequence of tokens."""
    return isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and _ids(pair[0]) and pair[0] and isinstance(pair[1], float)
        for pair in value
    )


# The supported generation settings, each with its validator.
_RULES: Mapping[str, Callable[[object], bool]] = {
    **dict.fromkeys(("max_length", "min_length", "min_new_tokens", "num_beams", "top_k"), _whole),
    **dict.fromkeys(("no_repeat_ngram_size", "encoder_no_repeat_ngram_size"), _whole),
    **dict.fromkeys(("repetition_penalty", "encoder_repetition_penalty", "temperature", "top_p"), _positive),
    **dict.fromkeys(("do_sample", "renormalize_logits", "remove_invalid_values"), lambda v: isinstance(v, bool)),
    **dict.fromkeys(("suppress_tokens", "begin_suppress_tokens"), _ids),
    **dict.fromkeys(_IDS, lambda v: _whole(v) or _ids(v)),
    **dict.fromkeys(("min_p", "epsilon_cutoff", "eta_cutoff"), _share),
    **dict.fromkeys(("top_h", "typical_p"), lambda v: _share(v) and v != 0),
    "max_new_tokens": lambda v: _whole(v) and v != 0,
    "decoder_start_token_id": lambda v: type(v) is int,
    "bad_words_ids": lambda v: isinstance(v, list) and all(map(_ids, v)),
    "exponential_decay_length_penalty": _decay,
    "sequence_bias": _biases,
    "early_stopping": lambda v: isinstance(v, bool) or v == "never",
    "length_penalty": lambda v: isinstance(v, int | float) and math.isfinite(v),
}
APPLIED = frozenset(_RULES)
# Settings that change what generate() writes and that no run here applies, with the values that do change something.
UNAPPLIED: Mapping[str, Callable[[object], bool]] = {
    **dict.fromkeys(("guidance_scale", "num_return_sequences", "num_beam_groups"), lambda v: v != 1),
    **dict.fromkeys(("token_healing", "use_mtp", "is_assistant", "diversity_penalty", "penalty_alpha"), bool),
    **dict.fromkeys(("stop_strings", "constraints", "force_words_ids", "dola_layers"), bool),
    **dict.fromkeys(
        ("max_time", "watermarking_config", "prompt_lookup_num_tokens", "assistant_early_exit"), lambda v: True
    ),
    "cache_implementation": lambda v: v == "quantized",
}
# Settings that change how generate() computes or what it returns, but not the text.
NEUTRAL = frozenset(
    {
        *("use_cache", "cache_config", "max_cache_len", "prefill_chunk_size", "low_memory", "compile_config"),
        *("disable_compile", "continuous_batching_config", "return_dict_in_generate", "transformers_version"),
        *("output_attentions", "output_hidden_states", "output_scores", "output_logits"),
        # read by a second, drafting model, which neither a file nor a network contains
        *("num_assistant_tokens", "num_assistant_tokens_schedule", "assistant_confidence_threshold"),
        *("speculation_type", "max_matching_ngram_size", "assistant_lookbehind", "target_lookbehind"),
        "assistant_ensemble_weight",
    }
)


@dataclass(frozen=True)
class Settings:
    """A checkpoint's settings after sanitizing; ``architectures`` are the class names that it lists, ``head`` what the
    first of them labels, if it labels anything; ``unapplied`` generation settings that runs do not apply."""

    config: PreTrainedConfig
    sizes: configs.Sizes
    architectures: tuple[str, ...]
    generation: GenerationConfig
    notices: tuple[str, ...]
    head: TaskHead | None = None
    unapplied: tuple[str, ...] = ()

    @property
    def content(self) -> str:
        """The settings as text: the same for equal settings, in whichever order a file gives them."""
        parts = [self.config.to_dict(), self.generation.to_dict(), list(self.architectures)]
        return json.dumps(parts, sort_keys=True, default=str)


def read(files: Files) -> Settings:
    """The settings of a model's files. Raises ModelError; takes milliseconds and reads no weights."""
    return sanitise(files.json("config.json") or {}, files.json("generation_config.json"))


def sanitise(raw: Mapping[str, Any], rules: Mapping[str, Any] | None = None) -> Settings:
    """Settings from a configuration and generation settings; older models keep the latter in the configuration.

    Only keys that the architecture defines are kept, so nothing else has an effect. Raises ModelError.
    """
    unlisted.adopt(raw.get("model_type"))
    sizes = configs.sizes(raw)
    _refuse_unknown_layers(raw, sizes)
    config_class = CONFIG_MAPPING[sizes.model_type]
    known = {field.name for field in dataclasses.fields(config_class)} | set(config_class.attribute_map) | _EXTRA
    kept = {key: value for key, value in raw.items() if key in known - _RESERVED}
    needed = frozenset(field.name for field in dataclasses.fields(config_class) if "None" not in str(field.type))
    foreign = _drop_foreign_ids(kept, sizes, needed)
    invalid = ModelError(later("The model's config.json has values that its architecture does not accept."))
    with guarded(invalid):  # strict configuration classes raise many types, with the value in the message
        config = config_class(**kept)
        _drop_foreign_defaults(config, {*kept, *needed}, sizes)
        if getattr(config, "is_encoder_decoder", False):
            config.is_encoder_decoder = sizes.family.kind == "encoder-decoder"  # and not its encoder alone
    architectures = raw.get("architectures")
    names = [name for name in architectures if isinstance(name, str)] if isinstance(architectures, list) else []
    head = task_head.named(raw, sizes, names[0]) if names else None
    if head is not None:
        labels = dict(enumerate(head.labels))
        config.id2label, config.label2id = labels, {name: number for number, name in labels.items()}
    given = {} if sizes.family.kind == "encoder" else dict(raw if rules is None else rules)
    foreign |= _drop_foreign_ids(given, sizes)
    return Settings(
        config=config,
        sizes=sizes,
        architectures=tuple(names),
        generation=_generation(config, given, sizes, old=rules is None),
        notices=(*_stripped(raw), *_foreign(foreign, sizes)),
        head=head,
        unapplied=_unapplied(given, sizes),
    )


def _refuse_unknown_layers(raw: Mapping[str, Any], sizes: configs.Sizes) -> None:
    """Raise ModelError for layers that transformers would build differently from how they were trained."""
    if sizes.activation not in ACT2FN:
        raise ModelError(
            later("The model's activation function is unknown. Known are {known}.", known=choices(sorted(ACT2FN)))
        )
    if raw.get("position_embedding_type") not in (None, "absolute"):
        raise ModelError(
            later("The model uses relative positions (position_embedding_type), which cannot be rebuilt here.")
        )
    if raw.get("normalize_before") not in (None, sizes.family.norm == "pre"):
        raise ModelError(
            later(
                "The model places its layer norms (normalize_before) differently from {title}, which cannot "
                "be rebuilt here.",
                title=sizes.family.title,
            )
        )


def _stripped(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """A notice for each request of the configuration that is ignored."""
    requests = dict.fromkeys(words for key, words in _STRIPPED.items() if raw.get(key))
    notices = [later("The configuration asks for {words}: ignored.", words=words) for words in requests]
    if any(raw.get(key) not in (None, "float32") for key in ("dtype", "torch_dtype")):
        notices.append(later("The configuration asks for another number format: computed in float32."))
    return tuple(notices)


def _drop_foreign_defaults(config: PreTrainedConfig, kept: Collection[str], sizes: configs.Sizes) -> None:
    """Drop special tokens that the file does not set: transformers' defaults belong to another vocabulary."""
    for name in [name for name in config.to_dict() if name.endswith("token_id")]:
        default = getattr(config, name)
        if name not in kept and type(default) is int and not 0 <= default < sizes.vocabulary:
            setattr(config, name, None)


def _vocabulary(sizes: configs.Sizes) -> int:
    return max(sizes.vocabulary, sizes.target_vocabulary)


def _drop_foreign_ids(given: dict[str, Any], sizes: configs.Sizes, needed: Collection[str] = ()) -> dict[str, None]:
    """Replace ids that no text can produce by none; the keys that held one. ``needed``: keys that must hold a number,
    such as EuroBERT's mask_token_id; no run reads them.

    The decoder's first token stays: a run that needs it refuses it by name. So does the padding token of a family that
    counts positions from it (RoBERTa): raises ModelError.
    """
    count = _vocabulary(sizes)
    foreign: dict[str, None] = {}
    for key, value in given.items():
        if value is None or not (key.endswith("token_id") or key in _LISTS_OF_IDS) or key == "decoder_start_token_id":
            continue
        kept = _inside(value, count, 2 if key == "bad_words_ids" else 1)
        if kept == value and type(kept) is type(value):
            continue
        if key == "pad_token_id" and sizes.family.unused_rows:
            raise ModelError(
                later(
                    "The model's {name} is not in its vocabulary of {vocabulary:,} tokens, and its positions are "
                    "counted from it. Correct it in config.json.",
                    name=key,
                    vocabulary=count,
                )
            )
        foreign[key] = None
        if key not in needed:
            given[key] = kept
    return foreign


def _inside(value: Any, count: int, depth: int) -> Any:
    """An id below ``count``, or the list of those that are; of lists (of words) those that are so in whole. None where
    nothing is left."""
    if isinstance(value, list) and depth:
        return [item for item in value if item is not None and _inside(item, count, depth - 1) == item] or None
    return value if type(value) is int and 0 <= value < count else None


def _foreign(names: Mapping[str, None], sizes: configs.Sizes) -> Iterator[str]:
    """A notice on ids that count as none."""
    if names:
        yield later(
            "Ignored, because they are not in the model's vocabulary of {vocabulary:,} tokens: {names}.",
            vocabulary=_vocabulary(sizes),
            names=", ".join(names),
        )


def _unapplied(given: Mapping[str, Any], sizes: configs.Sizes) -> tuple[str, ...]:
    """The generation settings of a file that change what ``generate`` writes, and that runs do not apply: of those
    that are applied, one with a value that cannot be.

    One that transformers has and that nobody has listed here counts as such, whatever its value.
    """
    public = {key for key in vars(GenerationConfig()) if not key.startswith("_")} | UNAPPLIED.keys()
    unknown = [key for key in public - APPLIED - NEUTRAL if given.get(key) is not None]
    changing = [key for key in unknown if UNAPPLIED.get(key, bool)(given[key])]
    invalid = [key for key in APPLIED if given.get(key) is not None and not _can_apply(key, given[key], sizes)]
    return tuple(sorted(changing + invalid))


def _can_apply(key: str, value: object, sizes: configs.Sizes) -> bool:
    """Whether a generation setting has a value that a run can apply."""
    if not _RULES[key](value):
        return False
    sequences = {"sequence_bias": lambda pairs: [ids for ids, _ in pairs], "bad_words_ids": list}.get(key)
    return sequences is None or all(token < _vocabulary(sizes) for ids in sequences(value) for token in ids)


def _generation(
    config: PreTrainedConfig, given: Mapping[str, Any], sizes: configs.Sizes, *, old: bool
) -> GenerationConfig:
    """The generation settings. Old models, without a separate file, keep them in config.json."""
    kept = {key: given[key] for key in APPLIED if given.get(key) is not None and _can_apply(key, given[key], sizes)}
    for key in _SPECIAL:
        kept.setdefault(key, getattr(config, key, None))
    if old and getattr(config, "forced_eos_token_id", None) is not None:
        kept["forced_eos_token_id"] = config.forced_eos_token_id
    with guarded(ModelError(later("The model's generation settings have values that are not supported."))):
        generation = GenerationConfig(**kept)
        generation.validate()
    return generation
