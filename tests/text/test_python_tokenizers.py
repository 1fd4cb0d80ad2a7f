"""Tokenizers in Python: the ids are transformers', and each token stands for a part of the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from transformers import AutoTokenizer, PreTrainedTokenizerBase

import bartviz
from bartviz.errors import ModelError, TextError
from bartviz.run.prepare import unheld
from bartviz.text import tokenize
from tests.support import networks

NAMES = ("m2m_100", "biogpt", "blenderbot-small", "byt5")
TEXTS = (
    "I want to buy a car.",
    "  The CAT's   sofa\n\tläuft, naïve Café! 12345",
    "Don't (ever) say \"no\" — a-b & <c> [d] it's... U.S. e.g. 3.5%",
    "나는 차를 사고 싶어요. 日本語のテキスト。中文",
    "👩‍👩‍👧 e\u0301 ﬁ ＡＢ İSTANBUL ΣΑΣ",
    "a\x07b \u200b\ue000 c\u00ad",
    "</s> <pad> x __en__ __end__ &amp; @-@ a@@ b </w>",
    "line one\nline two\n\nthree",
    "a..b ,,c ''d'' !? word-word well-known - .......... &lt; | &#91;",
    "x</s>",
)


@pytest.fixture(scope="module", params=NAMES)
def words(request: pytest.FixtureRequest) -> PreTrainedTokenizerBase:
    return networks.tokenizer(request.param)


@pytest.mark.filterwarnings("ignore:This sequence already has")
@pytest.mark.parametrize("text", TEXTS)
def test_ids_are_those_of_transformers(text: str, words: PreTrainedTokenizerBase) -> None:
    tokens = tokenize.encode(words, text, allow_special=True)
    assert tokens.ids.tolist() == words(text)["input_ids"]
    target = tokenize.encode(words, text, target=True, allow_special=True)
    assert target.ids.tolist() == words(text_target=text)["input_ids"]
    pair = tokenize.encode(words, text, pair="a car", allow_special=True)
    assert pair.ids.tolist() == words(text, "a car")["input_ids"]


@pytest.mark.parametrize("text", TEXTS)
def test_every_letter_is_in_a_token(text: str, words: PreTrainedTokenizerBase) -> None:
    tokens = tokenize.encode(words, text)
    assert unheld(tokens, text) == []
    ends = [span[1] for span in tokens.spans if span is not None]
    assert ends == sorted(ends)


@pytest.mark.parametrize(
    ("name", "spans"),
    [
        ("m2m_100", {"A": (0, 1), "car": (6, 9)}),
        ("biogpt", {"&": (2, 3), "&amp;": (2, 3), "car": (6, 9)}),
        ("blenderbot-small", {"&": (2, 3), "car": (6, 9)}),
        ("byt5", {"c": (6, 7)}),
    ],
)
def test_a_token_covers_its_part(name: str, spans: dict[str, tuple[int, int]]) -> None:
    text = "A & a car."
    tokens = tokenize.encode(networks.tokenizer(name), text)
    covered = [span for span in tokens.spans if span is not None]
    for span in spans.values():
        inside = [part for part in covered if span[0] <= part[0] and part[1] <= span[1]]
        assert inside
        assert (inside[0][0], inside[-1][1]) == span


@pytest.mark.parametrize("name", NAMES)
def test_a_text_is_restored(name: str) -> None:
    words = networks.tokenizer(name)
    text = "we read a book" if name == "blenderbot-small" else "We read a book"
    assert tokenize.from_ids(words, tokenize.encode(words, text).ids.tolist())[0] == text


@pytest.mark.parametrize("name", ["biogpt", "blenderbot-small"])
def test_a_word_without_end_is_refused(name: str) -> None:
    for text in ("a" * 500, "a " + "." * 500):
        if name == "blenderbot-small" and "." in text:
            continue  # each stands alone
        with pytest.raises(TextError, match="200 characters"):
            tokenize.encode(networks.tokenizer(name), text)


def test_a_typed_special_token_is_text() -> None:
    for name in NAMES:
        words = networks.tokenizer(name)
        plain = tokenize.encode(words, f"a {words.eos_token} b")
        marked = tokenize.encode(words, f"a {words.eos_token} b", allow_special=True)
        count = marked.ids.tolist().count(words.eos_token_id)
        assert plain.ids.tolist().count(words.eos_token_id) == count - 1


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_folder_of_such_a_model_runs(name: str, tmp_path: Path) -> None:
    folder = networks.save(name, tmp_path, trained=True)
    model, text = bartviz.load(folder), "I want to buy a car."
    record = bartviz.capture(model, text)
    read = record.source if record.source is not None else record.decoder.query
    assert read.ids.tolist()[: len(read)] == AutoTokenizer.from_pretrained(folder)(text)["input_ids"][: len(read)]
    assert record.sound


def test_another_tokenizer_in_python_is_refused_when_it_is_loaded(tmp_path: Path) -> None:
    from transformers import CanineTokenizer

    network, _ = networks.build("bert", trained=True)
    with pytest.raises(ModelError, match=r"CanineTokenizer|do not belong together"):
        bartviz.wrap(network, CanineTokenizer())
