"""Small random networks with real tokenizers, of every family, in memory or saved to a folder as models are.

``build("bart")`` gives (network, tokenizer), ``save("bart", folder)`` a folder that ``bartviz.load`` takes.
The same seed gives the same numbers. Depths and head counts of encoder and decoder differ: mixing them up fails.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import sentencepiece
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from bartviz.families.family import Family
from bartviz.families.registry import FAMILIES as LISTED
from bartviz.models.int8 import write as write_int8
from tests.support import python_tokenizers

transformers.utils.logging.disable_progress_bar()

SENTENCES = (
    "I want to buy a car.",
    "Ich will ein Auto kaufen.",
    "The cat is sleeping on the sofa.",
    "Die Katze schläft auf dem Sofa.",
    "A small dog runs through the old garden.",
    "Ein kleiner Hund läuft durch den alten Garten.",
    "She reads a book about the history of the city.",
    "Sie liest ein Buch über die Geschichte der Stadt.",
    "We are going to the market tomorrow morning.",
    "Wir gehen morgen früh auf den Markt.",
    "Attention is a weighted average of values.",
    "나는 차를 사고 싶어요.",
    "The weather was cold, but the children played outside.",
    "Das Wetter war kalt, aber die Kinder spielten draußen.",
    "How many people live in this house?",
    "What time is it?",
)
PROBE = "The cat is going to buy a car."
VOCABULARY = 420
_BYTE_SPECIALS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
_BERT_SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

# The sizes of every small network, under the key that its family has for each.
_SMALL = {
    "width": 32,
    "embedding_width": 16,
    "head_width": 6,
    "encoder_layers": 3,
    "encoder_heads": 4,
    "encoder_key_heads": 2,
    "decoder_key_heads": 1,
    "experts": 3,
    "experts_used": 2,
    "encoder_feed_forward": 48,
    "decoder_layers": 2,
    "decoder_heads": 2,
    "decoder_feed_forward": 40,
    "positions": 128,
}
_LANGUAGE = "de_DE"


@dataclass(frozen=True)
class Recipe:
    """How a small network is made: its tokenizer, and what in its configuration and class is not the family's own."""

    family: Family
    tokenizer: Callable[[], PreTrainedTokenizerBase]
    changes: Mapping[str, Any] = field(default_factory=dict)
    network: str | None = None

    def options(self, words: PreTrainedTokenizerBase) -> dict[str, Any]:
        """The configuration for a tokenizer."""
        ids = {f"{name}_token_id": getattr(words, f"{name}_token_id") for name in ("pad", "bos", "eos")}
        start = {"pad": words.pad_token_id, "begin": words.bos_token_id, "end": words.eos_token_id, None: None}
        start["language"] = words.convert_tokens_to_ids(_LANGUAGE)
        given = {key: value for key, value in ids.items() if value is not None} | {"vocab_size": len(words)}
        if self.family.start is not None:
            given["decoder_start_token_id"] = start[self.family.start]
        sizes = {key: _SMALL[word] for word, (key, _) in self.family.keys.items() if word in _SMALL}
        return given | sizes | dict(self.changes)


def _frequent(words: Iterable[str], most: int) -> list[str]:
    """The substrings that cover most of these words, in an order that never changes (trainers' does, run by run)."""
    counts: Counter[str] = Counter()
    for word in words:
        counts.update(word[i : i + n] for n in range(2, 9) for i in range(len(word) - n + 1))
    worth = sorted(counts, key=lambda piece: (-counts[piece] * len(piece), piece))
    return [piece for piece in worth if counts[piece] > 1][:most]


@lru_cache
def _word_pieces() -> dict[str, int]:
    words = [word for sentence in SENTENCES for word in re.findall(r"\w+|[^\w\s]", sentence.lower())]
    characters = sorted(set("".join(words)))
    starts = [piece for piece in _frequent(words, 120) if any(word.startswith(piece) for word in words)]
    rest = ["##" + piece for piece in _frequent((word[1:] for word in words), 60)]
    pieces = [*_BERT_SPECIALS, *characters, *("##" + character for character in characters), *starts, *rest]
    return {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}


@lru_cache
def _byte_pairs(specials: tuple[str, ...]) -> tuple[dict[str, int], list[tuple[str, str]]]:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(specials),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return model["vocab"], [tuple(pair) for pair in model["merges"]]


