"""capture() and capture_batch() against the same networks with transformers' eager attention."""

from __future__ import annotations

import threading
import time
from typing import Any, Literal

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import bartviz
from bartviz.errors import Cancelled, ModelError, SettingError, TextError, TooLong
from bartviz.families.registry import FAMILIES
from bartviz.record.attention import KINDS, Head, Kind
from bartviz.record.record import Record, now
from bartviz.run.prepare import prepare
from bartviz.tape.tape import Tape, attach, recording
from bartviz.text import tokenize
from tests.support import loaded, networks

TEXT = "The cat is sleeping on the sofa, but the children played outside: what time is it? I want to buy a car."
SHORT = "What time is it?"
TARGET = "Die Katze schläft auf dem Sofa, aber die Kinder spielten draußen. Ich will ein Auto kaufen."
CLOSE = 2e-5


def eager(family: str, records: tuple[Record, ...]) -> dict[Kind, tuple[torch.Tensor, ...]]:
    """output_attentions of the reference network on the tokens of the records, padding masked."""
    model = loaded.model(family)
    pad = model.tokenizer.pad_token_id
    source = torch.tensor(np.stack([record.source.ids for record in records]))
    words = torch.tensor([[not (s and w) for s, w in zip(r.source.special, _padding(r), strict=True)] for r in records])
    inputs = {"input_ids": source, "attention_mask": words.long()}
    if model.info.kind == "encoder" and getattr(model.config, "type_vocab_size", 0) > 1:
        inputs["token_type_ids"] = torch.tensor(np.stack([record.source.segments for record in records]))
    if model.info.kind == "encoder-decoder":
        decoder = [record.decoder for record in records]
        inputs["decoder_input_ids"] = torch.tensor(np.stack([part.query.ids for part in decoder if part is not None]))
        inputs["decoder_attention_mask"] = torch.tensor(
            [part.mask[-1].tolist() for part in decoder if part is not None]
        ).long()
    with torch.inference_mode():
        out = loaded.reference(family)(**inputs, output_attentions=True)
    assert pad is not None or len(records) == 1 or model.info.kind == "decoder"
    if model.info.kind == "encoder-decoder":
        return {"encoder": out.encoder_attentions, "decoder": out.decoder_attentions, "cross": out.cross_attentions}
    return {"encoder" if model.info.kind == "encoder" else "decoder": out.attentions}


def _padding(record: Record) -> list[bool]:
    """Which source tokens are padding, from what the model was told."""
    attention = record.encoder or record.decoder
    assert attention is not None
    closed: list[bool] = (~attention.mask[-1]).tolist()
    return closed


def assert_equal_to_eager(family: str, records: tuple[Record, ...]) -> None:
    for kind, layers in eager(family, records).items():
        for item, record in enumerate(records):
            attention = record.attention(kind)
            assert attention.shape == (len(layers), *layers[0].shape[1:])
            # Padding beyond every key of its window: kernels differ in such rows, and no other row reads them.
            seen = np.all([attention.allowed(layer).any(axis=1) for layer in range(len(layers))], axis=0)
            assert seen[~attention.query.special].all()
            for layer, weights in enumerate(layers):
                ours = attention.layer(layer)[:, seen]
                np.testing.assert_allclose(ours, weights[item].numpy()[:, seen], atol=CLOSE)
                assert (ours[:, ~attention.allowed(layer)[seen]] == 0).all()
                if attention.sinks is None:
                    np.testing.assert_allclose(ours.sum(axis=-1), 1, atol=1e-5)
                else:
                    assert (ours.sum(axis=-1) < 1 + 1e-6).all()


def run(family: str, text: str = TEXT) -> Record:
    target = TARGET if family in networks.ENCODER_DECODERS else None
    return bartviz.capture(loaded.model(family), text, target=target)


@pytest.mark.slow
def test_what_a_notebook_prints_is_a_line_and_not_every_number() -> None:
    model, record = loaded.model("bart"), run("bart", "word " * 30)
    decoded = bartviz.decode(model, TEXT, beams=2, max_new_tokens=4)
    edit = bartviz.edit(model, record, 3, "a")
    ablation = bartviz.ablate(model, record, ["cross L0H0"])
    assert repr(record.cross) == "<cross attention: 2 layers x 2 heads, 42 rows attend to 93 columns>"
    assert repr(record).startswith(f"<Record of {model.info.name}: '{('word ' * 30)[:59]}…' → '{TARGET[:59]}…', <enc")
    assert repr(model).startswith(f"<Model {model.info.name}: BartForConditionalGeneration, ")
    assert repr(decoded.beams).startswith("<BeamTree: 2 beams, ")
    assert "token 3, " in repr(edit)
    assert all(len(repr(one)) < 400 for one in (record, model, decoded.beams, edit))
    assert len(repr(ablation)) < 10_000


