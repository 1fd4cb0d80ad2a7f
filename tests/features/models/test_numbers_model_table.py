"""The table of models against numbers that a person can check, and against built models and tokenizers."""

from __future__ import annotations

import pytest

from bartviz.app.state import content
from bartviz.errors import ModelError
from bartviz.families.catalogue import CATALOGUE
from bartviz.families.registry import FAMILIES
from bartviz.features.models.numbers_model_table import PROPERTIES, cell_text, differs, subject, tables
from bartviz.features.models.numbers_objectives import objectives
from bartviz.language import speaking
from bartviz.models.load import load
from tests.support import networks

TUNED = {"bart-tiny-en-de", "facebook/bart-large-cnn", "sshleifer/distilbart-cnn-12-6", "google/pegasus-xsum"}
FOUR = ("bert-base-uncased", "facebook/bart-base", "gpt2", "t5-base")


def cell(model: str, word: str) -> object:
    found = tables([model]).set_index("property")
    return found.loc[word, model]


@pytest.mark.parametrize(
    ("model", "word", "value"),
    [
        ("facebook/bart-base", "parameters", 139_420_416),
        ("bert-base-uncased", "parameters", 109_482_240),
        ("facebook/bart-base", "encoder_layers", 6),
        ("gpt2", "encoder_layers", None),
        ("gpt2", "decoder_layers", 12),
        ("t5-base", "longest", "no limit"),
        ("facebook/bart-base", "longest", 1024),
        ("facebook/bart-large", "heads", 16),
        ("bert-large-uncased", "head_width", 64),
        ("facebook/bart-base", "norms", "2 + 3"),
        ("bert-base-uncased", "norms", 2),
        ("t5-base", "norms", "2 + 3"),
        ("t5-base", "norm", "before the sublayer (pre-norm)"),
        ("facebook/bart-base", "norm", "after the sum (post-norm)"),
        ("t5-base", "final_norm", True),
        ("facebook/bart-base", "final_norm", False),
        ("t5-base", "bias", False),
        ("gpt2", "bias", True),
        ("t5-base", "activation", "ReLU"),
        ("google/t5-v1_1-base", "activation", "GELU by tanh, gated"),
        ("t5-base", "tied", True),
        ("google/t5-v1_1-base", "tied", False),
        ("bert-base-uncased", "tied", True),
        ("facebook/bart-base", "one_embedding", True),
        ("gpt2", "one_embedding", None),
        ("facebook/bart-base", "start", 2),
        ("t5-base", "start", 0),
        ("bert-base-uncased", "segments", 2),
        ("t5-base", "prefix", "translate English to German: A"),
        ("google/t5-v1_1-base", "prefix", None),
        ("google/t5-v1_1-base", "objective", "restore the spans (15%) behind numbered sentinels"),
        ("bart-tiny-en-de", "fine_tuned", "translate English sentences into German"),
        ("facebook/bart-large-cnn", "fine_tuned", "summarize news articles"),
        ("bart-tiny-denoise", "fine_tuned", None),
        ("facebook/bart-base", "fine_tuned", None),
        ("sshleifer/distilbart-cnn-12-6", "decoder_layers", 6),
        ("sshleifer/distilbart-cnn-12-6", "encoder_layers", 12),
    ],
)
def test_a_cell(model: str, word: str, value: object) -> None:
    assert cell(model, word) == value


def test_shares_are_of_the_whole_and_memory_is_of_all_heads() -> None:
    whole = tables(FOUR).set_index("property").to_dict()
    for model in FOUR:
        shares = [whole[model][word] for word in ("embeddings", "attention", "feed_forward_share")]
        assert 0.9 < sum(float(share) for share in shares) <= 1.0  # the rest: pooler, final layer norm, output bias
    assert whole["bert-base-uncased"]["maps"] == pytest.approx(12 * 12 * 512 * 512 * 4 / 1e6)
    assert whole["gpt2"]["bytes"] == pytest.approx(124_439_808 * 4 / 1e6)


def test_every_model_of_the_catalogue_has_every_cell() -> None:
    whole = tables([entry.name for entry in CATALOGUE])
    assert len(whole) == len(PROPERTIES)
    for each in PROPERTIES:
        for entry in CATALOGUE:
            with speaking("ko"):
                assert cell_text(each, each.of(subject(entry.name)))