@lru_cache
def _unigrams(specials: tuple[str, ...]) -> list[tuple[str, float]]:
    words = ["\u2581" + word for sentence in SENTENCES for word in sentence.split()]
    pieces = [*specials, *sorted(set("".join(words))), *_frequent(words, 120)]
    return [(piece, 0.0 if piece in specials else -4.0 - 4.0 / len(piece)) for piece in dict.fromkeys(pieces)]


def sentence_pieces(folder: Path, name: str, *, pad: int = -1, end: int = 0, unknown: int = 1) -> Path:
    """A real SentencePiece model, written as ``folder/name``; ``</s>`` 0, ``<unk>`` 1 as Marian's, or as told."""
    path = folder / name
    with path.open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(SENTENCES),
            model_writer=file,
            vocab_size=180,
            model_type="unigram",
            bos_id=-1,
            pad_id=pad,
            eos_id=end,
            unk_id=unknown,
            hard_vocab_limit=False,
            minloglevel=2,
            num_threads=1,
        )
    return path


def _bert(cls: str = "BertTokenizer") -> PreTrainedTokenizerBase:
    return getattr(transformers, cls)(vocab=dict(_word_pieces()), model_max_length=128)


def _bart(cls: str = "BartTokenizer") -> PreTrainedTokenizerBase:
    vocabulary, merges = _byte_pairs(tuple(_BYTE_SPECIALS))
    return getattr(transformers, cls)(vocab=dict(vocabulary), merges=list(merges), model_max_length=128)


def _blenderbot() -> PreTrainedTokenizerBase:
    words = _bart("BlenderbotTokenizer")
    words.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", words.eos_token_id)]
    )
    return words


def _gpt2() -> PreTrainedTokenizerBase:
    vocabulary, merges = _byte_pairs(("<|endoftext|>",))
    return transformers.GPT2Tokenizer(vocab=dict(vocabulary), merges=list(merges), model_max_length=128)


def _padded(start: bool = False) -> PreTrainedTokenizerBase:
    """GPT-2's pieces with special tokens of their own, as OPT has them."""
    vocabulary, merges = _byte_pairs(tuple(_BYTE_SPECIALS))
    ends = {"bos_token": "</s>" if start else "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    return transformers.GPT2Tokenizer(
        vocab=dict(vocabulary), merges=list(merges), add_bos_token=start, model_max_length=128, **ends
    )


def _t5() -> PreTrainedTokenizerBase:
    return transformers.T5Tokenizer(vocab=list(_unigrams(("<pad>", "</s>", "<unk>"))), extra_ids=10)


def _albert() -> PreTrainedTokenizerBase:
    specials = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
    return transformers.AlbertTokenizer(vocab=list(_unigrams(specials)), model_max_length=128)


def _pegasus() -> PreTrainedTokenizerBase:
    specials = ("<pad>", "</s>", "<mask_1>", "<mask_2>", "<unk_2>", "<unk_3>", "<unk>")
    return transformers.PegasusTokenizer(vocab=list(_unigrams(specials)), offset=4, model_max_length=128)


def _xlm_roberta(cls: str = "XLMRobertaTokenizer") -> PreTrainedTokenizerBase:
    vocabulary = list(_unigrams(("<s>", "<pad>", "</s>", "<unk>", "<mask>")))
    return getattr(transformers, cls)(vocab=vocabulary, model_max_length=128)


def _m2m_100() -> PreTrainedTokenizerBase:
    return python_tokenizers.m2m_100(lambda folder, name: sentence_pieces(folder, name, unknown=1, end=2))


def _nllb() -> PreTrainedTokenizerBase:
    vocabulary = {piece: i for i, (piece, _) in enumerate(_unigrams(("<s>", "<pad>", "</s>", "<unk>")))}
    return transformers.NllbTokenizer(
        vocab=vocabulary, merges=[], src_lang="eng_Latn", tgt_lang="deu_Latn", model_max_length=128
    )


def _mbart() -> PreTrainedTokenizerBase:
    vocabulary = list(_unigrams(("<s>", "<pad>", "</s>", "<unk>")))
    return transformers.MBartTokenizer(vocab=vocabulary, src_lang="en_XX", tgt_lang=_LANGUAGE, model_max_length=128)


