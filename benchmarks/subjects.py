"""Networks of the real sizes with random weights, loaded through bartviz.load like anybody's checkpoint.

The query and key weights are widened 5x, so that attention is peaked: the hard case for rounding.
"""

from __future__ import annotations

from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

import bartviz
from bartviz.families.catalogue import entry
from bartviz.models.model import Model

_CLASSES = {"bert": transformers.BertForMaskedLM, "bart": transformers.BartForConditionalGeneration}
_SHARP = ("query.weight", "key.weight", "q_proj.weight", "k_proj.weight")


def subject(name: str, folder: Path, **sizes: int) -> Model:
    """The catalogue's model of that name with random weights, saved under ``folder`` once and loaded from there.

    ``sizes``: keys of its configuration, for a smaller network of the same kind.
    """
    home = folder / "-".join([name.replace("/", "-"), *map(str, sizes.values())])
    if not home.is_dir():
        known = entry(name)
        assert known is not None
        config = transformers.AutoConfig.for_model(**{**known.config, **sizes})
        torch.manual_seed(0)
        network = _CLASSES[known.family](config).eval()
        with torch.no_grad():
            for key, weight in network.named_parameters():
                if key.endswith(_SHARP):
                    weight.mul_(5)
        network.save_pretrained(home)
        tokenizer(config.vocab_size).save_pretrained(home)
    return bartviz.load(str(home))


def ids(tokens: int) -> list[int]:
    """The ids of a text of this many tokens, the two special ones included."""
    return [0, *(5 + (7 * i) % 1000 for i in range(tokens - 2)), 2]


def text(tokens: int) -> str:
    """The text of those ids."""
    return " ".join(f"w{i}" for i in ids(tokens)[1:-1])


def tokenizer(vocabulary: int, numbers: int = 0) -> transformers.PreTrainedTokenizerFast:
    """A word is a token: a text of n words has exactly n + 2. The last ``numbers`` words are numbers."""
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    words = {word: i for i, word in enumerate(special)} | {f"w{i}": i for i in range(5, vocabulary - numbers)}
    words |= {str(i): i for i in range(vocabulary - numbers, vocabulary)}
    core = Tokenizer(WordLevel(words, unk_token="<unk>"))
    core.pre_tokenizer = Whitespace()
    core.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=core,
        bos_token="<s>",
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
        mask_token="<mask>",
        cls_token="<s>",
        sep_token="</s>",
        model_max_length=1_000_000,
    )
