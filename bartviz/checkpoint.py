"""A checkpoint's own settings: read, stripped of what could run code or change the attention, and checked."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import GenerationConfig, PreTrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from bartviz import configs
from bartviz.errors import ModelError

MAX_JSON_BYTES = 16 << 20

# What a configuration may ask for and does not get, with the words that say so.
_STRIPPED: Mapping[str, str] = {
    "auto_map": "code of its own (auto_map)",
    "custom_pipelines": "code of its own (custom_pipelines)",
    "quantization_config": "quantized weights (quantization_config)",
    "compression_config": "quantized weights (compression_config)",
    "attn_implementation": "an attention function of its own (attn_implementation)",
    "_attn_implementation": "an attention function of its own (_attn_implementation)",
    "_attn_implementation_internal": "an attention function of its own (_attn_implementation_internal)",
}
# Fields that every configuration has and that must not come from a file.
_OURS = frozenset(
    {"transformers_version", "architectures", "output_hidden_states", "return_dict", "dtype", "use_cache"}
    | {"chunk_size_feed_forward", "is_encoder_decoder", "id2label", "label2id", "problem_type", "is_decoder"}
    | {"add_cross_attention"}
)  # fmt: skip
# Keys that transformers reads although they are no fields (T5 1.1 does not scale its outputs).
_EXTRA = frozenset({"tie_word_embeddings", "scale_decoder_outputs"})
# The generation settings that we know how to obey, or that are harmless to show.
_RULES = frozenset(
    {"max_length", "max_new_tokens", "min_length", "min_new_tokens", "early_stopping", "num_beams", "length_penalty"}
    | {"no_repeat_ngram_size", "encoder_no_repeat_ngram_size", "repetition_penalty", "encoder_repetition_penalty"}
    | {"bad_words_ids", "forced_bos_token_id", "forced_eos_token_id", "suppress_tokens", "begin_suppress_tokens"}
    | {"renormalize_logits", "remove_invalid_values", "do_sample", "temperature", "top_k", "top_p"}
    | {"pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"}
)  # fmt: skip
_IDS = ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id", "forced_bos_token_id")


@dataclass(frozen=True)
class Settings:
    """What a checkpoint says of itself, after sanitising.

    ``architectures``: class names that it gives; ``declared``: its own word on whether it is trained, or None.
    """

    config: PreTrainedConfig
    sizes: configs.Sizes
    architectures: tuple[str, ...]
    generation: GenerationConfig
    declared: bool | None
    notices: tuple[str, ...]

    @property
    def content(self) -> str:
        """The settings as text: the same for equal settings, in whichever order a file gives them."""
        parts = [self.config.to_dict(), self.generation.to_dict(), list(self.architectures)]
        return json.dumps(parts, sort_keys=True, default=str)


def read(files: Mapping[str, Path]) -> Settings:
    """The settings of a model's folder, given its files by name. Raises ModelError; takes milliseconds, no weights."""
    if "config.json" not in files:
        raise ModelError(
            "The folder has no config.json. Choose the folder of a model: "
            "config.json, model.safetensors and the files of its tokenizer."
        )
    raw = read_json(files["config.json"])
    rules = read_json(files["generation_config.json"]) if "generation_config.json" in files else None
    return sanitise(raw, rules)


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file of a model; raises ModelError that names the file."""
    try:
        if path.stat().st_size > MAX_JSON_BYTES:
            raise ModelError(f"The model's {path.name} is larger than {MAX_JSON_BYTES >> 20} MB, not believed.")
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        raise ModelError(
            f"The model's {path.name} is damaged: it is not valid JSON. Download or save the model again."
        ) from None
    if not isinstance(value, dict):
        raise ModelError(f"The model's {path.name} must be one JSON object: {{ ... }}.")
    return value


def sanitise(raw: Mapping[str, Any], rules: Mapping[str, Any] | None = None) -> Settings:
    """Settings from a configuration and (or in its place, where older models wrote them) generation settings.

    Only keys that the architecture defines are kept, so nothing else can act. Raises ModelError.
    """
    sizes = configs.sizes(raw)
    _refuse_unknown_attention(raw, sizes)
    config_class = CONFIG_MAPPING[sizes.model_type]
    known = {field.name for field in dataclasses.fields(config_class)} | set(config_class.attribute_map) | _EXTRA
    kept = {key: value for key, value in raw.items() if key in known - _OURS}
    try:
        config = config_class(**kept)
    except Exception:  # strict configuration classes raise many types, with the value in the text
        raise ModelError("The model's config.json holds values that its architecture does not take.") from None
    _drop_foreign_defaults(config, kept, sizes)
    _check_ids(config, sizes)
    architectures = raw.get("architectures")
    names = [name for name in architectures if isinstance(name, str)] if isinstance(architectures, list) else []
    declared = raw.get("trained")
    return Settings(
        config=config,
        sizes=sizes,
        architectures=tuple(names),
        generation=_generation(config, raw, rules),
        declared=declared if isinstance(declared, bool) else None,
        notices=_stripped(raw),
    )


def _refuse_unknown_attention(raw: Mapping[str, Any], sizes: configs.Sizes) -> None:
    """Keys of older versions that would change the attention or the layers, and that transformers now ignores."""
    if raw.get("position_embedding_type") not in (None, "absolute"):
        raise ModelError("The model uses relative positions (position_embedding_type), which cannot be rebuilt here.")
    if raw.get("normalize_before") not in (None, sizes.family.norm == "pre"):
        raise ModelError(
            f"The model places its layer norms (normalize_before) otherwise than {sizes.family.title} does, "
            "which cannot be rebuilt here."
        )


def _stripped(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """A notice for each thing that the configuration asks for and does not get."""
    asked = dict.fromkeys(words for key, words in _STRIPPED.items() if raw.get(key))
    notices = [f"The configuration asks for {words}: ignored." for words in asked]
    dtype = raw.get("dtype") or raw.get("torch_dtype")
    if dtype not in (None, "float32"):
        notices.append("The configuration asks for another number format: computed in float32.")
    return tuple(notices)


def _drop_foreign_defaults(config: PreTrainedConfig, given: Mapping[str, Any], sizes: configs.Sizes) -> None:
    """Forget special tokens that nobody gave: transformers' defaults are those of another vocabulary."""
    for name in _IDS:
        default = getattr(config, name, None)
        if name not in given and type(default) is int and not 0 <= default < sizes.vocabulary:
            setattr(config, name, None)


