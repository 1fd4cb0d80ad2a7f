"""The ids of a folder are those that transformers gives it, whichever of its files says how."""

from __future__ import annotations

import inspect
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import AutoTokenizer, PreTrainedTokenizerBase
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES, tokenizer_class_from_name

import bartviz
from bartviz.errors import ModelError, TextError
from bartviz.models import checkpoint, tokenizer
from bartviz.models.files import Files
from bartviz.models.model import Model
from bartviz.run.prepare import unread
from bartviz.text import tokenize
from tests.support import networks

HERE = Path(__file__).parent
TEXTS = (
    "I want to buy a car.",
    "  The CAT's   sofa\n\tläuft, naïve Café! 12345",
    "나는 차를 사고 싶어요. 안녕하세요 세계 hello",
    "日本語のテキスト。中文",
    "👩‍👩‍👧 e\u0301 ﬁ ＡＢ",
    "a\x07b \u200b\ue000 c\u00ad",
    "</s> <mask> [MASK] <img>",
)


def files(folder: Path, model_type: str, **config: Any) -> Path:
    """A folder with a small config.json, for which no weights are needed."""
    folder.mkdir(exist_ok=True)
    sizes = {"vocab_size": 5000, "hidden_size": 96, "num_hidden_layers": 1}
    sizes |= {"d_model": 96} if model_type == "m2m_100" else {}
    (folder / "config.json").write_text(json.dumps({"model_type": model_type} | sizes | config))
    return folder


def read(folder: Path) -> tokenizer.Read:
    found = Files.of(folder)
    return tokenizer.read(found, checkpoint.read(found))


def settings(folder: Path, **said: Any) -> None:
    (folder / "tokenizer_config.json").write_text(json.dumps(said))


def in_config(folder: Path) -> None:
    shutil.copytree(HERE / "tokenizer_class_in_config", folder, dirs_exist_ok=True)


def sentencepiece_in_gpt2(folder: Path) -> None:
    files(folder, "gpt2", tokenizer_class="T5Tokenizer", n_embd=96)
    networks.sentence_pieces(folder, "spiece.model", pad=0, end=1, unknown=2)
    settings(folder, bos_token="<s>", eos_token="</s>", unk_token="<unk>", extra_ids=0)


def xlm_roberta_in_bert(folder: Path) -> None:
    files(folder, "bert", tokenizer_class="XLMRobertaTokenizer")
    networks.sentence_pieces(folder, "sentencepiece.bpe.model", unknown=1, end=2, pad=-1)


def saved_xlm_roberta_in_bert(folder: Path) -> None:
    networks.tokenizer("xlm-roberta").save_pretrained(folder)
    (folder / "tokenizer_config.json").unlink()
    files(folder, "bert", tokenizer_class="XLMRobertaTokenizerFast")


def roberta_in_bert(folder: Path) -> None:
    files(folder, "bert", tokenizer_class="RobertaTokenizer")
    vocabulary_and_merges(folder)


def no_special_tokens_named(folder: Path) -> None:
    in_config(folder)
    (folder / "tokenizer_config.json").unlink()


def vocabulary_and_merges(folder: Path) -> None:
    saved = json.loads(networks.tokenizer("bart").backend_tokenizer.to_str())["model"]
    (folder / "vocab.json").write_text(json.dumps(saved["vocab"]))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(map(" ".join, saved["merges"])) + "\n")


def word_pieces(folder: Path) -> None:
    vocabulary = networks.tokenizer("bert").get_vocab()
    (folder / "vocab.txt").write_text("\n".join(sorted(vocabulary, key=lambda piece: vocabulary[piece])) + "\n")


def case_kept(folder: Path) -> None:
    files(folder, "bert")
    word_pieces(folder)
    settings(folder, do_lower_case=False)


def accents_kept(folder: Path) -> None:
    files(folder, "electra")
    word_pieces(folder)
    settings(folder, strip_accents=False, tokenize_chinese_chars=False)


def special_tokens_map(folder: Path) -> None:
    files(folder, "roberta")
    vocabulary_and_merges(folder)
    mask = {"content": "<mask>", "lstrip": False, "rstrip": False, "normalized": False, "single_word": False}
    (folder / "special_tokens_map.json").write_text(json.dumps({"mask_token": mask, "cls_token": "</s>"}))


