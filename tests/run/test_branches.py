"""branch(): the same prefix, another token, and the model's continuation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bartviz
from bartviz import Sampling
from bartviz.errors import Cancelled, SettingError
from bartviz.record.record import Record
from bartviz.run.branches import restarted
from tests.support import loaded
from tests.support.writers import TEXT, WRITERS, chosen, generated, one_pass, with_rules

KEPT, NEW = "kept from the first text", "chosen by you"
WAYS: dict[str, dict[str, Any]] = {
    "greedy": {},
    "drawn": {"sample": Sampling(1.3, 50, 0.95, seed=7)},
    "silenced": {"ablate": {"decoder L0H1": 0.25}, "values": True, "top_k": 4},
    "chosen lengths": {"min_new_tokens": 4, "no_repeat_ngram_size": 2},
    "no rules": {"use_rules": False},
}


def equal(one: Record, two: Record) -> None:
    """The same text, attention and numbers; the rules and the time it took may differ."""
    assert (one.source_text, one.target_text, one.kinds) == (two.source_text, two.target_text, two.kinds)
    assert one.source == two.source
    assert one.output == two.output
    for kind in one.kinds:
        a, b = one.attention(kind), two.attention(kind)
        assert np.array_equal(a.queries, b.queries)
        assert np.array_equal(a.keys, b.keys)
        assert (a.v is None) == (b.v is None)
        assert a.v is None or b.v is None or np.array_equal(a.v, b.v)
    for step, other in zip(one.steps, two.steps, strict=True):
        assert replace(step, rule=None, chosen=other.chosen, candidates=()) == replace(other, rule=None, candidates=())
        assert [c.token_id for c in step.candidates] == [c.token_id for c in other.candidates]
    if one.steps[-1].rule != NEW:  # an end that somebody chose is no end that the length forced
        assert one.provenance.stopped == two.provenance.stopped


@pytest.mark.some("bart", "gpt2")
@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("family", ["bart", "mbart", "t5", "gpt2"])
def test_the_models_own_token_gives_its_own_text(family: str, way: str) -> None:
    model = loaded.model(family)
    record = bartviz.decode(model, TEXT, max_new_tokens=9, **WAYS[way])
    for position in (0, 4, len(record.steps) - 1):
        again = bartviz.branch(model, record, position, record.steps[position].chosen.token_id)
        equal(again, record)
        assert {step.rule for step in again.steps[:position]} <= {KEPT} | {step.rule for step in record.steps}
        assert again.steps[position].rule == NEW
        assert all(
            a.rule == b.rule for a, b in zip(again.steps[position + 1 :], record.steps[position + 1 :], strict=True)
        )


@pytest.mark.some("bart", "t5", "marian", "gpt2")
@pytest.mark.slow
@pytest.mark.parametrize("family", WRITERS)
def test_another_token_and_on_from_there(family: str) -> None:
    model = loaded.model(family)
    record = bartviz.decode(model, TEXT, max_new_tokens=9)
    other = record.steps[3].candidates[4].token_id
    made = bartviz.branch(model, record, 3, other)
    assert chosen(made)[:4] == [*chosen(record)[:3], other]
    forced = bartviz.decode(model, TEXT, max_new_tokens=9, force=dict(enumerate(chosen(made)[:4])))
    equal(made, forced)
    for kind, expected in one_pass(family, made).items():
        for layer, weights in enumerate(expected):
            np.testing.assert_allclose(made.attention(kind).layer(layer), weights, atol=2e-5)
    assert made.provenance.settings["branched_at"] == 3


@pytest.mark.parametrize("way", WAYS)
def test_a_record_from_a_file_can_be_branched(way: str, tmp_path: Path) -> None:
    model = loaded.model("bart")
    record = bartviz.decode(model, TEXT, max_new_tokens=6, **WAYS[way])
    record.save(tmp_path / "x.safetensors")
    again = bartviz.branch(model, bartviz.open(tmp_path / "x.safetensors"), 2, record.steps[2].chosen.token_id)
    equal(again, record)


@pytest.mark.parametrize(
    "damage", [{"max_new_tokens": "9"}, {"mode": "sampling", "seed": "x"}, {"ablated": ("cross L0H0 x y",)}]
)
def test_damaged_settings_of_a_record_are_reported(damage: dict[str, Any]) -> None:
    model = loaded.model("bart")
    record = bartviz.decode(model, TEXT, max_new_tokens=4)
    said = replace(record.provenance, settings={**record.provenance.settings, **damage})
    with pytest.raises(SettingError, match="cannot be read"):
        bartviz.branch(model, replace(record, provenance=said), 1, 33)


def test_what_the_model_chose_does_not_look_forced() -> None:
    """A rule keeps its name, a branch of a branch keeps both tokens, and only the new one is yours."""
    model = with_rules(loaded.model("bart"), forced_bos_token_id=7)
    record = bartviz.decode(model, TEXT, max_new_tokens=8)
    once = bartviz.branch(model, record, 2, 33)
    twice = bartviz.branch(model, once, 4, 44)
    assert [step.rule for step in once.steps[:3]] == ["forced first token", KEPT, NEW]
    assert [step.rule for step in twice.steps[:5]] == ["forced first token", KEPT, NEW, KEPT, NEW]
    assert twice.provenance.settings["forced"] == ("2: 33", "4: 44")


@pytest.mark.slow
def test_text_of_several_tokens() -> None:
    model = bartviz.load("bart-tiny-en-de")
    record = bartviz.decode(model, "I want to buy a car.")
    made = bartviz.branch(model, record, 4, " großes Haus")
    new = [step for step in made.steps if step.rule == NEW]
    assert len(new) > 1
    assert made.target_text is not None
    assert made.target_text.startswith("Ich möchte ein großes Haus")


def test_a_given_target_can_be_branched() -> None:
    model = loaded.model("mbart")  # which begins with the language, the last token of a given target
    record = bartviz.capture(model, TEXT, target="Ich will ein Auto kaufen.")
    made = bartviz.branch(model, record, 3, 44, max_new_tokens=9)
    assert chosen(made)[:4] == [*chosen(record)[:3], 44]
    assert made.decoder is not None
    assert record.decoder is not None
    assert made.decoder.query.ids[0] == record.decoder.query.ids[0]
    np.testing.assert_allclose(made.decoder.queries[:, :, :4], record.decoder.queries[:, :, :4], atol=2e-5)


def test_a_text_that_a_decoder_read_can_be_branched() -> None:
    """Its first token is the prompt, the others what followed."""
    model = loaded.model("gpt2")
    record = bartviz.capture(model, TEXT)
    made = bartviz.branch(model, record, 3, 44, max_new_tokens=9)
    assert made.decoder is not None
    assert made.decoder.query.ids[:4].tolist() == record.source.ids[:4].tolist()
    assert made.decoder.query.ids[4] == 44
    assert (made.source_text + (made.target_text or "")).startswith("The cat is")


def test_padding_is_no_part_of_the_source() -> None:
    model = loaded.model("bart")
    short = bartviz.capture_batch(
        model, ["What time is it?", TEXT], targets=["Wie spät?", "Die Katze schläft."], padded=True
    )[0]
    alone = bartviz.capture(model, "What time is it?", target="Wie spät?")
    equal(bartviz.branch(model, short, 1, 44, max_new_tokens=6), bartviz.branch(model, alone, 1, 44, max_new_tokens=6))


def test_other_options_than_the_records() -> None:
    model = loaded.model("bart")
    record = bartviz.decode(model, TEXT, max_new_tokens=9)
    made = bartviz.branch(model, record, 3, 33, beams=3, max_new_tokens=6, values=True, top_k=3)
    assert made.beams is not None
    assert made.beams.beams == 3
    assert len(made.steps) == 6
    assert len(made.steps[0].candidates) == 3
    assert made.cross is not None
    assert made.cross.v is not None


def test_a_search_goes_on_as_a_search() -> None:
    model = loaded.model("bart")
    record = bartviz.decode(model, TEXT, beams=3, length_penalty=0.5, early_stopping="never", max_new_tokens=9)
    made = bartviz.branch(model, record, 2, 33)
    names = ("mode", "beams", "length_penalty", "early_stopping", "max_new_tokens")
    assert [made.provenance.settings[name] for name in names] == ["beam search", 3, 0.5, "never", 9]
    assert made.beams is not None
    assert [step.rule for step in made.steps[:3]] == [KEPT, KEPT, NEW]


@pytest.mark.slow
@pytest.mark.parametrize(("token", "placed"), [(" großes Haus am See", 2), ("</s> Haus", 1)])
def test_typed_tokens_without_a_position_are_reported(token: str, placed: int) -> None:
    model = bartviz.load("bart-tiny-en-de")
    record = bartviz.decode(model, "I want to buy a car.", max_new_tokens=6)
    made = bartviz.branch(model, record, 4, token)
    all_of_it = {" großes Haus am See": 4, "</s> Haus": 2}[token]
    assert made.provenance.notices == (
        f"Only {placed} of the {all_of_it} typed tokens are in the text: it ends with token {4 + placed}.",
    )
    assert bartviz.branch(model, record, 4, " Haus").provenance.notices == ()
    assert len(bartviz.decode(model, "I want to buy a car.", max_new_tokens=3, force={5: 7}).provenance.notices) == 1


def test_a_typed_nothing_is_refused_without_a_number() -> None:
    """Positions count from 0 here and from 1 on a page; what a tokenizer drops altogether leaves no token."""
    model = loaded.model("marian")
    record = bartviz.decode(model, TEXT, max_new_tokens=5)
    with pytest.raises(SettingError, match=r"^The new token is empty or not in the model's vocabulary\."):
        bartviz.branch(model, record, 3, "\u200b")


def test_the_end_token_ends_it() -> None:
    model = loaded.model("bart")
    record = bartviz.decode(model, TEXT, max_new_tokens=9)
    made = bartviz.branch(model, record, 3, "</s>")
    assert len(made.steps) == 4
    assert made.provenance.stopped == "end token"


def test_a_branch_can_be_followed_and_stopped() -> None:
    model, seen = loaded.model("bart"), [0]
    record = bartviz.decode(model, TEXT, max_new_tokens=9)
    with pytest.raises(Cancelled):
        bartviz.branch(
            model, record, 1, 33, on_step=lambda step, longest: seen.append(step), cancelled=lambda: seen[-1] == 2
        )
    assert seen == [0, 1, 2]


@pytest.mark.parametrize(
    ("position", "token", "options", "word"),
    [
        (-1, 3, {}, "choose 0 to 8"),
        (9, 3, {}, "choose 0 to 8"),
        (2.5, 3, {}, "choose 0 to 8"),
        (2, 10**6, {}, "not in the model's vocabulary"),
        (2, "", {}, "empty"),
        (2, 3, {"beam": 4}, "no option beam"),
    ],
)
def test_what_cannot_be_branched_is_refused(position: Any, token: Any, options: dict[str, Any], word: str) -> None:
    model = loaded.model("bart")
    record = bartviz.decode(model, TEXT, max_new_tokens=9, use_rules=False)
    with pytest.raises(SettingError, match=word):
        bartviz.branch(model, record, position, token, **options)


def test_a_record_of_another_model_or_without_steps_is_refused() -> None:
    record = bartviz.decode(loaded.model("bart"), TEXT, max_new_tokens=4)
    with pytest.raises(SettingError, match="another model"):
        bartviz.branch(loaded.model("t5"), record, 1, 3)
    read = bartviz.capture(loaded.model("bert"), TEXT)
    with pytest.raises(SettingError, match="no steps"):
        bartviz.branch(loaded.model("bert"), read, 0, 3)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bart", "t5", "marian"])
def test_a_decoder_that_begins_with_another_token_writes_what_generate_writes(family: str) -> None:
    model = loaded.model(family)
    record = bartviz.decode(model, TEXT, max_new_tokens=12)
    own = int(record.attention("decoder").query.ids[0])
    for token in {0, 2, 7} - {own}:
        other = restarted(model, record, token)
        begun = with_rules(model, decoder_start_token_id=token)
        assert chosen(other) == generated(family, begun, record.source.ids, max_new_tokens=12)
        assert int(other.attention("decoder").query.ids[0]) == token
        assert other.provenance.settings["decoder_start"] == token
        assert bartviz.verify(model, other).passed
    equal(restarted(model, record, own), record)


def test_a_first_token_is_refused_where_there_is_none() -> None:
    model = loaded.model("bart")
    record = bartviz.decode(model, TEXT, max_new_tokens=2)
    with pytest.raises(SettingError, match="There is no token"):
        restarted(model, record, model.info.vocabulary)
    writer = loaded.model("gpt2")
    with pytest.raises(SettingError, match="Only the decoder"):
        restarted(writer, bartviz.decode(writer, TEXT, max_new_tokens=2), 0)