def _check_ids(settings: PreTrainedConfig | GenerationConfig, sizes: configs.Sizes) -> None:
    """Raise ModelError for a special token that the vocabulary does not have."""
    vocabulary = max(sizes.vocabulary, sizes.target_vocabulary)
    for name in _IDS:
        value = getattr(settings, name, None)
        for token in value if isinstance(value, list) else [value]:
            if token is not None and not (type(token) is int and 0 <= token < vocabulary):
                raise ModelError(f"The model's {name} is not in its vocabulary of {vocabulary:,} tokens.")


def _generation(config: PreTrainedConfig, raw: Mapping[str, Any], rules: Mapping[str, Any] | None) -> GenerationConfig:
    """The rules of decoding. Without a file of their own they stand in config.json, as older models have it."""
    given = raw if rules is None else rules
    kept = {key: value for key, value in given.items() if key in _RULES and value is not None}
    for key in ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"):
        kept.setdefault(key, getattr(config, key, None))
    if rules is None and getattr(config, "forced_eos_token_id", None) is not None:
        kept["forced_eos_token_id"] = config.forced_eos_token_id
    try:
        generation = GenerationConfig(**kept)
        generation.validate()
    except Exception:
        raise ModelError("The model's generation settings hold values that cannot be obeyed.") from None
    _check_ids(generation, configs.sizes({**raw, "model_type": config.model_type}))
    return generation
