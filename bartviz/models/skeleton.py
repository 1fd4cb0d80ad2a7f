"""The parameters of a model as transformers builds it, which the closed form must equal. Needs no weights or memory."""

from __future__ import annotations

import torch
import transformers

from bartviz.analysis.parameters import Built, listing
from bartviz.families import config as configs
from bartviz.families.config import Config
from bartviz.families.registry import family_of

_FLAGS = ("tie_word_embeddings", "share_encoder_decoder_embeddings", "id2label", "num_labels")
_TOKENS = dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"), 0)


def build(config: Config, architecture: str) -> Built:
    """Build the class on the meta device, from the configuration's sizes alone, and list its parameters.

    Raises ModelError for impossible sizes. Only keys that decide sizes are passed on: nothing in a configuration that
    names code, a kernel, an activation or a quantization reaches transformers.
    """
    sizes = configs.sizes(config)
    family = sizes.family
    keys = {*(key for key, _ in family.keys.values()), *family.aliases, *_FLAGS}
    given = {key: config[key] for key in keys if key in config} | _TOKENS
    if family_of(sizes.model_type).gated is not None:
        given["feed_forward_proj"] = "gated-gelu" if sizes.gated else "relu"
    chosen = transformers.AutoConfig.for_model(sizes.model_type, **given)
    with torch.device("meta"):
        network = getattr(transformers, architecture)(chosen)
        if family.tying == "output" and not sizes.tied and hasattr(network, "lm_head"):
            # Tied while transformers builds it, untied when it loads a checkpoint with an output matrix of its own.
            network.lm_head.weight = torch.nn.Parameter(torch.empty_like(network.lm_head.weight))
    return listing(network)