@lru_cache
def _marian_folder() -> str:
    import atexit
    import shutil
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="bartviz-marian-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    source, target = (sentence_pieces(folder, name) for name in ("source.spm", "target.spm"))
    pieces = ["</s>", "<unk>"]
    for path in (source, target):
        model = sentencepiece.SentencePieceProcessor(model_file=str(path))
        pieces += [piece for i in range(model.get_piece_size()) if (piece := model.id_to_piece(i)) not in pieces]
    vocabulary = {piece: i for i, piece in enumerate([*dict.fromkeys(pieces), "<pad>"])}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    return str(folder)


def _marian() -> PreTrainedTokenizerBase:
    import warnings

    folder = Path(_marian_folder())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # recommends a package
        return transformers.MarianTokenizer(
            source_spm=str(folder / "source.spm"),
            target_spm=str(folder / "target.spm"),
            vocab=str(folder / "vocab.json"),
            source_lang="en",
            target_lang="de",
            model_max_length=128,
        )


# Windows that are narrower than the texts of the tests, in one of two layers.
_WINDOWS = {"sliding_window": 5, "layer_types": ["sliding_attention", "full_attention"], "pad_token_id": None}
_WINDOWED = ("gemma3_text", "olmo3", "exaone4", "cohere2", "gpt_oss")
_BERT_IDS = {"bos_token_id": 2, "eos_token_id": 3, "cls_token_id": 2, "sep_token_id": 3}
_GATED = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
_OWN: dict[str, Recipe] = {
    "bert": Recipe(LISTED["bert"], _bert, network="BertForMaskedLM"),
    "bert-pretraining": Recipe(LISTED["bert"], _bert),
    "roberta": Recipe(LISTED["roberta"], lambda: _bart("RobertaTokenizer"), {"type_vocab_size": 1}),
    "xlm-roberta": Recipe(LISTED["xlm-roberta"], _xlm_roberta),
    "camembert": Recipe(LISTED["camembert"], lambda: _xlm_roberta("CamembertTokenizer")),
    "data2vec-text": Recipe(LISTED["data2vec-text"], lambda: _bart("RobertaTokenizer")),
    "ernie": Recipe(LISTED["ernie"], _bert),
    "modernbert": Recipe(LISTED["modernbert"], _bert, {"local_attention": 8} | _BERT_IDS),
    "eurobert": Recipe(LISTED["eurobert"], _bert, _BERT_IDS | {"mask_token_id": 4}),
    "distilbert": Recipe(LISTED["distilbert"], lambda: _bert("DistilBertTokenizer")),
    "electra": Recipe(LISTED["electra"], lambda: _bert("ElectraTokenizer")),
    "albert": Recipe(LISTED["albert"], _albert),
    "bart": Recipe(LISTED["bart"], _bart),
    "mbart": Recipe(LISTED["mbart"], _mbart),
    "plbart": Recipe(LISTED["plbart"], _mbart),
    "m2m_100": Recipe(LISTED["m2m_100"], _m2m_100),
    "nllb": Recipe(LISTED["m2m_100"], _nllb),
    "blenderbot": Recipe(LISTED["blenderbot"], _blenderbot),
    "blenderbot-small": Recipe(LISTED["blenderbot-small"], lambda: python_tokenizers.blenderbot_small(SENTENCES)),
    "marian": Recipe(LISTED["marian"], _marian),
    "pegasus": Recipe(LISTED["pegasus"], _pegasus),
    "t5": Recipe(LISTED["t5"], _t5),
    "t5-gated": Recipe(LISTED["t5"], _t5, _GATED),
    "mt5": Recipe(LISTED["mt5"], _t5),
    "umt5": Recipe(LISTED["umt5"], _t5),
    "gpt2": Recipe(LISTED["gpt2"], _gpt2, {"n_layer": 3, "n_head": 4, "n_inner": None}),
    "gpt_neox": Recipe(LISTED["gpt_neox"], _gpt2),
    "opt": Recipe(LISTED["opt"], lambda: _padded(start=True)),
    "biogpt": Recipe(LISTED["biogpt"], lambda: python_tokenizers.biogpt(SENTENCES)),
    "mistral": Recipe(LISTED["mistral"], _gpt2, {"sliding_window": 5}),
    "gemma2": Recipe(LISTED["gemma2"], _gpt2, {**_WINDOWS, "attn_logit_softcapping": 3.0, "query_pre_attn_scalar": 1}),
    **{
        name: Recipe(LISTED[name], _gpt2, _WINDOWS)
        for name in ("gemma3_text", "olmo3", "exaone4", "cohere2", "gpt_oss")
    },
    "ernie4_5": Recipe(
        LISTED["llama"], _gpt2, {"pad_token_id": None}, network="Ernie4_5ForCausalLM"
    ),  # a type that is not listed
}
_USUAL: Mapping[str, tuple[Callable[[], PreTrainedTokenizerBase], Mapping[str, Any]]] = {
    "encoder": (_bert, {}),
    "encoder-decoder": (_bart, {}),
    "decoder": (_gpt2, {"pad_token_id": None}),
}
# A family without a line above has the usual tokenizer of its kind.
FAMILIES: Mapping[str, Recipe] = _OWN | {
    name: Recipe(family, *_USUAL[family.kind]) for name, family in LISTED.items() if name not in _OWN
}
# Further tokenizers of these families.
RECIPES: Mapping[str, Recipe] = {**FAMILIES, "byt5": Recipe(LISTED["t5"], python_tokenizers.byt5)}
ENCODERS = tuple(name for name, recipe in FAMILIES.items() if recipe.family.kind == "encoder")
ENCODER_DECODERS = tuple(name for name, recipe in FAMILIES.items() if recipe.family.kind == "encoder-decoder")


