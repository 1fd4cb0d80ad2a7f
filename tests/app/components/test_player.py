"""What the player is sent, and its arithmetic in JavaScript."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bartviz.analysis import decoding, word_colors
from bartviz.app.components.player import (
    COMPONENT,
    BranchRequest,
    DrawRequest,
    Place,
    Request,
    parse_place,
    parse_request,
)
from bartviz.browser.player import data as player
from bartviz.browser.player import messages
from bartviz.families.catalogue import EMBEDDED
from bartviz.language import speaking
from bartviz.language.percentages import percent
from bartviz.record.record import Record, open_record
from bartviz.record.steps import Candidate, Step
from bartviz.record.vocabulary import FORCED_FIRST_TOKEN
from bartviz.text.tokens import Tokens
from tests.analysis.test_decoding import decoded
from tests.support import node, records, stand_in


@pytest.mark.slow
def test_the_arithmetic_of_the_browser() -> None:
    node.run_tests(Path(__file__).with_name("player.test.mjs"), WORDS=json.dumps(messages.messages()))


def test_rows_are_sent_exactly(record: Record) -> None:
    sent = player.payload(record, layer=1, head=2)
    for name, kind in (("rows", "cross"), ("own", "decoder")):
        weights = decoding.alignment(record, kind, layer=1, head=2)  # type: ignore[arg-type]
        np.testing.assert_array_equal(sent[name]["w"].to_numpy(), weights.reshape(-1))
    assert sent["meta"]["scale"] == 1
    assert sent["meta"]["weights"] == "cross L1H2"


def test_long_texts_are_sent_in_bytes(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "EXACT", 10)
    sent = player.payload(record, layer=0, head=0)
    assert sent["rows"].nbytes == 9 * 9
    back = sent["rows"]["w"].to_numpy() / sent["meta"]["scale"]
    np.testing.assert_allclose(back, decoding.alignment(record, layer=0, head=0).reshape(-1), atol=0.5 / 255 + 1e-6)


def test_the_rest_is_plain_json_even_for_impossible_numbers(record: Record) -> None:
    impossible = replace(record.steps[0], log_probability=float("-inf"))
    sent = player.payload(replace(record, steps=(impossible, *record.steps[1:])), layer=0, head=None)
    first = json.loads(json.dumps(sent["meta"], allow_nan=False))["steps"][0]
    assert first["log_probability"] is None
    assert first["predicts"] == "<s>"


def test_a_prompt_is_text_and_the_continuation_is_chips() -> None:
    sent = player.payload(decoded(prompt=3), layer=0, head=None)
    assert sent["meta"]["first"] == 3
    assert sent["own"].num_rows == 0
    columns = [column for _, of, _ in sent["meta"]["source"] for column in of]
    assert columns == [0, 1, 2]


def test_padding_is_named() -> None:
    sent = player.payload(records.encoder_decoder(padding=2), layer=0, head=None)
    assert sent["meta"]["masked"] == [7, 8]


def test_a_new_text_starts_from_the_beginning(record: Record) -> None:
    same, other = stand_in.record(), stand_in.record(source=("<s>", "Hi", "</s>"))
    assert player.revision(record) == player.revision(same)
    assert player.revision(record) != player.revision(other)


def tokens(labels: tuple[str, ...], spans: tuple[tuple[int, int] | None, ...]) -> Tokens:
    n = len(labels)
    return Tokens(
        np.arange(n),
        labels,
        labels,
        tuple(range(n)),
        np.array([s is None for s in spans]),
        np.zeros(n, np.int64),
        spans,
    )


def test_running_text_is_the_text_itself() -> None:
    text = "I want  it."
    found = player.running(text, tokens(("<s>", "I", "want", "it", "."), (None, (0, 1), (1, 6), (8, 10), (10, 11))))
    assert found == [
        ("<s>", [0], True),
        ("I", [1], False),
        (" ", [], False),
        ("want", [2], False),
        ("  ", [], False),
        ("it", [3], False),
        (".", [4], False),
    ]
    assert "".join(part for part, _, special in found if not special) == text


def test_a_mask_in_the_text_is_special() -> None:
    source = player.payload(open_record(EMBEDDED / "records" / "repair.safetensors"), layer=None, head=None)["meta"]
    assert [text for text, columns, special in source["source"] if columns and special] == ["<s>", "<mask>", "</s>"]
    assert all(special == any(source["special"][i] for i in columns) for _, columns, special in source["source"])


def test_bytes_of_one_sign_are_one_segment() -> None:
    found = player.running("a👩‍👧b", tokens(("a", "x", "y", "b"), ((0, 1), (1, 4), (1, 4), (4, 5))))
    assert found == [("a", [0], False), ("👩‍👧", [1, 2], False), ("b", [3], False)]


@pytest.mark.parametrize("spans", [((0, 2), (0, 2), (0, 1)), ((3, 4), (0, 1), (1, 2)), ((0, 1), (1, 2), (2, 99))])
def test_labels_are_used_if_spans_do_not_cover_the_text(spans: tuple[tuple[int, int], ...]) -> None:
    found = player.running("ab", tokens(("x", "y", "z"), spans))
    assert sorted(column for _, of, _ in found for column in of) == [0, 1, 2]


def test_what_cannot_be_seen_is_shown_by_its_label() -> None:
    found = player.running("a\u200bb", tokens(("a", "ZWSP", "b"), ((0, 1), (1, 2), (2, 3))))
    assert [part for part, _, _ in found] == ["a", "ZWSP", "b"]


def test_pieces_of_a_word_touch(record: Record) -> None:
    steps = player.payload(record, layer=0, head=None)["meta"]["steps"]
    assert [step["predicts"] for step in steps if step["joined"]] == ["fen"]


@pytest.mark.parametrize(
    "said",
    [
        None,
        "x",
        {},
        {"revision": "other", "step": 1, "reading": "reads"},
        {"revision": "now", "step": 9, "reading": "reads"},
        {"revision": "now", "step": -1, "reading": "reads"},
        {"revision": "now", "step": True, "reading": "reads"},
        {"revision": "now", "step": 1.5, "reading": "reads"},
        {"revision": "now", "step": 1, "reading": "x"},
    ],
)
def test_an_invalid_position_is_ignored(said: object) -> None:
    assert parse_place(said, "now", 9) is None


def test_a_valid_position_is_accepted() -> None:
    assert parse_place({"revision": "now", "step": 8, "reading": "reads"}, "now", 9) == Place(8, "reads")


def test_a_branch_is_sent_with_its_rows_over_the_source(record: Record) -> None:
    other = stand_in.record(output=("<s>", "Ich", " will", "</s>"))
    sent = player.payload(record, layer=1, head=2, branch=other)
    assert sent["meta"]["branch"]["columns"] == len(record.source)
    np.testing.assert_array_equal(sent["other"]["w"].to_numpy(), decoding.alignment(other, layer=1, head=2).reshape(-1))
    assert [step["predicts"] for step in sent["meta"]["branch"]["steps"]] == ["<s>", "Ich", "will", "</s>"]
    assert player.payload(record, layer=1, head=2)["other"].num_rows == 0


def test_beside_a_branch_the_parts_say_that_they_are_the_main_texts(record: Record) -> None:
    """Candidates, output and matrix stay those of the main text; each says so, and what was not placed is told."""
    other = stand_in.record(output=("<s>", "Ich", " will", "</s>"))
    other = replace(other, provenance=replace(other.provenance, notices=("Only 1 of the 2 tokens ...",)))
    alone, beside = (player.payload(record, layer=1, head=2, branch=made)["meta"] for made in (None, other))
    changed = {name for name, title in beside["titles"].items() if title != alone["titles"][name]}
    assert changed == {"output", "choice", "matrix"}
    assert all("ain text" in beside["titles"][name] for name in changed)
    assert alone["some"] == "{shown} of {count} candidates before rules; choose one"
    assert "ain text" in beside["some"]
    assert beside["branch"]["said"].endswith(" Only 1 of the 2 tokens ...")


def test_the_branch_of_a_prompt_is_sent_over_the_prompt() -> None:
    record = decoded(prompt=3)
    sent = player.payload(record, layer=0, head=None, branch=record)
    weights = decoding.alignment(record, layer=0)[:, :3]
    np.testing.assert_array_equal(sent["other"]["w"].to_numpy(), weights.reshape(-1))
    assert sent["meta"]["branch"]["columns"] == 3


@pytest.mark.parametrize(
    ("said", "wish"),
    [
        ({"temperature": 0.7, "top_k": 0, "top_p": 1}, DrawRequest(0.7, 0, 1.0)),
        ({"temperature": 2, "top_k": 10, "top_p": 0.9}, DrawRequest(2.0, 10, 0.9)),
        ({"temperature": 0.75, "top_k": 0, "top_p": 1}, None),
        ({"temperature": 0.7, "top_k": 11, "top_p": 1}, None),
        ({"temperature": 0.7, "top_k": True, "top_p": 1}, None),
        ({"temperature": [1], "top_k": 0, "top_p": 1}, None),
        ({"temperature": 0.7, "top_k": 0}, None),
    ],
)
def test_a_text_is_drawn_only_with_what_the_player_offers(said: dict[str, object], wish: DrawRequest | None) -> None:
    assert parse_request({"revision": "now", "step": 0, "wish": "draw", **said}, "now", 9, 100) == wish


@pytest.mark.parametrize(
    ("said", "wish"),
    [
        ({"step": 2, "token": 5}, BranchRequest(2, 5, "follow")),
        ({"step": 2, "text": " Wagen"}, BranchRequest(2, " Wagen", "follow")),
        ({"step": 2, "wish": "drop"}, BranchRequest(2, None, "drop")),
        ({"step": 2, "wish": "adopt"}, BranchRequest(2, None, "adopt")),
        ({"step": 2}, None),
        ({"step": 9, "token": 5}, None),
        ({"step": 2, "token": 100}, None),
        ({"step": 2, "token": True}, None),
        ({"step": 2, "text": "  "}, None),
        ({"step": 2, "text": "x" * 201}, None),
        ({"step": 2, "wish": "explode"}, None),
        ({"step": "2", "token": 5}, None),
    ],
)
def test_a_request_is_accepted_only_if_it_is_valid(said: dict[str, object], wish: Request | None) -> None:
    assert parse_request({"revision": "now", **said}, "now", 9, 100) == wish
    assert parse_request({"revision": "other", **said}, "now", 9, 100) is None


def step(*, first: float = 0.5, own: float = 0.27, rule: str | None = None, filtered: float | None = None) -> Step:
    """A step that chose "Auto" where "Wagen" had ``first``."""
    auto, wagen = Candidate(8, "Auto", own, 1.0, filtered), Candidate(7, "Wagen", first, 2.0)
    ranked = (wagen, auto) if first > own else (auto, wagen)
    return Step(0, 0, auto, ranked, 1.0, -1.3, rule)


LIKELIER = "“Wagen” was more probable (50%)."


@pytest.mark.parametrize(
    ("made", "given", "mode", "said"),
    [
        (step(first=0.2), False, "greedy", ""),
        (step(), False, "greedy", f"Not the most probable: {LIKELIER}"),
        (step(), False, "beam search", f"The beam's choice for the whole text: {LIKELIER}"),
        (step(), True, "given target", f"Given, not chosen. {LIKELIER}"),
        (step(first=0.2), True, "given target", "Given, and the model's own first choice too."),
        (step(rule="chosen by you"), False, "greedy", f"Chosen by you. {LIKELIER}"),
        (step(rule="kept from the first text"), False, "greedy", f"Kept from the first text. {LIKELIER}"),
        (step(first=0.2, filtered=0.4), False, "sampling", "Drawn with 40% at temperature 1."),
        (
            step(rule="minimum length"),
            False,
            "greedy",
            f"Decided by a rule: minimum length (the end was not allowed yet). {LIKELIER}",
        ),
        (step(first=0.2, rule="a rule of tomorrow"), False, "greedy", "Decided by a rule: a rule of tomorrow."),
    ],
)
def test_a_note_says_why_this_token(made: Step, given: bool, mode: str, said: str) -> None:
    assert messages.note(made, given=given, mode=mode) == said


def test_what_was_drawn_and_what_was_likelier_have_their_shares_of_one_temperature() -> None:
    """Of 20% and 80% temperature 2 makes sqrt(0.2) to sqrt(0.8), 1 to 2."""
    auto, wagen = Candidate(8, "Auto", 0.2, 1.0, 1 / 3), Candidate(7, "Wagen", 0.8, 2.0, 2 / 3)
    made = Step(0, 0, auto, (wagen, auto), 1.0, -1.6)
    said = messages.note(made, given=False, mode="sampling", temperature=2.0)
    assert said == "Drawn with 33% at temperature 2. “Wagen” was more probable (67%)."
    said = "“Auto” was drawn at temperature 2; at temperature 1 it had 20%"
    assert messages.chosen(made, given=False, temperature=2.0) == said
    assert messages.plainly(made, given=False, temperature=2.0) == f"{said}."
    cut = replace(made, candidates=(replace(wagen, filtered=0.0), auto))  # left out by a rule or a filter
    assert messages.note(cut, given=False, mode="sampling", temperature=2.0) == "Drawn with 33% at temperature 2."


@pytest.mark.parametrize(
    ("settings", "begin"),
    [
        ({"mode": "greedy"}, (1.0, 0, None)),
        ({"mode": "sampling", "temperature": 1.6, "top_k": 5, "top_p": 0.9, "seed": 1}, (1.6, 5, 0.9)),
        ({"mode": "sampling", "temperature": 0.7, "top_k": 0, "top_p": 1.0, "seed": 1}, (0.7, 0, None)),
        ({"mode": "sampling", "temperature": 0.75, "top_k": 5, "top_p": 0.9, "seed": 1}, (1.0, 0, None)),
    ],
)
def test_the_slider_begins_at_the_temperature_of_the_draw_where_it_has_it(
    record: Record, settings: dict[str, object], begin: tuple[float, int, float | None]
) -> None:
    made = replace(record, provenance=replace(record.provenance, settings=settings))
    heat = player.payload(made, layer=1, head=None, heat="later")["meta"]["heat"]
    at = heat["begin"]
    share = None if at["p"] < 0 else heat["shares"][at["p"]]
    assert (heat["temperatures"][at["warm"]], at["k"], share) == begin


@pytest.mark.parametrize(
    ("rule", "tag"),
    [
        (None, ""),
        ("no 3 tokens repeated", "no repeat"),
        ("forced first token", "fixed start"),
        ("forced end token", "max. length"),
        ("chosen by you", "yours"),
        ("kept from the first text", ""),
        ("a rule of tomorrow", "a rule of tomorrow"),
        ("no 3 tokens of the source", "not copied"),
        ("repetition penalty", "penalty"),
    ],
)
def test_a_rule_is_named_in_the_film_by_a_word_or_two(rule: str | None, tag: str) -> None:
    assert messages.tag(rule) == tag


def test_candidates_that_read_the_same_are_told_apart(record: Record) -> None:
    step = record.steps[1]
    first, second = step.candidates[:2]
    twins = replace(step, candidates=(first, replace(second, label=first.label)))
    changed = replace(record, steps=(record.steps[0], twins, *record.steps[2:]))
    sent = player.payload(changed, layer=1, head=None)["meta"]["steps"]
    assert [bar[0] for bar in sent[1]["candidates"]] == [first.label, f"{first.label} (2)"]
    assert sent[1]["note"].endswith(messages.another(f"{first.label} (2)"))
    assert not any("another token" in step["note"] for step in (sent[0], *sent[2:]))


def test_each_candidate_has_its_probability_of_being_drawn(record: Record) -> None:
    """Beside the model's own probability the share after temperature and filters, 0 for what they left out."""
    step = record.steps[1]
    candidates = tuple(replace(c, filtered=share) for c, share in zip(step.candidates, (0.8, 0.2, 0.0), strict=False))
    drawn = replace(step, chosen=replace(step.chosen, filtered=0.8), candidates=candidates)
    sent = player.payload(replace(record, steps=(record.steps[0], drawn, *record.steps[2:])), layer=1, head=None)[
        "meta"
    ]
    assert [bar[4] for bar in sent["steps"][1]["candidates"]] == [0.8, 0.2, 0.0][: len(candidates)]
    assert {bar[4] for bar in sent["steps"][2]["candidates"]} == {None}
    assert "as sampled" in sent["titles"]["choice"]
    assert "as sampled" in sent["some"]
    assert "as sampled" not in player.payload(record, layer=1, head=None)["meta"]["titles"]["choice"]


