"""One token changed: what must change, what must stay bit-equal, and how far a change spreads in one step."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bartviz
from bartviz.analysis.edits import Part, notice
from bartviz.analysis.words import word_labels
from bartviz.errors import Cancelled, SettingError, TextError
from bartviz.experiments.ablation import ablate
from bartviz.experiments.edits import edit, reach, token_id, tokens_of
from bartviz.experiments.similar_tokens import words
from bartviz.record.record import Record
from bartviz.text.tokenize import from_ids
from tests.support import loaded, networks

TEXT = "The cat is sleeping on the sofa, but the children played outside: what time is it?"
SENTENCE = (
    "The house is beautiful and well located in the middle of the city "
    "where it is easily accessible by public transport"
)
TARGET = "Die Katze schläft auf dem Sofa, aber die Kinder spielten draußen."


@cache
def record(family: str, text: str = TEXT) -> Record:
    target = TARGET if family in networks.ENCODER_DECODERS else None
    return bartviz.capture(loaded.model(family), text, target=target)


def another(one: Record, position: int) -> int:
    """The id of a token that does not stand there: the one after it, or the one before."""
    ids = one.source.ids
    return next(int(i) for i in ids if i != ids[position])


@pytest.mark.some
@pytest.mark.slow
@pytest.mark.parametrize("family", [*networks.ENCODERS, *networks.ENCODER_DECODERS])
def test_a_change_reaches_every_position_of_a_bidirectional_encoder_after_one_layer(family: str) -> None:
    one = record(family)
    found = edit(loaded.model(family), one, 4, another(one, 4))
    change = found.hidden["encoder"]
    assert np.flatnonzero(change[0]).tolist() == [4]
    assert (change[1:] > 0).all()
    assert (found.attention["encoder"].max(axis=(0, 1)) > 0).all()


@pytest.mark.parametrize("family", networks.ENCODER_DECODERS)
def test_everything_before_a_changed_target_token_stays_bit_equal(family: str) -> None:
    one, position = record(family), 5
    assert one.decoder is not None
    new = int(one.decoder.query.ids[position - 1])
    assert new != one.decoder.query.ids[position]
    found = edit(loaded.model(family), one, position, new, part="target")
    assert not found.hidden["encoder"].any()
    assert not found.hidden["decoder"][:, :position].any()
    assert (found.hidden["decoder"][1:, position:] > 0).all()
    for kind in ("decoder", "cross"):
        assert found.equal[kind][:, :, :position].all()
        assert not found.attention[kind][:, :, :position].any()
    assert found.equal["encoder"].all()
    np.testing.assert_array_equal(found.same, found.rows < position)
    assert not found.divergence[found.same].any()


@pytest.mark.slow
@settings(max_examples=10)
@given(st.integers(0, 99))
def test_gpt2_is_not_affected_by_later_tokens(position: int) -> None:
    """Also in long texts, where the kernel works in blocks."""
    one = record("gpt2", " ".join([TEXT] * 3))
    assert len(one.source) > 100
    found = edit(loaded.model("gpt2"), one, position, another(one, position))
    change = found.hidden["decoder"]
    assert not change[:, :position].any()
    assert (change[1:, position:] > 0).all()
    assert found.equal["decoder"][:, :, :position].all()


def test_relative_change_is_that_of_the_networks_own_states() -> None:
    import torch

    one, model = record("bert"), loaded.model("bert")
    found = edit(model, one, 3, another(one, 3))
    ids = torch.from_numpy(one.source.ids.copy())[None]
    other = ids.clone()
    other[0, 3] = found.new_id
    with torch.inference_mode():
        was, now = (
            loaded.reference("bert")(input_ids=i, output_hidden_states=True).hidden_states for i in (ids, other)
        )
    for layer, (a, b) in enumerate(zip(was, now, strict=True)):
        expected = ((b - a).norm(dim=-1) / a.norm(dim=-1))[0]
        np.testing.assert_allclose(found.hidden["encoder"][layer], expected, atol=1e-4)


def test_the_same_token_again_changes_nothing() -> None:
    one = record("bart")
    found = edit(loaded.model("bart"), one, 4, int(one.source.ids[4]))
    assert found.old == found.new
    assert not any(change.any() for change in found.hidden.values())
    assert all(same.all() for same in found.equal.values())
    assert found.same.all()


def test_the_record_of_the_changed_run_reads_the_new_token() -> None:
    one, model = record("bart"), loaded.model("bart")
    found = edit(model, one, 3, another(one, 3))
    assert found.changed.source.ids[3] == found.new_id
    assert found.changed.source.labels[3] == found.new
    assert found.changed.source.labels[:3] == one.source.labels[:3]
    assert found.changed.output == one.output
    assert found.tokens("encoder") is one.attention("encoder").query


@pytest.mark.parametrize("family", ["bart", "gpt2", "bert", "marian"])
def test_the_changed_record_has_the_new_words(family: str) -> None:
    one, model = record(family), loaded.model(family)
    found = edit(model, one, 4, another(one, 4))
    ids = found.changed.source.ids.tolist()
    text, made = from_ids(model.tokenizer, ids)
    assert found.changed.source_text == text
    assert (found.changed.source.spans, found.changed.source.words) == (made.spans, made.words)
    assert word_labels(found.changed.source, text) != word_labels(one.source, one.source_text)
    if family == "gpt2":
        assert found.changed.output is not None
        np.testing.assert_array_equal(found.changed.output.ids[:-1], ids[1:])
    settings_of = found.changed.provenance
    assert settings_of.settings["mode"] == "edited"
    assert settings_of.settings["edited"] == f"source 4: {found.old} -> {found.new}"
    assert "torch" in settings_of.versions


def test_a_changed_target_is_the_target_of_the_changed_record() -> None:
    one, model = record("bart"), loaded.model("bart")
    query = one.attention("decoder").query
    new = int(query.ids[3]) + 1
    found = edit(model, one, 3, new, part="target")
    assert one.output is not None
    assert found.changed.output is not None
    expected = one.output.ids.copy()
    expected[2] = new
    np.testing.assert_array_equal(found.changed.output.ids, expected)
    assert found.changed.target_text == from_ids(model.tokenizer, expected.tolist())[0]
    assert found.changed.source_text == one.source_text
    start, end = found.changed.output.spans[2] or (0, 0)
    assert found.changed.target_text[start:end].strip() == found.new.removeprefix("⋯")


def test_both_sentences_of_a_pair_keep_their_own_text() -> None:
    model = loaded.model("bert")
    one = bartviz.capture(model, "The cat sleeps.", pair="What time is it?")
    place = int(np.flatnonzero(one.source.segments == 1)[1])
    found = edit(model, one, place, int(one.source.ids[1])).changed
    first = one.source.ids[one.source.segments == 0].tolist()
    assert found.source_text == from_ids(model.tokenizer, first)[0]
    second = found.source.ids[found.source.segments == 1].tolist()
    assert found.pair_text == from_ids(model.tokenizer, second)[0]
    np.testing.assert_array_equal(found.source.segments, one.source.segments)
    assert found.source.spans[place] is not None


def test_a_replacement_is_one_token_of_the_vocabulary() -> None:
    model, one = loaded.model("bart"), record("bart")
    place = one.source.labels.index("cat") if "cat" in one.source.labels else 2
    assert token_id(model, "#7", one.source, place) == 7
    assert token_id(model, 9, one.source, place) == 9
    piece = model.tokenizer.convert_ids_to_tokens(50)
    assert model.tokenizer.convert_tokens_to_ids(piece) == token_id(model, piece, one.source, place)
    with pytest.raises(TextError, match="tokens for this model"):
        token_id(model, "two words", one.source, place)
    with pytest.raises(TextError, match="no replacement"):
        token_id(model, "  ", one.source, place)
    with pytest.raises(SettingError, match="not in the vocabulary"):
        token_id(model, "#999999", one.source, place)


@pytest.mark.slow
@settings(max_examples=12)
@given(st.sampled_from(["bert", "bart", "t5", "distilbert", "gpt2"]), st.integers(0, 15), st.integers(1, 6))
def test_a_change_spreads_through_a_window_and_never_backwards_under_a_causal_mask(
    family: str, position: int, window: int
) -> None:
    found = reach(loaded.model(family), TEXT, position, window=window)
    places = np.arange(len(found.tokens))
    for layer in range(len(found.changes["window"])):
        felt = found.changes["window"][layer] > 0
        np.testing.assert_array_equal(felt, np.abs(places - position) <= window * layer)
    assert (found.changes["bidirectional"][1:] > 0).all()
    np.testing.assert_array_equal(found.changes["causal"][1] > 0, places >= position)


@pytest.mark.slow
def test_a_change_twelve_words_away_arrives_in_one_step() -> None:
    """The articles' sentence: 12 words stand between, so "it" is the 13th after "house"."""
    for name in ("bert-tiny-en", "bart-tiny-en-de"):
        found = reach(bartviz.load(name), SENTENCE, 2, window=2)
        assert found.tokens.labels[2] == "house"
        it = found.tokens.labels.index("it")
        words = [found.tokens.words[place] for place in (2, it)]
        assert words[0] is not None
        assert words[1] is not None
        assert words[1] - words[0] - 1 == 12
        steps = found.steps(it)
        assert steps["bidirectional"] == 1
        assert steps["window"] is None
        assert steps["recurrent"] == it - 2
    assert found.steps(0)["causal"] is None
    assert found.steps(0)["recurrent"] is None