def test_properties_that_differ_between_models() -> None:
    two = (subject("facebook/bart-base"), subject("facebook/bart-large"))
    words = {each.word for each in PROPERTIES if differs(each, two)}
    assert {"width", "heads", "encoder_layers", "parameters"} <= words
    assert not words & {"norm", "tokenizer", "head_width", "tied", "objective"}


def test_a_model_that_ships_has_the_objective_of_its_card() -> None:
    translator, denoiser, base = (
        cell(name, "objective") for name in ("bart-tiny-en-de", "bart-tiny-denoise", "facebook/bart-base")
    )
    assert translator == denoiser != base  # it was fine-tuned from the denoiser
    assert "one of five ways" in str(denoiser)
    for entry in CATALOGUE:
        assert (entry.fine_tuned is not None) == (entry.name in TUNED), entry.name


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(ModelError, match="Choose"):
        tables(["nobody/nothing"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bart-tiny-en-de", "bert-tiny-en"])
def test_the_form_of_a_text_is_what_the_tokenizer_writes(name: str) -> None:
    tokenizer = load(name).tokenizer
    facts = subject(name).training
    assert _plain(tokenizer.decode(tokenizer("dog").input_ids)) == _plain(facts.single.replace("A", "dog"))
    pair = (facts.pair or "").replace("A", "dog").replace("B", "cat")
    assert _plain(tokenizer.decode(tokenizer("dog", "cat").input_ids)) == _plain(pair)


@pytest.mark.parametrize("family", sorted(set(networks.FAMILIES) & set(FAMILIES)))
def test_the_special_tokens_of_a_family_stand_where_the_table_has_them(family: str) -> None:
    tokenizer = networks.tokenizer(family)
    ids = tokenizer("a").input_ids
    special = [one in tokenizer.all_special_ids for one in ids]
    form = FAMILIES[family].training.single.split()
    before, after = form.index("A"), len(form) - form.index("A") - 1
    assert special[:before] == [True] * before
    assert sum(special) == before + after, tokenizer.convert_ids_to_tokens(ids)


def _plain(text: str) -> str:
    return text.replace(" ", "")


TEXT = "The cat sat on the mat. It was happy. The dog saw the cat on the mat and ran away from the house."


def test_t5_names_what_is_hidden_and_bart_writes_it_all() -> None:
    for seed in range(40):
        found = {each.family: each for each in objectives(TEXT, seed=seed)}
        spans = found["t5"].predicts.removesuffix(" </s>").split("<extra_id_")[1:-1]
        read = found["t5"].reads.removesuffix(" </s>")
        for number, span in enumerate(spans):
            hidden = span.split("> ", 1)[1].strip()
            read = read.replace(f"<extra_id_{number}>", hidden)
        assert _plain(read) == _plain(TEXT)
        assert found["bart"].predicts == f"<s> {TEXT} </s>"
        assert "<mask>" in found["bart"].reads
        assert len(found["t5"].predicts.split()) < len(TEXT.split())


def test_bert_predicts_only_what_was_chosen() -> None:
    for seed in range(40):
        found = objectives(TEXT, seed=seed)[0]
        chosen = found.predicts.split(" … ")
        assert len(chosen) in (3, 4)  # 15% of 26 words and marks
        assert all(word in TEXT.lower() for word in chosen)  # an uncased model


def test_gpt2_predicts_all_but_the_first_word_and_pegasus_a_sentence() -> None:
    found = {each.family: each for each in objectives(TEXT, seed=3)}
    assert f"The {found['gpt2'].predicts}" == TEXT
    assert found["pegasus"].predicts == "The cat sat on the mat. </s>"
    assert found["pegasus"].reads.startswith("<mask_1> It was happy.")


def test_short_and_empty_texts() -> None:
    assert objectives("") == ()
    assert objectives("  \n") == ()
    one = {each.family: each for each in objectives("Hi", seed=5)}
    assert one["pegasus"].predicts == ""
    assert one["gpt2"].predicts == ""
    assert one["t5"].reads == "<extra_id_0> </s>"
    assert objectives("나는 차를 사고 싶다.", seed=1)


def test_a_translation_adds_the_translator() -> None:
    found = objectives("I want a car.", translation="Ich möchte ein Auto.")
    assert found[-1].family == "marian"
    assert found[-1].predicts == "Ich möchte ein Auto. </s>"


def test_what_is_read_of_another_model_has_another_key() -> None:
    """The page keeps its figures by these keys."""
    assert content.key(subject("facebook/bart-base")) == content.key(subject("facebook/bart-base"))
    assert content.key(subject("facebook/bart-base")) != content.key(subject("gpt2"))