def test_how_a_token_came_is_the_first_part_of_its_sentence() -> None:
    assert messages.chosen(step(), given=False) == "“Auto” was chosen with 27%"
    assert messages.chosen(step(), given=True) == "“Auto” was given; the model gave it 27%"
    assert "decided by a rule" in messages.chosen(step(rule="forced first token"), given=False)
    assert "was drawn" in messages.chosen(step(filtered=0.4), given=False)


@pytest.mark.parametrize(
    ("first", "said"),
    [(0.92, "The model was sure"), (0.65, "The model was fairly sure"), (0.4, "The model was unsure")],
)
def test_a_beginner_reads_how_sure_the_model_was(first: float, said: str) -> None:
    likely, other = Candidate(1, "kaufen", first, 2.0), Candidate(2, "erwerben", 0.00034, 1.0)
    twin = Candidate(3, "kaufen", 0.01, 1.5)  # another token that is written the same is not the next best
    made = Step(0, 0, likely, (likely, twin, other), 1.0, -0.1)
    assert messages.plainly(made, given=False) == f"{said}: “kaufen” {percent(first)}, next best “erwerben” <0.1%."
    assert messages.plainly(made, given=True) == f"“kaufen” was given; the model gave it {percent(first)}."
    assert messages.plainly(replace(made, chosen=other), given=False) == "“erwerben” was chosen with <0.1%."