def added_tokens(folder: Path) -> None:
    files(folder, "bert")
    word_pieces(folder)
    (folder / "added_tokens.json").write_text(json.dumps({"sofa": 3000, "<img>": 3001}))
    settings(folder, additional_special_tokens=["<img>"])


def token_of_its_own_role(folder: Path) -> None:
    files(folder, "gpt2", n_embd=96)
    vocabulary_and_merges(folder)
    settings(folder, image_token="<img>")


def nllb_of_old(folder: Path) -> None:
    networks.tokenizer("nllb").save_pretrained(folder)
    files(folder, "m2m_100")
    settings(folder, tokenizer_class="NllbTokenizer", src_lang="eng_Latn", tgt_lang="deu_Latn", legacy_behaviour=True)


def unknown_class(folder: Path) -> None:
    files(folder, "bert", tokenizer_class="NoSuchTokenizer")
    networks.tokenizer("bart").save_pretrained(folder)
    (folder / "tokenizer_config.json").unlink()


LAYOUTS: tuple[Callable[[Path], None], ...] = (
    *(in_config, no_special_tokens_named, sentencepiece_in_gpt2, xlm_roberta_in_bert, saved_xlm_roberta_in_bert),
    *(roberta_in_bert, case_kept, accents_kept, special_tokens_map, added_tokens, token_of_its_own_role),
    *(nllb_of_old, unknown_class),
)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_ids_are_those_of_transformers(layout: Callable[[Path], None], tmp_path: Path) -> None:
    layout(tmp_path)
    words, theirs = read(tmp_path).tokenizer, AutoTokenizer.from_pretrained(tmp_path)
    assert type(words) is type(theirs)
    for text in TEXTS:
        assert tokenize.encode(words, text, allow_special=True).ids.tolist() == theirs(text)["input_ids"], text


def test_a_loaded_and_a_wrapped_model_read_the_same(tmp_path: Path) -> None:
    in_config(tmp_path)
    config = transformers.AutoConfig.from_pretrained(tmp_path)
    torch.manual_seed(0)
    network = transformers.GPT2LMHeadModel(config).eval()
    network.save_pretrained(tmp_path)
    text = "안녕하세요 세계 hello"
    loaded = bartviz.capture(bartviz.load(tmp_path), text)
    wrapped = bartviz.capture(bartviz.wrap(network, AutoTokenizer.from_pretrained(tmp_path)), text)
    assert loaded.decoder is not None
    assert wrapped.decoder is not None
    assert loaded.decoder.key.labels == wrapped.decoder.key.labels == ("안녕하세요", "세계", "hello")


def test_a_class_that_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    files(tmp_path, "bert", tokenizer_class="BertModel")
    word_pieces(tmp_path)
    with pytest.raises(ModelError, match=r"tokenizer_class in the model's config\.json"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("said", "key"),
    [({"init_inputs": ["a"]}, "init_inputs"), ({"fast_tokenizer_files": ["tokenizer.4.0.0.json"]}, "fast_tokenizer")],
)
def test_a_setting_that_is_not_read_is_refused(said: dict[str, Any], key: str, tmp_path: Path) -> None:
    files(tmp_path, "bert")
    word_pieces(tmp_path)
    settings(tmp_path, **said)
    with pytest.raises(ModelError, match=key):
        read(tmp_path)


def test_code_of_its_own_is_said(tmp_path: Path) -> None:
    files(tmp_path, "bert")
    word_pieces(tmp_path)
    settings(tmp_path, auto_map={"AutoTokenizer": ["code.Slow", "code.Fast"]})
    assert any("auto_map" in notice for notice in read(tmp_path).notices)