@pytest.mark.slow
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_every_head_equals_eager(family: str) -> None:
    record = run(family)
    assert len(record.source) > 16
    assert_equal_to_eager(family, (record,))
    assert all(check.passed for check in record.provenance.checks)


@pytest.mark.some
@pytest.mark.slow
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_a_padded_batch_equals_eager(family: str) -> None:
    targets = [TARGET, "Wie spät ist es?"] if family in networks.ENCODER_DECODERS else None
    records = bartviz.capture_batch(loaded.model(family), [TEXT, SHORT], targets=targets, padded=True)
    assert_equal_to_eager(family, records)
    assert all(check.passed for record in records for check in record.provenance.checks)
    alone = bartviz.capture(loaded.model(family), SHORT, target=None if targets is None else targets[1])
    assert sum(_padding(records[1])) == len(records[0].source) - len(alone.source)


@pytest.mark.parametrize("family", ["bert", "bart", "t5", "gpt2"])
def test_padding_changes_nothing_for_the_real_tokens(family: str) -> None:
    targets = [TARGET, "Wie spät ist es?"] if family in networks.ENCODER_DECODERS else None
    model = loaded.model(family)
    padded = bartviz.capture_batch(model, [TEXT, SHORT], targets=targets, padded=True)[1]
    alone = bartviz.capture(model, SHORT, target=None if targets is None else targets[1])
    for kind in alone.kinds:
        _, _, rows, columns = alone.attention(kind).shape
        for layer in range(alone.attention(kind).shape[0]):
            np.testing.assert_allclose(
                padded.attention(kind).layer(layer)[:, :rows, :columns], alone.attention(kind).layer(layer), atol=1e-4
            )
    assert [step.chosen.token_id for step in padded.steps] == [step.chosen.token_id for step in alone.steps]


def test_texts_that_go_on_as_given_are_padded_in_one_pass() -> None:
    """Each has the steps and the attention that it has alone, whichever of prompt and target is the longer."""
    model = loaded.model("gpt2")
    prompts, targets = [SHORT, TEXT, "A"], [" It is a dog, and that one over there is one, too.", " No.", " B\x00"]
    records = bartviz.capture_batch(model, prompts, targets=targets, values=True, padded=True)
    assert_equal_to_eager("gpt2", records)
    longest = max(len(record.source) for record in records)
    for record, prompt, target in zip(records, prompts, targets, strict=True):
        alone = bartviz.capture(model, prompt, target=target)
        assert (record.source_text, record.target_text) == (alone.source_text, alone.target_text)
        assert record.provenance.settings["mode"] == "given target"
        assert record.provenance.notices == alone.provenance.notices
        assert len(record.source) == len(record.output or ()) == longest
        for step, other in zip(record.steps, alone.steps, strict=True):
            assert (step.position, step.row, step.chosen.token_id) == (other.position, other.row, other.chosen.token_id)
            assert step.log_probability == pytest.approx(other.log_probability, abs=1e-4)
        made = bartviz.branch(model, record, 0, 44, max_new_tokens=3)
        again = bartviz.branch(model, alone, 0, 44, max_new_tokens=3)
        assert [step.chosen.token_id for step in made.steps] == [step.chosen.token_id for step in again.steps]
    assert records[2].provenance.notices  # of the target that was cleaned


@pytest.mark.parametrize(("family", "targets"), [("bert", ["a", "b"]), ("gpt2", ["a"]), ("bart", "ab")])
def test_targets_of_a_batch_are_one_for_each_text(family: str, targets: list[str]) -> None:
    with pytest.raises(SettingError, match="one for each text"):
        bartviz.capture_batch(loaded.model(family), [TEXT, SHORT], targets=targets)


@pytest.mark.parametrize("family", ["bert", "bart"])
def test_a_text_of_a_batch_that_fails_is_named_by_its_number(family: str) -> None:
    model = loaded.model(family)
    with pytest.raises(TextError, match=r"^Text 2 of 3: The text is empty"):
        bartviz.capture_batch(model, [TEXT, " ", SHORT])
    with pytest.raises(TooLong, match=r"^Text 3 of 3: The text has") as caught:
        bartviz.capture_batch(model, (text for text in (TEXT, SHORT, "a " * 5_000)))
    assert caught.value.can_cut
    assert caught.value.limit == model.info.positions
    if family == "bart":
        with pytest.raises(TextError, match=r"^Text 2 of 2: The text is empty"):
            bartviz.decode_batch(model, [TEXT, " "])
        with pytest.raises(TextError, match=r"^Output 2 of 2: "):
            bartviz.capture_batch(model, [TEXT, SHORT], targets=["a", " "])
        with pytest.raises(SettingError, match="There are 1 targets for 2 texts"):
            bartviz.capture_batch(model, [TEXT, SHORT], targets=["a"])