def test_a_beginner_reads_with_which_tokens_every_output_begins(record: Record) -> None:
    def title(of: Record) -> str:
        return str(player.payload(of, layer=0, head=0, plain=True)["meta"]["titles"]["output"])

    mark = record.attention("decoder").query.labels[0]
    said = "What it has written, and what comes next (every output begins with {start})"
    assert record.steps[0].rule != FORCED_FIRST_TOKEN
    assert title(record) == said.format(start=mark)
    first, *others = record.steps
    ruled = replace(record, steps=(replace(first, rule=FORCED_FIRST_TOKEN), *others))
    assert title(ruled) == said.format(start=f"{mark} {first.chosen.label}")
    assert title(decoded()) == "What it has written, and what comes next"  # it continues the text itself


def test_no_word_of_the_player_stands_in_its_files(record: Record) -> None:
    with speaking("pseudo"):
        sent = player.payload(record, layer=0, head=None)["meta"]
    told = [sent["titles"], sent["words"], *({name: line[name] for name in ("said",)} for line in sent["steps"])]
    for said in told:
        for message in said.values():
            assert all(form.startswith("⟦") for form in ([message] if isinstance(message, str) else message)), message
    used = set(re.findall(r'data-(?:say|title|label)="(\w+)"', COMPONENT.html))
    used |= set(re.findall(r'it\.say\("(\w+)"', COMPONENT.script))
    assert used <= sent["words"].keys(), used - sent["words"].keys()


def test_a_piece_is_named_with_its_word_and_the_words_have_their_colours(record: Record) -> None:
    colors = word_colors.of(record)
    sent = player.payload(record, layer=1, head=2, colors=colors)["meta"]
    said = [step["said"] for step in sent["steps"] if step["predicts"] == "fen"]
    assert len(said) == 1
    assert said[0].startswith("“fen” of “kaufen” was chosen with ")
    assert "The model was" not in said[0]
    assert [step["said"][:6] for step in sent["steps"] if step["predicts"] == "Auto"] == ["“Auto”"]
    assert len(sent["colors"]["columns"]) == len(sent["columns"])
    assert len(sent["colors"]["reads"]) == len(sent["colors"]["predicts"]) == len(sent["reads"])
    assert sent["colors"]["predicts"] == [number % 6 if number >= 0 else -1 for number in colors.predicts]
    assert player.payload(record, layer=1, head=2)["meta"]["colors"]["columns"] == []
