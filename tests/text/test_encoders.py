"""Our own copies of the models' tokenizers: nothing is cut, special tokens are literal, threads do not interfere."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from tokenizers import AddedToken

from bartviz.errors import ModelError
from bartviz.text import tokenize
from bartviz.text.tokenize import encoder_of
from tests.support.small_tokenizers import bart, tokenizer


def test_split_special_tokens_is_not_enough_for_unigram_vocabularies() -> None:
    """The fault in transformers that our own copies repair; if this fails, they can go."""
    own = tokenizer("t5_model")
    assert own("a </s>", split_special_tokens=True).input_ids.count(own.eos_token_id) == 2
    assert tokenize.encode(own, "a </s>").ids.tolist().count(own.eos_token_id) == 1
    # also where normalization makes the special token: full-width signs
    assert tokenize.encode(own, "a ＜/s＞").ids.tolist().count(own.eos_token_id) == 1


def test_nothing_is_cut_although_the_file_says_so() -> None:
    own = bart()
    own.backend_tokenizer.enable_truncation(4)
    own.backend_tokenizer.enable_padding(length=99)
    assert len(tokenize.encode(own, "a car " * 50)) > 100
    assert len(tokenize.encode(own, "a car")) == 4


def test_tokens_added_later_are_seen() -> None:
    own = bart()
    assert tokenize.encode(own, "<new>", allow_special=True).labels[1:-1] != ("<new>",)
    own.add_special_tokens({"additional_special_tokens": ["<new>"]})
    assert tokenize.encode(own, "<new>", allow_special=True).labels[1:-1] == ("<new>",)
    assert tokenize.encode(own, "<new>").labels[1:-1] != ("<new>",)


def test_a_tokenizer_without_spans_is_refused() -> None:
    from transformers import CanineTokenizer

    with pytest.raises(ModelError, match="CanineTokenizer"):
        tokenize.encode(CanineTokenizer(), "a")


OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"allow_special": True},
    {"target": True},
    {"target": True, "allow_special": True},
)


def test_two_threads_do_not_change_each_others_answers() -> None:
    own = tokenizer("mbart")
    plans: list[tuple[dict[str, Any], list[int]]] = [
        (options, tokenize.encode(own, "Ja </s> <mask>", **options).ids.tolist()) for options in OPTIONS
    ]
    wrong: list[object] = []

    def work(options: dict[str, Any], expected: list[int]) -> None:
        for _ in range(50):
            found = tokenize.encode(own, "Ja </s> <mask>", **options).ids.tolist()
            if found != expected:
                wrong.append(found)

    threads = [threading.Thread(target=work, args=plan) for plan in plans]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({tuple(ids) for _, ids in plans}) == 4
    assert wrong == []


def test_a_mask_that_takes_the_space_before_it() -> None:
    own = bart(mask_token=AddedToken("<mask>", lstrip=True, special=True))
    made = tokenize.encode(own, "a <mask> car", allow_special=True)
    assert made.ids.tolist() == own("a <mask> car", split_special_tokens=False).input_ids
    assert made.labels == ("<s>", "a", "<mask>", "car", "</s>")
    assert made.spans == (None, (0, 1), (2, 8), (9, 12), None)
    assert made.words == (None, 0, None, 1, None)


def test_an_encoder_is_made_once_and_goes_with_its_tokenizer() -> None:
    import gc
    import weakref

    own = bart()
    first = encoder_of(own)
    assert encoder_of(own) is first
    gone = weakref.ref(first)
    del own, first
    gc.collect()
    assert gone() is None
