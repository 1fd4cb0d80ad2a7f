"""Tokenizers in a browser give the ids, labels, words and spans of Python's, for texts of every script."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import bartviz
from bartviz.models.model import Model
from bartviz.text import tokenize
from bartviz.text.tokens import Tokens
from tests.explorer.engine.test_engine import random_model
from tests.support import engine

FAMILIES = ("bert", "bart", "roberta", "gpt2", "pegasus", "mbart", "marian")
WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "mat",
    "Haus",
    "kaufen",
    "Auto",
    "I",
    "want",
    "to",
    "buy",
    "a",
    "car",
    "she",
    "said",
    "that's",
    "don't",
]
# Signs whose classes no version of Unicode has changed lately: a browser's may be older or newer than Python's.
SIGNS = (
    *("abc defg hij ABC ", ".,!?'\"-()[]<>/", "0123456789 ", "한국어 문장을 입력해 봅시다 ", "مرحبا بالعالم "),
    *(
        "中文字符 テスト ",
        "😀👍🏽👨‍👩‍👧 🇰🇷🇩🇪",
        "\t\n\r \u00a0\u200b\u3000\u2028\u0085",
        "éèñüßÄÖ e\u0301 a\u0308\u0323",
    ),
    *("\u0000\ufffd\u200d\ufeff\u202e\x01\x7f", "ไทย", "İıſKÅﬁ①½™", "<s></s><mask>[MASK][CLS]"),
)
FIELDS = ("ids", "labels", "words", "spans", "pieces", "special", "segments")


def texts(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        if rng.random() < 0.3:
            made.append(" ".join(rng.choices(WORDS, k=rng.randint(1, 12))))
        else:
            made.append("".join(rng.choice(rng.choice(SIGNS)) for _ in range(rng.randint(1, 40))))
    return made


def plain(tokens: Tokens) -> dict[str, Any]:
    found = {name: getattr(tokens, name) for name in FIELDS}
    as_lists = {name: value.tolist() if hasattr(value, "tolist") else list(value) for name, value in found.items()}
    return as_lists | {"spans": [None if span is None else list(span) for span in tokens.spans]}


def compare(model: Model, folder: Path, count: int, seed: int) -> None:
    asked = texts(count, seed)
    questions = [{"about": "tokens", "text": text, "typed": typed} for text in asked for typed in (False, True)]
    found = iter(engine.answers(folder, model, questions))
    for text in asked:
        for typed in (False, True):
            assert next(found) == plain(tokenize.encode(model.tokenizer, text, allow_special=typed)), (text, typed)


@pytest.mark.some("bert", "bart", "pegasus", "marian")
@pytest.mark.parametrize("family", FAMILIES)
def test_a_tokenizer_gives_what_python_gives(family: str, tmp_path: Path) -> None:
    compare(random_model(family), tmp_path, 150, seed=33)


@pytest.mark.some("1")
@pytest.mark.parametrize("part", range(1, 11))
@pytest.mark.parametrize("name", ["bart-tiny-en-de", "bert-tiny-en"])
@pytest.mark.slow
def test_ten_thousand_texts(name: str, part: int, tmp_path: Path) -> None:
    compare(bartviz.load(name), tmp_path, 500, seed=part)


@pytest.mark.some("1")
@pytest.mark.parametrize("part", range(1, 11))
@pytest.mark.parametrize("family", ["marian", "mbart"])
@pytest.mark.slow
def test_ten_thousand_texts_in_sentence_pieces(family: str, part: int, tmp_path: Path) -> None:
    compare(random_model(family), tmp_path, 500, seed=part)


def test_ids_are_written_as_python_writes_them(tmp_path: Path) -> None:
    model, rng = bartviz.load("bart-tiny-en-de"), random.Random(2)
    ids = [[rng.randrange(8_000) for _ in range(rng.randint(1, 25))] for _ in range(150)]
    for asked, (text, tokens) in zip(
        ids, engine.answers(tmp_path, model, [{"about": "written", "ids": one} for one in ids]), strict=True
    ):
        expected, described = tokenize.from_ids(model.tokenizer, asked)
        assert (text, tokens) == (expected, plain(described))