@pytest.mark.slow
def test_the_news_has_another_name() -> None:
    """ "I" without a space before it is another token, but no reader can tell it from "I"."""
    model = bartviz.load("bart-tiny-en-de")
    for text, position in (("I want to buy a car.", 1), ("The cat sleeps.", 1), ("the cat sleeps", 1)):
        found = reach(model, text, position)
        assert found.new.casefold() != found.old.casefold()
        assert found.new not in ("<s>", "</s>", "<pad>", "<unk>", "<mask>")


def test_padding_is_no_state_that_moved() -> None:
    model, short = loaded.model("bart"), "What time is it?"
    padded = bartviz.capture_batch(model, [TEXT, short], targets=[TARGET, "Wie spät ist es?"], padded=True)[1]
    alone = len(bartviz.capture(model, short, target="Wie spät ist es?").source)
    said = notice(edit(model, padded, 2, int(padded.source.ids[3])))
    assert f"{alone} of {alone} encoder states" in said


def test_what_cannot_be_done_is_refused() -> None:
    model, one = loaded.model("bert"), record("bert")
    with pytest.raises(SettingError, match="position 999"):
        edit(model, one, 999, 5)
    with pytest.raises(SettingError, match="target"):
        edit(model, one, 1, 5, part="target")
    with pytest.raises(SettingError, match="window"):
        reach(model, TEXT, 1, window=0)
    with pytest.raises(Cancelled):
        edit(model, one, 1, 5, cancelled=lambda: True)
    with pytest.raises(SettingError, match="another model"):
        edit(model, record("bart"), 1, 5)