@pytest.mark.parametrize("side", ["first", "last"])
def test_a_long_text_of_a_batch_is_cut_as_it_is_alone(side: Literal["first", "last"]) -> None:
    model, long = loaded.model("bert"), f"{TEXT} {SHORT} " * 100
    together = bartviz.capture_batch(model, [SHORT, long], truncate=side)[1]
    alone = bartviz.capture(model, long, truncate=side)
    assert together.source_text == alone.source_text
    assert together.source.ids.tolist() == alone.source.ids.tolist()
    assert together.provenance.notices == alone.provenance.notices
    assert f"The {side} " in " ".join(together.provenance.notices)


def test_a_record_says_when_it_was_made() -> None:
    before = now()
    made = bartviz.capture(loaded.model("bert"), SHORT).provenance.made
    assert before <= made <= now()
    assert time.strptime(made, "%Y-%m-%dT%H:%MZ").tm_min == int(made[-3:-1])


def test_a_given_continuation_has_a_step_for_each_target_token() -> None:
    model, target = loaded.model("gpt2"), " It is a dog."
    one = bartviz.capture(model, SHORT, target=target, values=True)
    whole = bartviz.capture(model, SHORT + target)
    assert (one.source_text, one.target_text) == (SHORT, target)
    assert one.output is not None
    assert one.output.ids.tolist()[:-1] == one.source.ids.tolist()[1:]
    assert [step.row for step in one.steps] == list(range(len(whole.steps) - len(one.steps), len(whole.steps)))
    assert "".join(model.tokenizer.decode([step.chosen.token_id]) for step in one.steps) == target
    for place, (step, known) in enumerate(zip(one.steps, whole.steps[-len(one.steps) :], strict=True)):
        assert (step.position, step.chosen.token_id) == (place, known.chosen.token_id)
        assert step.log_probability == pytest.approx(known.log_probability, abs=CLOSE)
    np.testing.assert_allclose(
        one.attention("decoder").head(1, 2), whole.attention("decoder").head(1, 2)[:-1, :-1], atol=CLOSE
    )


def test_what_was_written_and_then_given_has_the_same_rows_and_can_be_branched() -> None:
    model = loaded.model("gpt2")
    first = bartviz.decode(model, SHORT, max_new_tokens=1)
    given = bartviz.capture(model, SHORT, target=" It is a dog.")
    assert given.steps[0].row == first.steps[0].row
    assert given.steps[0].candidates[0].token_id == first.steps[0].chosen.token_id
    branched = bartviz.branch(model, given, 2, 100, max_new_tokens=5)
    ids = [step.chosen.token_id for step in given.steps]
    assert [step.chosen.token_id for step in branched.steps][:3] == [*ids[:2], 100]


def test_a_given_text_longer_than_the_model_reads_is_refused_with_its_length() -> None:
    with pytest.raises(TextError, match=r"at most 128"):
        bartviz.capture(loaded.model("gpt2"), SHORT, target=" dog" * 128)


def test_depths_and_heads_of_encoder_and_decoder_may_differ() -> None:
    record = run("bart")
    shapes = {kind: record.attention(kind).shape[:2] for kind in record.kinds}
    assert shapes == {"encoder": (3, 4), "decoder": (2, 2), "cross": (2, 2)}


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_an_error_says_which_text_is_empty(blank: str) -> None:
    with pytest.raises(TextError, match="second sentence is empty"):
        bartviz.capture(loaded.model("bert"), TEXT, pair=blank)
    with pytest.raises(TextError, match="given output is empty"):
        bartviz.capture(loaded.model("bart"), TEXT, target=blank)


def test_a_pair_has_two_segments() -> None:
    record = bartviz.capture(loaded.model("bert"), "The cat is sleeping.", pair="The dog runs.")
    assert record.texts == (record.source_text, record.pair_text) == ("The cat is sleeping.", "The dog runs.")
    assert set(record.source.segments.tolist()) == {0, 1}
    assert_equal_to_eager("bert", (record,))


@pytest.mark.parametrize(("family", "pair", "target"), [("gpt2", "x", None), ("bert", None, "x"), ("bart", "x", None)])
def test_what_a_model_does_not_take_is_refused(family: str, pair: str | None, target: str | None) -> None:
    with pytest.raises(SettingError, match="Leave it out"):
        bartviz.capture(loaded.model(family), SHORT, pair=pair, target=target)


