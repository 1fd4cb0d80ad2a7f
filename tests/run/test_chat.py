"""The messages of a chat: which tokens belong to which, in templates as models have them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers.utils.chat_template_utils import render_jinja_template

import bartviz
from bartviz.analysis import inputs, word_colors
from bartviz.errors import RecordError, SettingError
from bartviz.models.model import Model
from bartviz.record.turns import Turn
from bartviz.run import chat
from tests.support import networks

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# as Qwen's: a system message of its own where the chat has none
OWN_SYSTEM = "{% if messages[0]['role'] != 'system' %}<|im_start|>system\nBe kind.<|im_end|>\n{% endif %}" + CHATML
LLAMA = (
    "{{ bos }}{% for m in messages %}<|head|>{{ m['role'] }}<|/head|>\n\n{{ m['content'] | trim }}<|eot|>{% endfor %}"
    "{% if add_generation_prompt %}<|head|>assistant<|/head|>\n\n{% endif %}"
)
# the system's message stands in the user's, and the answer is that of "model"
GEMMA = (
    "{{ bos }}{% set first = '' %}{% set rest = messages %}"
    "{% if messages[0]['role'] == 'system' %}{% set first = messages[0]['content'] + '\n\n' %}"
    "{% set rest = messages[1:] %}{% endif %}"
    "{% for m in rest %}"
    "{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}"
    "<start_of_turn>{{ 'model' if m['role'] == 'assistant' else m['role'] }}\n"
    "{{ first if loop.first else '' }}{{ m['content'] | trim }}<end_of_turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
LLAMA_2 = (
    "{% if messages[0]['role'] == 'system' %}{% set rest = messages[1:] %}{% set first = messages[0]['content'] %}"
    "{% else %}{% set rest = messages %}{% set first = false %}{% endif %}{% for m in rest %}"
    "{% if m['role'] == 'user' %}{{ bos }}[INST] "
    "{% if loop.first and first %}<<SYS>>\n{{ first }}\n<</SYS>>\n\n{% endif %}{{ m['content'] }} [/INST]"
    "{% else %} {{ m['content'] }} </s>{% endif %}{% endfor %}"
)
TEMPLATES = {"chatml": CHATML, "own system": OWN_SYSTEM, "llama": LLAMA, "gemma": GEMMA, "llama 2": LLAMA_2}
MESSAGES = [
    {"role": "system", "content": "Answer as a user would."},
    {"role": "user", "content": "What time is it?"},
    {"role": "assistant", "content": "assistant"},
    {"role": "user", "content": " user "},
]
Message = Mapping[str, str]


def rendering(template: str, bos: str = "<s>") -> chat.Render:
    """A template as transformers renders it."""

    def render(messages: Sequence[Message], begun: bool) -> str:
        (text,), _marks = render_jinja_template(
            [[dict(one) for one in messages]], chat_template=template, add_generation_prompt=begun, bos=bos
        )
        return str(text)

    return render


def split(template: str, messages: Sequence[Message], *, begun: bool = False) -> list[tuple[str, str]]:
    """The role and the text of each message in the text of the chat."""
    render = rendering(template)
    text = render(messages, begun)
    found = chat.parts(render, messages, text, begun=begun, begin="<s>")
    assert found is not None
    return [(part.role, text[part.start : part.end]) for part in found]


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("first", [0, 1])
def test_each_message_has_its_content_in_its_place(name: str, begun: bool, first: int) -> None:
    given = MESSAGES[first:]
    found = split(TEMPLATES[name], given, begun=begun)
    assert [role for role, _ in found] == [message["role"] for message in given] + ["assistant"] * begun
    for (_, text), message in zip(found, given, strict=False):
        assert message["content"].strip() in text


def test_the_templates_own_text_belongs_to_the_message_that_it_opens_and_closes() -> None:
    assert split(CHATML, MESSAGES[:2], begun=True) == [
        ("system", "<|im_start|>system\nAnswer as a user would.<|im_end|>\n"),
        ("user", "<|im_start|>user\nWhat time is it?<|im_end|>\n"),
        ("assistant", "<|im_start|>assistant\n"),
    ]
    assert split(OWN_SYSTEM, MESSAGES[1:2]) == [("user", "<|im_start|>user\nWhat time is it?<|im_end|>\n")]
    assert split(LLAMA, MESSAGES[:2])[0] == ("system", "<|head|>system<|/head|>\n\nAnswer as a user would.<|eot|>")
    assert split(LLAMA, MESSAGES[3:], begun=True) == [
        ("user", "<|head|>user<|/head|>\n\nuser<|eot|>"),
        ("assistant", "<|head|>assistant<|/head|>\n\n"),
    ]


def test_a_system_message_within_the_users_has_its_content_alone() -> None:
    assert split(GEMMA, MESSAGES[:2], begun=True) == [
        ("system", "Answer as a user would."),
        ("user", "What time is it?<end_of_turn>\n"),
        ("assistant", "<start_of_turn>model\n"),
    ]
    assert split(LLAMA_2, MESSAGES[:3]) == [
        ("system", "[INST] <<SYS>>\nAnswer as a user would."),
        ("user", "What time is it? [/INST]"),
        ("assistant", " assistant </s>"),
    ]


@pytest.mark.parametrize(
    "template",
    ["{{ messages[-1]['content'] }}", "{% for m in messages %}{{ m['content'] | upper }} {% endfor %}", "always this"],
)
def test_what_a_template_does_not_show_is_not_made_up(template: str) -> None:
    render = rendering(template)
    assert chat.parts(render, MESSAGES, render(MESSAGES, False), begun=False) is None


@pytest.fixture(scope="module")
def talking(tmp_path_factory: pytest.TempPathFactory) -> Model:
    model = bartviz.load(networks.save("gpt2", tmp_path_factory.mktemp("chat"), trained=True))
    model.tokenizer.chat_template = CHATML.replace("<|im_start|>", "[").replace("<|im_end|>", "]")
    return model


def texts_of(record: bartviz.Record, role: str) -> str:
    pieces = zip(record.roles(), record.source.labels, strict=True)
    return re.sub(r"[⋯_ ␣]", "", "".join(label for own, label in pieces if own == role))


def test_tokens_know_their_role_when_written_captured_and_saved(talking: Model, tmp_path: Path) -> None:
    record = bartviz.decode(talking, messages=MESSAGES[:2], max_new_tokens=5)
    assert [turn.role for turn in record.turns] == ["system", "user", "assistant"]
    assert record.turns[0].start == 0
    assert record.turns[-1].stop == len(record.source)  # what it writes is the assistant's
    assert texts_of(record, "user") == "[user↵Whattimeisit?]↵"
    assert texts_of(record, "system") == "[system↵Answerasauserwould.]↵"
    assert texts_of(record, "assistant").startswith("[assistant↵")
    assert record.roles("predicts") == (*record.roles()[1:], "assistant")
    record.save(tmp_path / "chat.safetensors")
    assert bartviz.open(tmp_path / "chat.safetensors") == record
    assert bartviz.verify(talking, record)
    again = bartviz.branch(talking, record, 1, 44, max_new_tokens=3)
    assert again.turns[:2] == record.turns[:2]
    assert again.turns[2].stop == len(again.source)
    (together,) = bartviz.decode_batch(talking, messages=[MESSAGES[:2]], max_new_tokens=5)
    assert together.turns == record.turns
    silenced = bartviz.ablate(talking, record, ["decoder L0H0"]).record
    assert silenced.turns == record.turns
    captured = bartviz.capture(talking, messages=MESSAGES)
    assert [turn.role for turn in captured.turns] == [message["role"] for message in MESSAGES]
    assert captured.turns[-1].stop == len(captured.source)
    given = bartviz.capture(talking, messages=MESSAGES[:2], target="It is late.")
    assert texts_of(given, "assistant") == "[assistant↵Itislate"
    batch = bartviz.capture_batch(talking, messages=[MESSAGES[:2], MESSAGES], padded=True)
    assert batch[0].turns[-1].stop < len(batch[0].source)
    assert bartviz.capture(talking, "A dog.").turns == ()


def test_patterns_name_roles_and_messages(talking: Model) -> None:
    record = bartviz.decode(talking, messages=MESSAGES, max_new_tokens=4)
    roles = np.array(record.roles())
    mask = bartviz.pattern_mask(record, "decoder", "from assistant to system")
    expected = (roles == "assistant")[:, None] & (roles == "system") & record.attention("decoder").mask
    np.testing.assert_array_equal(mask, expected)
    assert mask.any()
    np.testing.assert_array_equal(
        mask, bartviz.pattern_mask(record, "decoder", 'from role="assistant" to role="system"')
    )
    number = np.concatenate([np.full(turn.stop - turn.start, at) for at, turn in enumerate(record.turns)])
    same = bartviz.pattern_mask(record, "decoder", "from any to same message")
    own = number[:, None] == number
    assert (same <= own).all()
    assert same.sum() > 0
    crossed = bartviz.pattern_mask(record, "decoder", "from user to user and not same message")
    assert (crossed & own).sum() <= (own & ~same).sum()
    with pytest.raises(SettingError, match="messages of a chat"):
        bartviz.pattern_mask(bartviz.capture(talking, "A dog."), "decoder", "from user to system")


def test_a_template_that_hides_its_messages_is_said(talking: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        talking.tokenizer, "chat_template", "{% for m in messages %}{{ m['content'] | upper }} {% endfor %}"
    )
    record = bartviz.capture(talking, messages=MESSAGES)
    assert record.turns == ()
    assert any("the record has no roles" in notice for notice in record.provenance.notices)


@pytest.mark.parametrize("turns", [[("user", 3, 2)], [("user", 0, 99)], [("user", 2, 4), ("assistant", 1, 2)]])
def test_turns_that_do_not_fit_are_refused(talking: Model, turns: list[Any]) -> None:
    from dataclasses import replace

    record = bartviz.capture(talking, "A dog sleeps.")
    with pytest.raises(RecordError):
        replace(record, turns=tuple(Turn(*turn) for turn in turns))


def test_a_printed_map_has_a_strip_for_each_role(talking: Model) -> None:
    record = bartviz.decode(talking, messages=MESSAGES[:2], max_new_tokens=3)
    drawn = bartviz.paper.map(record, "decoder", 0, 1).svg
    for role in ("system", "user", "assistant"):
        assert drawn.count(f'data-role="{role}"') == 2 * record.roles().count(role)
        assert f">{role}</text>" in drawn
    assert "data-role" not in bartviz.paper.map(bartviz.capture(talking, "A dog."), "decoder", 0, 1).svg


def test_each_message_has_one_colour_on_every_page(talking: Model) -> None:
    record = bartviz.decode(talking, messages=MESSAGES[:2], max_new_tokens=3)
    speakers = word_colors.speakers(record)
    assert speakers == ("system", "user", "assistant")
    for reading in ("reads", "predicts"):
        rows, columns = word_colors.of(record).sides("decoder", reading)
        for numbers, roles in ((rows, record.roles(reading)), (columns, record.roles())):
            assert [None if number < 0 else speakers[number] for number in numbers] == list(roles)
    plain = bartviz.capture(talking, "A dog sleeps.")
    assert word_colors.speakers(plain) == ()
    assert len(set(word_colors.of(plain).reads) - {-1}) == 3  # a colour for each word


def test_the_table_of_pieces_has_the_roles(talking: Model) -> None:
    from bartviz.features.inputs import parts  # needs Streamlit, which all other tests of runs do without

    record = bartviz.capture(talking, messages=MESSAGES[:2])
    table = inputs.pieces(record.source, record.roles())
    assert table["role"].tolist() == list(record.roles())
    colors = word_colors.of(record).reads
    shown = parts.cut(record.source, (record.source_text,), roles=record.roles(), colors=colors)
    assert shown.count(", user'") == record.roles().count("user")
    assert shown.count("--word:var(--bv-word1)") == record.roles().count("user")
    assert "role" not in inputs.pieces(record.source)