@pytest.mark.slow
def test_a_record_of_silenced_heads_is_labelled_as_one() -> None:
    """Neither experiment repeats the silence of the record: before the change stands the whole model."""
    model, one = loaded.model("bart"), record("bart")
    silenced = bartviz.capture(model, TEXT, target=TARGET, ablate=["encoder L0H0"])
    assert edit(model, one, 2, another(one, 2)).changed.provenance.notices == ()
    (said,) = edit(model, silenced, 2, another(one, 2)).changed.provenance.notices
    assert "scaled heads (encoder L0H0" in said
    (again,) = ablate(model, silenced, ["encoder L1H0"], write=False).changed.provenance.notices
    assert again == said


@pytest.mark.slow
@settings(max_examples=20)
@given(st.sampled_from([*networks.ENCODERS, *networks.ENCODER_DECODERS]), st.integers(0, 12), st.booleans())
def test_all_open_the_reach_is_what_the_edit_measures(family: str, position: int, pair: bool) -> None:
    """Also with two sentences, whose segments are the record's own, and with padding, of which nobody hears."""
    model, one = loaded.model(family), record(family)
    if family in networks.ENCODERS and pair:
        one = bartviz.capture(model, "The cat is sleeping.", pair="What time is it, and where?")
    new = another(one, position)
    felt = reach(model, one, position, new).changes["bidirectional"]
    np.testing.assert_allclose(felt, edit(model, one, position, new).hidden["encoder"], rtol=1e-2, atol=1e-5)


def test_padding_is_not_reached() -> None:
    for family in ("bart", "bert", "gpt2"):
        model, texts = loaded.model(family), [TEXT, "What time is it?"]
        targets = [TARGET, "Wie spät ist es?"] if family == "bart" else None
        padded = bartviz.capture_batch(model, texts, targets=targets, padded=True)[1]
        alone = bartviz.capture(model, texts[1], target=targets[1] if targets else None)
        n = len(alone.source)
        assert len(padded.source) > n
        new = int(alone.source.ids[n - 2])
        found = [reach(model, one, 1, new) for one in (padded, alone)]
        assert [len(one.tokens) for one in found] == [n, n]
        for name, change in found[1].changes.items():
            np.testing.assert_allclose(found[0].changes[name], change, rtol=1e-3)


@pytest.mark.parametrize("special", ["<mask>", "</s>"])
def test_a_special_token_can_take_the_place(special: str) -> None:
    model, one = loaded.model("bart"), record("bart")
    assert edit(model, one, 3, special).new == special


@pytest.mark.slow
@pytest.mark.parametrize("part", ["source", "target"])
def test_the_first_and_the_last_token_can_be_changed(part: Part) -> None:
    model, one = loaded.model("bart"), record("bart")
    count = len(tokens_of(one, part))
    for position in (0, count - 1):
        found = edit(model, one, position, 9, part=part)
        stack = found.hidden[found.edited]
        assert np.flatnonzero(stack[0]).tolist() == [position]
        heard = np.arange(count) >= (position if part == "target" else 0)
        for layer in stack[1:]:
            np.testing.assert_array_equal(layer > 0, heard)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["I want to buy a car.", "The cat is sleeping on the sofa."])
def test_a_word_whose_reach_is_measured_is_replaced_by_a_word(text: str) -> None:
    model = bartviz.load("bart-tiny-en-de")
    for position in range(1, len(bartviz.capture(model, text, target="Ja.").source) - 2):
        assert bartviz.reach(model, text, position).new in words("en")