def test_row_t_predicts_what_row_t_plus_one_reads() -> None:
    record = run("bart")
    assert record.decoder is not None
    assert record.output is not None
    assert record.output.ids[:-1].tolist() == record.decoder.query.ids[1:].tolist()
    assert record.rows("cross", "predicts") is record.output
    assert record.rows("cross", "reads") is record.decoder.query
    assert record.decoder.query.ids[0] == loaded.model("bart").config.decoder_start_token_id
    assert [step.row for step in record.steps] == list(range(len(record.output)))


@pytest.mark.parametrize("family", ["bart", "t5", "marian", "gpt2"])
def test_steps_are_the_softmax_of_the_raw_logits(family: str) -> None:
    record = run(family)
    assert record.decoder is not None
    ids = torch.from_numpy(record.source.ids.copy())[None]
    inputs = {"input_ids": ids}
    if record.cross is not None:
        inputs["decoder_input_ids"] = torch.from_numpy(record.decoder.query.ids.copy())[None]
    with torch.inference_mode():
        logits = loaded.reference(family)(**inputs).logits[0].double()
    log_p = torch.log_softmax(logits, dim=-1)
    # a text that is read ends with its last token: what GPT-2 would add is no step
    assert len(record.steps) == len(log_p) - (record.cross is None)
    for step, row in zip(record.steps, log_p, strict=False):
        assert step.log_probability == pytest.approx(float(row[step.chosen.token_id]), abs=4e-4)
        assert step.entropy == pytest.approx(float(-(row.exp() * row).sum() / np.log(2)), abs=2e-3)
        best = row.topk(len(step.candidates))
        np.testing.assert_allclose([c.probability for c in step.candidates], best.values.exp(), atol=4e-4)
        assert step.candidates[0].token_id == int(best.indices[0])


def test_silenced_heads_leave_no_trace_in_the_output() -> None:
    """Silencing every head of a layer equals a context of zeros: the output is then the projection's bias alone."""
    model = loaded.model("bert")
    heads = [Head("encoder", 1, head) for head in range(4)]
    silenced = bartviz.capture(model, TEXT, ablate=heads, values=True)
    network = loaded.reference("bert")
    with torch.inference_mode():
        handle = network.bert.encoder.layer[1].attention.self.register_forward_hook(
            lambda module, args, out: (torch.zeros_like(out[0]), *out[1:])
        )
        try:
            ids = torch.from_numpy(silenced.source.ids.copy())[None]
            expected = network(input_ids=ids, output_attentions=True).attentions
        finally:
            handle.remove()
    assert silenced.encoder is not None
    np.testing.assert_allclose(silenced.encoder.layer(2), expected[2][0].numpy(), atol=CLOSE)


def test_an_ablation_leaves_no_trace() -> None:
    model = loaded.model("bart")
    before = run("bart")
    changed = bartviz.capture(model, TEXT, target=TARGET, ablate={"cross L0H1": 0.5, "encoder L1H0": 0.0})
    after = run("bart")
    assert after.cross == before.cross
    assert after.encoder == before.encoder
    assert changed.cross != before.cross


@pytest.mark.slow
def test_two_threads_do_not_see_each_others_tape() -> None:
    model = loaded.model("bert")
    before = bartviz.capture(model, TEXT).encoder
    wrong: list[int] = []
    stop = threading.Event()

    def ablate() -> None:
        while not stop.is_set():
            bartviz.capture(model, SHORT, ablate=["encoder L0H0"])

    other = threading.Thread(target=ablate)
    other.start()
    try:
        wrong += [1 for _ in range(30) if bartviz.capture(model, TEXT).encoder != before]
    finally:
        stop.set()
        other.join()
    assert not wrong


@pytest.mark.parametrize("name", ["encoder L9H0", "encoder L0H9", "cross L0H0"])
def test_a_head_that_the_model_lacks_cannot_be_silenced(name: str) -> None:
    with pytest.raises(SettingError, match="encoder L0H0 to L2H3"):
        bartviz.capture(loaded.model("bert"), TEXT, ablate=[name])


def test_a_run_stops_at_the_next_layer() -> None:
    asked: list[int] = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) == 2

    with pytest.raises(Cancelled):
        bartviz.capture(loaded.model("bert"), TEXT, cancelled=cancelled)
    assert len(asked) == 2  # of three layers