def tokenizer(family: str) -> PreTrainedTokenizerBase:
    """A new tokenizer of the family's own kind, trained on ``SENTENCES``."""
    return RECIPES[family].tokenizer()


def build(
    family: str,
    *,
    seed: int = 0,
    spread: float = 0.0,
    trained: bool = False,
    architecture: str | None = None,
    **config: Any,
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A random network in eval mode, float32, and its tokenizer.

    spread: standard deviation of all matrices instead of the initialiser's (0.3 makes peaked attention). trained: move
    biases and gains too, so that the network does not look freshly initialised. architecture: another class.
    config: further configuration keys.
    """
    recipe, words = RECIPES[family], tokenizer(family)
    cls = getattr(transformers, architecture or recipe.network or recipe.family.classes[0])
    settings = cls.config_class(**(recipe.options(words) | config))
    torch.manual_seed(seed)
    network = cls(settings)
    _widen(network, seed, spread, trained)
    return network.eval().requires_grad_(False), words


def _widen(network: PreTrainedModel, seed: int, spread: float, trained: bool) -> None:
    random = torch.Generator().manual_seed(seed + 1)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if parameter.dim() > 1 and spread:
                parameter.normal_(0, spread, generator=random)
            elif parameter.dim() == 1 and trained:
                parameter.add_(torch.randn(parameter.shape, generator=random) * 0.1)
            assert torch.isfinite(parameter).all(), name
        if isinstance(network, transformers.T5ForConditionalGeneration) and not network.config.scale_decoder_outputs:
            network.lm_head.weight = torch.nn.Parameter(network.lm_head.weight * 0.5)  # T5 1.1 does not tie it


def save(
    family: str,
    folder: Path,
    *,
    seed: int = 0,
    half: bool = False,
    int8: bool = False,
    shard: str | None = None,
    **options: Any,
) -> Path:
    """The folder of a model: config.json, safetensors weights, tokenizer.

    half: float16 on disk. int8: matrices as int8 rows. shard: the largest size of a weights file, such as "100KB"; not
    with int8.
    """
    network, words = build(family, seed=seed, **options)
    if half:
        network = network.half()
    kept: dict[str, Any] = {} if shard is None else {"max_shard_size": shard}
    network.save_pretrained(folder, **kept)
    words.save_pretrained(folder)
    if int8:
        write_int8(folder / "model.safetensors", folder / "model.safetensors")
    return folder


def edit(folder: Path, name: str = "config.json", **changes: Any) -> None:
    """Change keys of a JSON file of a model's folder; a value of ``...`` removes the key."""
    path = folder / name
    value = json.loads(path.read_text(encoding="utf-8")) | changes
    path.write_text(json.dumps({key: item for key, item in value.items() if item is not ...}), encoding="utf-8")