def test_rules_that_a_class_does_not_follow_are_said(tmp_path: Path) -> None:
    files(tmp_path, "bert")
    words = networks.tokenizer("bert")
    words.save_pretrained(tmp_path)
    assert read(tmp_path).notices == ()
    words.backend_tokenizer.normalizer = normalizers.NFC()  # keeps capitals, unlike the class
    words.backend_tokenizer.save(str(tmp_path / "tokenizer.json"))
    (said,) = read(tmp_path).notices
    assert "tokenizer.json" in said
    assert (
        read(tmp_path).tokenizer("The Cat")["input_ids"] == AutoTokenizer.from_pretrained(tmp_path)("The Cat").input_ids
    )


# Parameters of tokenizers' classes that no model here has: of pictures, sound, tables and other Python tokenizers; and
# those that name files or pass objects, which are never read from settings.
OTHERS = {
    *("self", "args", "kwargs", "vocab", "merges", "vocab_file", "merges_file", "spm_file", "emoji_file"),
    *("source_spm", "target_spm", "target_vocab_file", "monolingual_vocab_file", "normalizer_file", "src_vocab_file"),
    *("tgt_vocab_file", "word_pronunciation_file", "word_shape_file", "_spm_precompiled_charsmap"),
    *("sp_model_kwargs", "mecab_kwargs", "sudachi_kwargs", "jumanpp_kwargs", "entity_vocab", "generator"),
    *("question_encoder", "add_blank", "cell_trim_length", "cls_token_box", "sep_token_box", "pad_token_box"),
    *("pad_token_label", "only_label_first_subword", "do_clean_text", "do_phonemize", "do_subword_tokenize"),
    *("do_upper_case", "do_word_tokenize", "id2lang", "lang2id", "is_uroman", "lang_codes", "langs", "language"),
    *("max_column_id", "max_depth", "max_entity_length", "max_length", "max_mention_length", "max_question_length"),
    *("max_row_id", "max_width", "min_question_length", "normalize", "pad_width", "phonemize", "phonemizer_backend"),
    *("phonemizer_lang", "predict_timestamps", "replace_word_delimiter_char", "strip_column_names"),
    *("subword_tokenizer_type", "tags_dict", "task", "token_type_ids_pattern", "update_answer_coordinates"),
    *("use_default_system_prompt", "word_tokenizer_type"),
}


@pytest.mark.slow
def test_every_setting_of_a_tokenizer_is_read_or_named_here() -> None:
    found = set[str]()
    for name in sorted({name for name in TOKENIZER_MAPPING_NAMES.values() if name}):
        for kind in getattr(tokenizer_class_from_name(name), "__mro__", ()):
            if "__init__" in vars(kind) and issubclass(kind, PreTrainedTokenizerBase):
                found |= set(inspect.signature(kind).parameters)
    assert len(found) > 90
    assert sorted(key for key in found - OTHERS - tokenizer.KEPT if not key.endswith("_token")) == []


# Tokens without an embedding ------------------------------------------------------------------------------------------


@pytest.fixture
def padded() -> tuple[Any, PreTrainedTokenizerBase]:
    """GPT-2 whose tokenizer got a padding token, as before training in batches, and was not resized."""
    network, words = networks.build("gpt2", trained=True)
    words.add_special_tokens({"pad_token": "[PAD]"})
    assert words.pad_token_id == network.config.vocab_size
    return network, words


@pytest.mark.parametrize("way", ["load", "wrap"])
def test_an_added_token_beyond_the_rows_is_accepted_and_said(
    way: str, padded: tuple[Any, PreTrainedTokenizerBase], tmp_path: Path
) -> None:
    network, words = padded
    network.save_pretrained(tmp_path)
    words.save_pretrained(tmp_path)
    model = bartviz.load(tmp_path) if way == "load" else bartviz.wrap(network, words)
    plain, _ = networks.build("gpt2", trained=True)
    record = bartviz.capture(model, "A cat.")
    expected = bartviz.capture(bartviz.wrap(plain, networks.tokenizer("gpt2")), "A cat.")
    assert record.decoder is not None
    assert expected.decoder is not None
    assert record.decoder.query.ids.tolist() == expected.decoder.query.ids.tolist()
    assert sum("[PAD]" in notice for notice in model.notices) == 1
    with pytest.raises(TextError, match=r"\[PAD\]"):
        bartviz.capture(model, "A [PAD] cat.", allow_special=True)
    assert bartviz.capture(model, "A [PAD] cat.").source_text == "A [PAD] cat."  # as letters
    assert words.pad_token == "[PAD]"  # the caller's own is as it was


