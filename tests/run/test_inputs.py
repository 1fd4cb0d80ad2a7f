"""Texts given as ids, words and messages: the same records, what transformers calls them, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import bartviz
from bartviz.errors import SettingError, TextError
from bartviz.record.record import Record
from tests.support import loaded, networks

TEXT, TARGET, QUESTION = "The cat is sleeping on the sofa.", "Die Katze schläft auf dem Sofa.", "What time is it?"
WORDS = ("The", "cat", "is", "sleeping,", "isn't", "it?")
CHAT = (
    "{% for message in messages %}<s>{{ message.role }}: {{ message.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant: {% endif %}"
)


def same(one: Record, other: Record, *, labels: bool = True) -> None:
    """The same tokens and weights, bit by bit."""
    for kind in one.kinds:
        first, second = one.attention(kind), other.attention(kind)
        for mine, theirs in ((first.query, second.query), (first.key, second.key)):
            assert mine == theirs if labels else mine.ids.tolist() == theirs.ids.tolist()
            assert mine.segments.tolist() == theirs.segments.tolist()
        for name in ("q", "k", "mask"):
            np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@pytest.mark.parametrize("family", ["bart", "bert", "gpt2", "marian", "t5", "roberta"])
def test_the_ids_of_a_record_give_the_same_record(family: str) -> None:
    model = loaded.model(family)
    record = bartviz.capture(model, TEXT)
    again = bartviz.capture(model, tokens=record.source.ids[: len(record.source)])
    same(record, again, labels=family != "bert")  # its vocabulary has small letters alone
    assert again.sound
    if record.output is not None and record.cross is not None:
        forced = bartviz.capture(model, tokens=record.source.ids.tolist(), target=record.output.ids)
        assert forced.output == record.output
        written = bartviz.decode(model, tokens=torch.from_numpy(record.source.ids.copy()))
        same(record, written)


def test_the_ids_of_a_pair_give_its_segments() -> None:
    model = loaded.model("bert")
    record = bartviz.capture(model, QUESTION, pair=TEXT)
    again = bartviz.capture(model, tokens=record.source.ids)
    same(record, again, labels=False)
    assert record.pair_text is not None
    assert again.pair_text is not None
    assert again.pair_text.lower() == record.pair_text.lower()


def test_ids_that_no_text_gives_are_read_as_they_are() -> None:
    model = loaded.model("bart")
    ids = bartviz.capture(model, TEXT).source.ids.tolist()
    turned = [ids[0], *reversed(ids[1:-1]), ids[-1]]
    record = bartviz.capture(model, tokens=turned, target=TARGET)
    assert record.source.ids.tolist() == turned
    assert record.sound
    assert bartviz.verify(model, record)
    assert record.decoder is not None
    inputs = {
        "input_ids": torch.tensor(turned)[None],
        "decoder_input_ids": torch.from_numpy(record.decoder.query.ids.copy())[None],
    }
    with torch.inference_mode():
        log_p = model.network(**inputs).logits[0].log_softmax(-1)
    for step in record.steps:
        assert step.chosen.probability == pytest.approx(
            float(log_p[step.row].exp()[record_id(record, step.row)]), abs=1e-5
        )


def record_id(record: Record, row: int) -> int:
    assert record.output is not None
    return int(record.output.ids[row])


@pytest.mark.parametrize("family", ["bert", "bart", "t5", "marian", "gpt2"])
def test_words_are_those_of_the_tokens(family: str) -> None:
    model = loaded.model(family)
    record = bartviz.capture(model, words=WORDS)
    assert record.source_text == " ".join(WORDS)
    numbers = [word for word in record.source.words if word is not None]
    assert sorted(set(numbers)) == list(range(len(WORDS)))
    for number, word in enumerate(WORDS):
        spans = [
            span for span, of in zip(record.source.spans, record.source.words, strict=True) if of == number and span
        ]
        assert record.source_text[spans[0][0] : spans[-1][1]].strip() == word
    assert record.sound


def test_words_are_what_transformers_calls_split_into_words() -> None:
    model = loaded.model("bert")
    theirs = model.tokenizer(list(WORDS), is_split_into_words=True)
    record = bartviz.capture(model, words=WORDS)
    assert record.source.ids.tolist() == theirs["input_ids"]
    assert list(record.source.words) == theirs.word_ids()


def test_a_pair_beside_words_and_a_part_of_them() -> None:
    model = loaded.model("bert")
    record = bartviz.capture(model, words=WORDS, pair=QUESTION)
    first = [
        word
        for word, of in zip(record.source.words, record.source.segments, strict=True)
        if of == 0 and word is not None
    ]
    assert set(first) == set(range(len(WORDS)))
    many = [f"word{number}" for number in range(300)]
    for side in ("first", "last"):
        cut = bartviz.capture(model, words=many, truncate=side)
        for number, span in zip(cut.source.words, cut.source.spans, strict=True):
            if number is not None and span is not None:
                assert cut.source_text[span[0] : span[1]].strip() in many[number]


def test_many_at_once_are_those_of_single_calls() -> None:
    model = loaded.model("bart")
    texts = [TEXT, QUESTION]
    ids = [bartviz.capture(model, text, target=TARGET).source.ids for text in texts]
    targets = [TARGET, TARGET]
    for options in ({"tokens": ids}, {"words": [text.split() for text in texts]}):
        records = bartviz.capture_batch(model, targets=targets, **options)
        for record, text in zip(records, texts, strict=True):
            alone = bartviz.capture(model, text, target=TARGET)
            n = len(alone.source)
            assert record.source.ids[:n].tolist() == alone.source.ids.tolist()
            np.testing.assert_allclose(
                record.attention("cross").layer(1)[:, : len(alone.attention("cross").query), :n],
                alone.attention("cross").layer(1),
                atol=1e-5,
            )
        written = bartviz.decode_batch(model, max_new_tokens=5, **options)
        assert [one.target_text for one in written] == [
            bartviz.decode(model, text, max_new_tokens=5).target_text for text in texts
        ]


def test_what_is_no_id_is_named_with_its_place_and_the_limit() -> None:
    model = loaded.model("bart")
    most = model.info.vocabulary - 1
    with pytest.raises(TextError, match=rf"Token 2 has the id {most + 1:,}: this model has ids from 0 to {most:,}"):
        bartviz.capture(model, tokens=[0, 5, most + 1])
    with pytest.raises(TextError, match="Token 1 has the id -3"):
        bartviz.decode(model, tokens=[0, -3])
    with pytest.raises(TextError, match=r"Token 0 is 'The'.*Words go to words="):
        bartviz.capture(model, tokens=["The", "cat"])  # type: ignore[list-item]
    with pytest.raises(TextError, match="Token 1 is True"):
        bartviz.capture(model, tokens=[0, True])
    with pytest.raises(TextError, match="at least one id"):
        bartviz.capture(model, tokens=[])
    with pytest.raises(TextError, match=r"Text 2 of 2: .*reads at most"):
        bartviz.capture_batch(model, tokens=[[0, 5, 2], [5] * 5000])
    with pytest.raises(TextError, match="Text 1 of 2: Token 1 has the id"):
        bartviz.decode_batch(model, tokens=[[0, most + 1], [0, 2]])
    with pytest.raises(TextError, match="Token 0 has the id"):
        bartviz.capture(model, TEXT, target=[most + 1])
    with pytest.raises(SettingError, match="pair is for texts"):
        bartviz.capture(loaded.model("bert"), tokens=[2, 3], pair="a")
    with pytest.raises(SettingError, match="truncate is for texts"):
        bartviz.capture(model, tokens=[0, 2], truncate="first")


def test_what_are_no_words_is_named() -> None:
    model = loaded.model("bart")
    with pytest.raises(TextError, match="a list of words"):
        bartviz.capture(model, words="The cat")
    with pytest.raises(TextError, match="Word 1 is empty"):
        bartviz.capture(model, words=["The", " "])
    with pytest.raises(TextError, match="Word 0 has a space"):
        bartviz.capture(model, words=["The cat"])
    with pytest.raises(TextError, match="Text 2 of 2: Word 0"):
        bartviz.capture_batch(model, words=[["The"], [""]])
    with pytest.raises(TextError, match="at least one"):
        bartviz.capture(model, words=[])
    with pytest.raises(TextError, match="Give one of text, tokens, words and messages: here are 2"):
        bartviz.capture(model, "The", words=["The"])
    with pytest.raises(TextError, match="tokens=, words= or messages="):
        bartviz.capture(model)
    with pytest.raises(TextError, match="in one form"):
        bartviz.capture_batch(model, ["The"], words=[["The"]])


def test_a_chat_is_read_in_the_tokenizers_own_template(tmp_path: Path) -> None:
    """The ids are those of apply_chat_template: with its special tokens once, and the beginning of the answer."""
    model = bartviz.load(networks.save("gpt2", tmp_path, trained=True))
    messages = [{"role": "user", "content": TEXT}, {"role": "assistant", "content": QUESTION}]
    with pytest.raises(SettingError, match="no chat template: give its prompt as a text, or set"):
        bartviz.decode(model, messages=messages)
    model.tokenizer.chat_template = CHAT
    theirs: Any = model.tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
    record = bartviz.decode(model, messages=messages, max_new_tokens=4)
    assert record.attention("decoder").query.ids[: len(theirs)].tolist() == theirs
    assert len(record.steps) == 4 or record.provenance.stopped is not None
    whole: Any = model.tokenizer.apply_chat_template(messages, return_dict=False)
    assert bartviz.capture(model, messages=messages).source.ids.tolist() == whole
    (again,) = bartviz.decode_batch(model, messages=[messages], max_new_tokens=4)
    assert again.output == record.output
    assert [one.source.ids.tolist() for one in bartviz.capture_batch(model, messages=[messages])] == [whole]
    with pytest.raises(SettingError, match="Message 0 is not"):
        bartviz.decode(model, messages=[{"role": "user"}])
    model.tokenizer.chat_template = "{{ raise_exception('roles must alternate') }}"
    with pytest.raises(SettingError, match=r"refuses these messages: .*must alternate"):
        bartviz.decode(model, messages=messages)
    with pytest.raises(SettingError, match="no chat template"):
        bartviz.decode(loaded.model("bart"), messages=messages)
