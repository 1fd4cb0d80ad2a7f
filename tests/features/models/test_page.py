"""The models page: which models, their table, and the visitor's text as each would learn from it."""

from __future__ import annotations

import html
import re
from types import SimpleNamespace

import pytest

from bartviz import decode, load
from bartviz.analysis import plain_words
from bartviz.app.controls import tasks
from bartviz.experiments.repair import guesses
from bartviz.features.models import parts_learned as learned
from bartviz.language.percentages import percent
from bartviz.serving import saved_records as records
from tests.support.pages import App
from tests.support.visits import words


def test_three_models_are_side_by_side_at_first(app: App) -> None:
    page = app("models")
    assert not page.exception
    for said in ("bert-base-uncased", "bart-base", "gpt2", "139,420,416", "109,482,240", "124,439,808", "post-norm"):
        assert said in words(page)
    assert "properties differ between these 3 models" in words(page)


def test_a_beginner_reads_first_which_model_reads_and_which_writes(app: App) -> None:
    said = (
        "BERT reads a text (encoder only). BART reads a text and writes another (encoder and decoder). "
        "GPT-2 continues a text (decoder only)."
    )
    page = app("models", level="beginner")
    assert said in words(page)
    assert "properties differ" not in words(page)
    assert said not in words(app("models", level="expert"))


def test_the_page_says_what_each_shipped_model_learned_below_the_drawing(app: App) -> None:
    page = app("models", models="small")
    assert page.subheader[0].value == "What each has learned to do"
    made = records.read("start")
    for text in (made.source_text, made.target_text or "", learned.ROTATED, learned.RESTORED):
        assert html.escape(text) in words(page)
    assert "My brother is older than [MASK]." in words(page)
    assert page.button(key="begin_models_learned").label == "Let it fill the mask"  # nothing is loaded unasked
    assert all(page.button(key=f"models_open_{model}").label == "See its attention" for model in learned.MODELS)


def test_the_page_says_which_models_can_be_opened_at_once(app: App) -> None:
    said = "For small ones that you can open right away, choose “Included here”."
    assert said in words(app("models"))
    assert said not in words(app("models", models="small"))
    assert said not in words(app("models", models="own", which="bert-tiny-en"))


@pytest.mark.slow
def test_the_denoiser_restores_its_example_and_is_sure_of_it() -> None:
    record = decode(load(learned.DENOISER), learned.ROTATED)
    assert record.target_text == learned.RESTORED
    assert min(step.chosen.probability for step in record.steps) > 0.95


@pytest.mark.slow
def test_the_words_for_the_mask_are_those_of_the_model(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """The task runs here, where there is no server to run it."""
    ticket = SimpleNamespace(cancelled=lambda: False)
    monkeypatch.setattr(tasks, "ask", lambda _name, model, _key, work, **_more: work(load(model), ticket))
    page = app("models", models="small")
    wanted = guesses(load("bert-tiny-en"), "My brother is older than <mask>.", 3)[0].candidates
    assert len(wanted) == 3
    assert all(f"{word.strip()} ({percent(share)})" in words(page) for word, share in wanted)


def test_a_link_chooses_the_models_and_only_what_differs(app: App) -> None:
    page = app("models", models="two", differ="true")
    assert "t5-base" in words(page)
    assert "gpt2" not in words(page)
    assert ">Width<" not in words(page)  # both are 768 wide
    assert "Tokenizer" in words(page)


def test_only_what_differs_is_shown_until_all_is_asked_for(app: App) -> None:
    page = app("models")
    assert ">Width<" not in words(page)  # all three are 768 wide
    page.toggle(key="differ").set_value(False).run()
    assert ">Width<" in words(page)


def test_sources_of_numbers_are_for_experts(app: App) -> None:
    sources = "read from the configuration"
    assert sources not in words(app("models"))
    assert "<sup" not in words(app("models", level="intermediate"))
    shown = words(app("models", level="expert"))
    assert sources in shown
    assert "<sup" in shown


def test_the_bars_have_a_drawn_legend(app: App) -> None:
    def entries(**query: str) -> list[str]:
        shown = words(app("models", **query))
        return re.findall(r"<li>(.*?)</li>", shown.split("<ul class='bv-parts'")[1].split("</ul>")[0])

    parts = entries()
    named = [plain_words.named(name, name) for name in ("self-attention", "cross-attention", "feed-forward")]
    assert [re.sub(r"<[^>]+>", "", part) for part in parts] == named
    assert [part.count("background:#") for part in parts] == [2, 1, 2]  # encoder and decoder; only decoders cross
    alone = entries(models="own", which="gpt2")
    assert [re.sub(r"<[^>]+>", "", part) for part in alone] == [named[0], named[2]]
    assert [part.count("background:#") for part in alone] == [1, 1]


def test_a_custom_choice_may_be_empty_or_too_large(app: App) -> None:
    page = app("models", models="own")
    page.multiselect(key="which").set_value([]).run()
    assert page.info[0].value == "Choose at least one model."
    names = page.multiselect(key="which").options[:6]
    page.multiselect(key="which").set_value(names).run()
    assert "6 were chosen; the first 5 are shown." in words(page)
    page.multiselect(key="which").set_value(names[:1]).run()
    assert "alone" in words(page)


def test_the_objectives_are_shown_on_the_visitors_text(app: App) -> None:
    page = app("models", see="goals", hidden_seed="1")
    assert not page.exception
    assert "&lt;s&gt; I want to buy a car. &lt;/s&gt;" in words(page)
    assert "[MASK]" in words(page)


def test_only_the_objectives_of_the_models_in_sight_are_shown(app: App) -> None:
    shown = words(app("models", see="goals"))
    assert ("<h4>GPT-2" in shown, "<h4>T5" in shown, "<h4>Pegasus" in shown) == (True, False, False)
    other = words(app("models", see="goals", models="writers"))
    assert ("<h4>GPT-2" in other, "<h4>T5" in other, "<h4>Pegasus" in other) == (False, True, True)


def test_without_a_record_the_objectives_ask_for_a_text(app: App) -> None:
    page = app("models", record=None, see="goals")
    assert not page.exception
    assert "Run a text" in page.info[-1].value


def test_the_seed_of_hidden_words_hides_nothing_on_another_page(app: App) -> None:
    page = app("models", see="goals")
    page.switch_page("pages/heads.py").run()
    assert page.toggle(key="hide").value is False


def test_families_that_do_the_same_are_named_in_one_sentence(app: App) -> None:
    said = words(app("models", models="writers", level="beginner"))
    assert "BART, T5, Marian and Pegasus read a text and write another (encoder and decoder)." in said


def test_hollow_bars_are_explained_where_there_are_some(app: App) -> None:
    said = "An empty bar is a layer that uses"
    assert said in words(app("models", models="own", which="albert-base-v2"))
    assert said not in words(app("models"))