def test_padding_never_is_a_token_beyond_the_rows(padded: tuple[Any, PreTrainedTokenizerBase]) -> None:
    network, words = padded
    model = bartviz.wrap(network, words)
    long, short = (tokenize.encode(model.tokenizer, text) for text in ("A cat and a dog.", "A cat."))
    filled = tokenize.pad(short, model.tokenizer, len(long))
    assert max(filled.ids.tolist()) < network.config.vocab_size


def test_a_word_that_was_added_and_has_no_row_is_refused_in_a_text(tmp_path: Path) -> None:
    network, words = networks.build("bert", trained=True)
    words.add_tokens(["hammock"])
    model = bartviz.wrap(network, words)
    bartviz.capture(model, "The cat.")
    with pytest.raises(TextError, match="hammock"):
        bartviz.capture(model, "The cat in the hammock.")


def test_tokens_beyond_the_rows_that_every_text_gets_are_refused() -> None:
    network, words = networks.build("opt", trained=True)
    words.add_special_tokens({"bos_token": "<begin>"})
    words.add_bos_token = True
    words.update_post_processor()
    assert words("a")["input_ids"][0] == network.config.vocab_size
    with pytest.raises(ModelError, match="do not belong together"):
        bartviz.wrap(network, words)


# Letters that no token holds ------------------------------------------------------------------------------------------


def without_bytes() -> Any:
    """Pieces without an unknown one: letters that it does not know vanish."""
    inner = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2, "</s>": 3, "▁": 4}, [("a", "b")]))
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    inner.decoder = decoders.Metaspace()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="</s>")


@pytest.fixture(scope="module")
def dropping() -> Model:
    config = transformers.GPT2Config(vocab_size=5, n_embd=8, n_layer=1, n_head=2, bos_token_id=3, eos_token_id=3)
    torch.manual_seed(0)
    return bartviz.wrap(transformers.GPT2LMHeadModel(config), without_bytes())


def test_letters_that_no_token_holds_are_said(dropping: Model) -> None:
    def notices(text: str) -> str:
        return " ".join(bartviz.capture(dropping, text).provenance.notices)

    assert notices("ab ab") == ""
    assert "drops 1 of the 5 characters" in notices("ab aé")
    assert "75% of the letters" in notices("a 한국어")
    assert "drops 2 of the 5 characters" in notices("ab 12")


def test_a_text_of_which_nothing_is_left_is_refused() -> None:
    inner = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2, "</s>": 3}, [("a", "b")]))
    words = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="</s>")
    config = transformers.GPT2Config(vocab_size=4, n_embd=8, n_layer=1, n_head=2, bos_token_id=3, eos_token_id=3)
    model = bartviz.wrap(transformers.GPT2LMHeadModel(config), words)
    with pytest.raises(TextError, match="nothing is left"):
        bartviz.capture(model, "한국어")


@pytest.mark.parametrize("text", ["\ue000\uf8ff", "\x07\x08", "\u00ad\u200d"])
def test_special_tokens_alone_are_no_text_that_was_read(text: str) -> None:
    words = networks.tokenizer("bert")
    tokens = tokenize.encode(words, text)
    if tokens.special.all():
        assert unread(tokens, words, text)[:2] == (1.0, 0.0)
    else:  # as unknown ones
        assert unread(tokens, words, text).unknown > 0


def test_pieces_are_not_drawn_at_random(tmp_path: Path) -> None:
    in_config(tmp_path)
    networks.edit(tmp_path, "tokenizer.json", model=without_chance(tmp_path) | {"dropout": 0.9})
    found = read(tmp_path)
    assert any("dropout" in notice for notice in found.notices)
    cut = {tuple(tokenize.encode(found.tokenizer, "안녕하세요 세계 hello").labels) for _ in range(20)}
    assert cut == {("안녕하세요", "세계", "hello")}


def without_chance(folder: Path) -> dict[str, Any]:
    model: dict[str, Any] = json.loads((folder / "tokenizer.json").read_text())["model"]
    return model