def test_a_text_that_is_too_long_is_counted_and_can_be_cut() -> None:
    model = loaded.model("bert")
    text = TEXT * 6
    with pytest.raises(TextError, match=r"\d+.*128") as caught:
        bartviz.capture(model, text)
    assert caught.value.__notes__ == ['Pass truncate="first" or truncate="last" to have only that part read.']
    first = bartviz.capture(model, text, truncate="first")
    last = bartviz.capture(model, text, truncate="last")
    for record in (first, last):
        assert 120 <= len(record.source) <= 128
        assert any("tokens are shown" in notice for notice in record.provenance.notices)
    assert text.startswith(first.source_text)
    assert text.endswith(last.source_text)


@pytest.mark.parametrize("text", ["", "   \n\t "])
def test_no_text_is_an_error(text: str) -> None:
    with pytest.raises(TextError):
        bartviz.capture(loaded.model("bert"), text)


def test_a_single_token_is_enough() -> None:
    record = bartviz.capture(loaded.model("gpt2"), "a")
    assert record.decoder is not None
    np.testing.assert_array_equal(
        record.decoder.head(0, 0), [[1.0]] if len(record.source) == 1 else record.decoder.head(0, 0)
    )
    assert len(record.steps) == len(record.source) - 1


def test_other_architectures_are_refused_with_the_choices() -> None:
    import transformers

    config = transformers.LongformerConfig(
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        vocab_size=20,
        attention_window=4,
    )
    with pytest.raises(ModelError, match=f"longformer.*{sorted(FAMILIES)[0]}"):
        attach(transformers.LongformerModel(config))


def test_every_kind_is_one_of_the_three() -> None:
    assert {kind for family in networks.FAMILIES for kind in run(family).kinds} == set(KINDS)


def test_nothing_is_kept_outside_of_a_recording() -> None:
    model = loaded.model("bert")
    tape = Tape()
    with torch.inference_mode():
        with recording(tape):
            pass
        model.network(torch.tensor([[1, 2, 3]]))
    assert not tape.entries


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.sampled_from(["bert", "bart", "t5", "gpt2"]), st.text(st.characters(codec="utf-8"), min_size=1, max_size=40))
def test_any_text_gives_weights_that_sum_to_one(family: str, text: str) -> None:
    try:
        record = bartviz.capture(
            loaded.model(family), text, target=text if family in networks.ENCODER_DECODERS else None
        )
    except TextError:
        return
    for kind in record.kinds:
        np.testing.assert_allclose(record.attention(kind).layer(0).sum(axis=-1), 1, atol=1e-5)
    assert all(check.passed for check in record.provenance.checks)


@pytest.mark.parametrize("heads", [[("encoder", 0)], 3, [None], {"encoder L0H0": "off"}, {"encoder L0H0": None}])
def test_heads_that_are_named_otherwise_are_refused_in_words(heads: Any) -> None:
    with pytest.raises(SettingError):
        bartviz.capture(loaded.model("bert"), TEXT, ablate=heads)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("bart-tiny-en-de", "I WANT TO BUY A CAR.", True),
        ("bart-tiny-denoise", "THE CAT IS SLEEPING ON THE SOFA.", True),
        ("bart-tiny-en-de", "I want to buy a CAR.", False),
        ("bart-tiny-en-de", "USA", False),
        ("bert-tiny-en", "I WANT TO BUY A CAR.", False),  # it reads small letters alone
    ],
)
def test_a_text_in_capitals_that_falls_apart_is_named(name: str, text: str, told: bool) -> None:
    notices = prepare(bartviz.load(name), text).notices
    assert any("in lower case" in notice for notice in notices) == told


@pytest.mark.parametrize("side", ["first", "last"])
def test_a_character_that_is_longer_than_the_model_reads_is_what_cannot_be_cut(side: Literal["first", "last"]) -> None:
    model = loaded.model("bart")
    with pytest.raises(TextError, match=rf"single character.* the {model.info.positions} that"):
        prepare(model, "e" + "\u0301" * 4_000, truncate=side)


@pytest.mark.parametrize("side", ["first", "last"])
@pytest.mark.parametrize(
    "text", [SHORT * 400, "\U0001f1e6" * 4_000, "a" * 4_000 + " " + SHORT * 10, " \n" * 4_000 + SHORT * 60]
)
def test_of_a_long_text_only_the_part_that_is_kept_is_looked_at(
    side: Literal["first", "last"], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The place of each token takes longer than the tokens; what is kept is the same as if all were known."""
    model = loaded.model("bert")
    kept = prepare(model, text, truncate=side)
    monkeypatch.setattr(tokenize, "_NEAR", len(text))  # all of it
    assert prepare(model, text, truncate=side) == kept
