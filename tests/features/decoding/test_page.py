"""The decoding page as a script: the player's data, its texts, and odd links."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bartviz.analysis import start
from bartviz.app.components import canvas as canvas_module
from bartviz.app.components.player import BranchRequest
from bartviz.app.controls import tasks as task_module
from bartviz.app.state import session, url_state
from bartviz.browser.canvas.data import decode
from bartviz.features.decoding import page
from bartviz.language import _, speaking
from bartviz.record.record import Record
from tests.analysis.test_decoding import decoded
from tests.support import records, stand_in, trees, visits
from tests.support.visits import words

opened = partial(visits.opened, "decoding")


def sent(app: AppTest) -> dict[str, Any]:
    """The plain part of what the player was given."""
    meta: dict[str, Any] = json.loads(player(app).proto.mixed.json)["meta"]
    return meta


def player(app: AppTest) -> Any:
    """The one player of the page; None where there is none."""
    players = [part for part in app.get("bidi_component") if part.proto.component_name == "bartviz.player"]
    assert len(players) <= 1
    return players[0] if players else None


def hardest(record: Record) -> int:
    """The index of the step of least probability among those that write a word and that no rule decided."""
    free = [index for index, step in enumerate(record.steps) if step.rule is None]
    words = [index for index in free if record.steps[index].chosen.label.strip("⋯").isalnum()]
    return min(words or free, key=lambda index: record.steps[index].chosen.probability)


@pytest.mark.slow
def test_the_steps_reach_the_player(record: Record) -> None:
    meta = sent(opened(record))
    assert [step["predicts"] for step in meta["steps"]] == [step.chosen.label for step in record.steps]
    assert meta["weights"] == f"cross {start.ribbons(record).head.short}"
    assert (meta["start"], meta["reading"]) == (hardest(record), "predicts")


@pytest.mark.parametrize(
    ("query", "start", "reading"),
    [
        ({"step": "4", "reading": "reads"}, 3, "reads"),
        ({"step": "99", "reading": "x"}, 8, "predicts"),
        ({"step": "-1"}, None, "predicts"),
        ({"step": "abc"}, None, "predicts"),
        ({"step": "0"}, 0, "predicts"),
        ({"step": "9" * 400}, None, "predicts"),
        ({"step": "²"}, None, "predicts"),
        ({"step": ""}, None, "predicts"),
    ],
)
def test_a_link_restores_the_position_clamped_to_the_record(
    record: Record, query: dict[str, str], start: int | None, reading: str
) -> None:
    start = hardest(record) if start is None else start
    app = opened(record, **query)
    meta = sent(app)
    assert (meta["start"], meta["reading"]) == (start, reading)
    assert app.query_params["step"] in (str(start + 1), [str(start + 1)])


def canvas(app: AppTest) -> Any:
    """What the canvas of all heads was told; None where there is none."""
    found = [part for part in app.get("bidi_component") if part.proto.component_name == "bartviz.canvas"]
    return decode(found[0].proto.bytes)[0] if found else None


def test_all_heads_are_made_when_they_are_asked_for(record: Record) -> None:
    assert canvas(opened(record)) is None
    meta = canvas(opened(record, all_heads="true", step="4", step_weights="head", layer="2", head="3"))
    assert (meta["kind"], meta["predicts"], meta["alone"], meta["page_keys"]) == ("cross", True, False, False)
    begin = meta["begin"]
    assert [begin[name] for name in ("layer", "head", "what", "row")] == [2, 3, "head", record.steps[3].row]
    assert meta["steps"]["rows"] == [step.row for step in record.steps]
    begin = canvas(opened(record, all_heads="true", step="2", reading="reads"))["begin"]
    first = start.ribbons(record).head
    assert [begin[name] for name in ("layer", "head", "what", "row")] == [
        first.layer,
        first.head,
        "head",
        record.steps[1].row,
    ]


def test_a_step_sends_nothing_to_the_canvas_again(record: Record) -> None:
    app = opened(record, all_heads="true", step="4")
    before = canvas(app)
    app.query_params["step"] = "6"
    app.run()
    after = canvas(app)
    assert (after["revision"], after["serial"], after["begin"]) == (before["revision"], 0, before["begin"])


def test_several_rows_and_columns_of_all_heads_are_in_the_link(record: Record) -> None:
    query: dict[str, Any] = {"all_heads": "true", "step": "4", "chosen_row": ["1", "4"], "chosen_column": ["2", "3"]}
    app = opened(record, **query)
    begin = canvas(app)["begin"]
    assert (begin["rows"], begin["keys"]) == ([1, 4], [2, 3])
    assert app.query_params["chosen_row"] == ["1", "4"]
    held = app.session_state["_canvas_decoding_canvas"]
    held.latest = replace(held.latest, rows=(), keys=(5,))  # as the browser says it
    app.run()
    assert "chosen_row" not in app.query_params
    assert app.query_params["chosen_column"] == "5"


def test_a_head_chosen_among_all_is_not_undone_by_the_closed_pickers(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(record, all_heads="true", step="4", layer="1", head="1")
    assert app.slider(key="head").value == 1
    held = app.session_state["_canvas_decoding_canvas"]
    chosen = replace(held.latest, layer=2, head=3)
    monkeypatch.setattr(canvas_module, "catch_up", lambda _key: held.on_change(chosen))  # as the browser says it
    app.run()
    assert (app.slider(key="layer").value, app.slider(key="head").value) == (2, 3)
    assert (canvas(app)["begin"]["layer"], canvas(app)["begin"]["head"]) == (2, 3)


@pytest.mark.parametrize(("said", "seen"), [("lines", "lines"), ("text", "text"), ("nonsense", "map")])
def test_how_all_heads_are_shown_is_in_the_link(record: Record, said: str, seen: str) -> None:
    app = opened(record, all_heads="true", view=said)
    assert canvas(app)["begin"]["view"] == seen
    app.run()
    assert canvas(app)["begin"]["view"] == seen
    held = app.session_state["_canvas_decoding_canvas"]
    held.latest = replace(held.latest, view="lines")  # as the browser says it
    app.run()
    assert app.query_params["view"] in ("lines", ["lines"])


def test_all_heads_of_a_decoder_alone_are_its_own() -> None:
    given = decoded()
    meta = canvas(opened(given, all_heads="true", step="2"))
    assert (meta["kind"], meta["begin"]["row"]) == ("decoder", given.steps[1].row)


def test_it_opens_where_the_model_was_least_sure(record: Record) -> None:
    rare = replace(record.steps[2].chosen, probability=0.001)
    unsure = replace(record, steps=(*record.steps[:2], replace(record.steps[2], chosen=rare), *record.steps[3:]))
    assert sent(opened(unsure))["start"] == 2
    forced = replace(unsure, steps=(*unsure.steps[:2], replace(unsure.steps[2], rule="kept"), *unsure.steps[3:]))
    assert sent(opened(forced))["start"] == hardest(forced) != 2


def test_one_head_and_means_are_named(record: Record) -> None:
    assert sent(opened(record, step_weights="one head", layer="2", head="3"))["weights"] == "cross L2H3"
    assert sent(opened(record, step_weights="mean of all"))["weights"] == "cross, mean of 3 layers x 4 heads"
    first = start.ribbons(record).head
    assert sent(opened(record))["weights"] == f"cross {first.short}"
    assert sent(opened(record, layer="99", head="-5"))["weights"] == f"cross {first.short}"


def test_an_encoder_only_model_is_refused_with_the_choices() -> None:
    app = opened(records.encoder_only())
    said = " ".join(box.value for box in app.info)
    assert "reads the whole text at once" in said
    assert "gpt2" in said
    assert "bert-base-uncased" not in said
    assert player(app) is None


def test_a_record_without_steps_asks_for_a_run() -> None:
    assert "Press **Run**" in opened(records.decoder_only()).info[0].value


def test_a_decoder_plays_its_prompt_and_continuation() -> None:
    meta = sent(opened(decoded(prompt=3)))
    assert meta["kind"] == "decoder"
    assert meta["first"] == 3


def test_given_outputs_say_so(record: Record) -> None:
    given = replace(record, provenance=replace(record.provenance, settings={"mode": "given target"}))
    assert sent(opened(given))["given"] is True


def test_tokens_of_the_visitor_stay_text() -> None:
    odd = ("<s>", "<b>x</b>", " ![a](http://x.y/z)", " %{z}", " :red[r]", "</s>")
    app = opened(records.encoder_decoder(odd, odd))
    for part in app.markdown:
        assert "http://x.y" not in part.value
        assert "<b>x" not in part.value
    assert sent(app)["columns"] == [label.strip() for label in odd]


def test_one_step_is_enough() -> None:
    assert len(sent(opened(records.encoder_decoder(("<s>", "Hi", "</s>"), ("</s>",))))["steps"]) == 1


def test_another_text_starts_at_its_own_first_step(record: Record) -> None:
    app = opened(record, step="5")
    app.session_state[session.RECORD] = stand_in.record(source=("<s>", "Hi", "</s>"))
    app.query_params["step"] = "1"
    app.run()
    assert sent(app)["start"] == 0


BRANCH = ("<s>", "Ich", " will", " ein", " Auto", " kau", "fen", ".", "</s>")


def branched(record: Record) -> Record:
    """The record's source with another output: its third token is another."""
    other = stand_in.record(output=BRANCH)
    token = replace(other.steps[2].chosen, token_id=777)
    return replace(other, steps=(*other.steps[:2], replace(other.steps[2], chosen=token), *other.steps[3:]))


class Tasks:
    """In place of the tasks: what was begun, and its result."""

    def __init__(self, result: Record | None) -> None:
        self.result = result
        self.asked: list[dict[str, Any]] = []

    def begin(self, name: str, model: str, key: dict[str, Any], work: Any) -> None:
        self.asked.append(dict(key) | {"model": model})

    def begun(self, name: str) -> dict[str, Any] | None:
        return self.asked[-1] if self.asked else None

    def show(self, name: str) -> Record | None:
        return self.result if self.asked else None

    def drop(self, name: str) -> None:
        self.asked.clear()


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch, record: Record) -> Tasks:
    found = Tasks(branched(record))
    for name in ("begin", "begun", "show", "drop"):
        monkeypatch.setattr(task_module, name, getattr(found, name))
    return found


def test_a_link_with_a_branch_shows_both(record: Record, tasks: Tasks) -> None:
    app = opened(record, branch="3.77")
    assert [(asked["step"], asked["token"], asked["model"]) for asked in tasks.asked] == [(2, 77, "stand-in")]
    branch = sent(app)["branch"]
    assert not sent(app)["follows"]  # the link names the step, too
    assert [step["predicts"] for step in branch["steps"]][:3] == ["<s>", "Ich", "will"]
    assert (branch["parts"], branch["meets"]) == (2, [3, 3])
    assert "The two texts diverge at step 3: “möchte” (82%) against “will” (82%)." in branch["said"]
    assert "branch" in app.query_params


@pytest.mark.parametrize(
    "link", ["", "x", "0.5", "99.5", "3.", "3.abc", "3.99999999", "3.100", "3~", "²~x", "3~" + "y" * 300]
)
def test_a_link_to_no_branch_is_removed(record: Record, tasks: Tasks, link: str) -> None:
    app = opened(record, branch=link)
    assert tasks.asked == []
    assert sent(app)["branch"] is None
    assert "branch" not in app.query_params


def test_a_typed_branch_stands_in_the_link_only_where_texts_do(record: Record, tasks: Tasks) -> None:
    app = opened(record, branch="3~will")
    assert tasks.asked[0]["token"] == " will"  # the token that stands there begins a word
    assert "branch" not in app.query_params


def test_another_record_has_no_branch(record: Record, tasks: Tasks) -> None:
    app = opened(record, branch="3.77")
    app.session_state[session.RECORD] = stand_in.record(source=("<s>", "Hi", "</s>"))
    app.run()
    assert sent(app)["branch"] is None
    assert tasks.asked == []


def requesting(app: AppTest, record: Record, request: BranchRequest) -> None:
    """What the page does when the player sends this request; the player itself runs only in browsers."""

    def script(record: object, request: object) -> None:
        from bartviz.features.decoding import parts_branches as branches

        branches.handle(record, request)  # type: ignore[arg-type]

    inner = AppTest.from_function(script, default_timeout=120, kwargs={"record": record, "request": request})
    for key in ("_branch_shown", "_branch_left", session.RECORD):
        if key in app.session_state:
            inner.session_state[key] = app.session_state[key]
    for name, value in dict(app.query_params).items():
        inner.query_params[name] = value
    inner.run()
    assert not inner.exception
    if "branch" not in inner.query_params and "branch" in app.query_params:
        del app.query_params["branch"]
    for key in ("_branch_shown", "_branch_left", session.RECORD):
        if key in inner.session_state:
            app.session_state[key] = inner.session_state[key]


def test_wishes_of_the_player(record: Record, tasks: Tasks) -> None:
    app = opened(record)
    requesting(app, record, BranchRequest(4, 12, "follow"))
    assert (tasks.asked[-1]["step"], tasks.asked[-1]["token"]) == (4, 12)
    app.run()
    assert sent(app)["branch"] is not None
    requesting(app, record, BranchRequest(0, None, "adopt"))
    assert app.session_state[session.RECORD] is tasks.result
    assert tasks.asked == []
    app.run()
    assert [step["predicts"] for step in sent(app)["steps"]][2] == "will"
    assert sent(app)["branch"] is None


def test_a_branch_is_in_the_link_again_after_another_page(record: Record, tasks: Tasks) -> None:
    app = opened(record, branch="3.77")
    del app.query_params["branch"]  # as another page does
    app.run()
    assert app.query_params["branch"] in ("3.77", ["3.77"])


def test_an_interrupted_request_is_completed_by_the_next_run(record: Record, tasks: Tasks) -> None:
    app = opened(record)
    app.session_state["_branch_request"] = BranchRequest(4, 12, "follow")
    app.run()
    app.run()
    assert [(asked["step"], asked["token"]) for asked in tasks.asked] == [(4, 12)]


def test_a_branch_is_dropped(record: Record, tasks: Tasks) -> None:
    app = opened(record, branch="3.77")
    requesting(app, record, BranchRequest(0, None, "drop"))
    assert tasks.asked == []


def test_the_beam_tree_is_drawn_and_chosen() -> None:
    app = opened(trees.record())
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    assert sum(len(trace["x"]) for trace in figure["data"] if trace["mode"] == "markers+text") == 12
    assert "2 texts ended" in words(app)
    app = opened(trees.record(), tree="texts that ended")
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    assert sum(len(trace["x"]) for trace in figure["data"] if trace["mode"] == "markers+text") == 6


def test_greedy_search_can_be_followed_beside_the_beams(tasks: Tasks) -> None:
    app = opened(trees.record())
    button = next(button for button in app.main.button if button.label == "Follow greedy search from step 1")
    button.click().run()
    assert (tasks.asked[0]["step"], tasks.asked[0]["token"], tasks.asked[0]["greedy"]) == (0, 10, True)


def test_without_beams_there_is_no_tree(record: Record) -> None:
    assert not opened(record).get("plotly_chart")


def test_a_given_output_is_described_token_by_token() -> None:
    odd = stand_in.record(output=("<s>", "<b>x</b>", " 어텐션", "</s>"))
    given = replace(odd, provenance=replace(odd.provenance, settings={"mode": "given target"}))
    said = words(opened(given))
    assert "4 of 4 tokens are the model&#x27;s own first choice" in said
    assert "<bdi>&lt;b&gt;x&lt;/b&gt;</bdi>" in said
    assert "<bdi>어텐션</bdi>" in said
    assert "perplexity" not in words(opened(stand_in.record()))


@pytest.mark.parametrize(("level", "said"), [("beginner", False), ("intermediate", True)])
def test_what_a_step_computes_is_not_said_to_beginners(record: Record, level: str, said: bool) -> None:
    assert sent(opened(record, level=level))["costs"] is said


def test_a_beginner_gets_words_and_bars(record: Record) -> None:
    app = opened(record)
    assert sent(app)["plain"] is True
    assert "east sure" not in words(app)
    assert "step_weights" not in app.session_state  # the head that the start page draws, without pickers
    assert sent(opened(record, level="intermediate"))["plain"] is False
    chosen = sent(
        opened(record, step_weights="one head", layer="2", head="3")
    )  # a link's head is shown to beginners too
    assert (chosen["plain"], chosen["weights"]) == (True, "cross L2H3")


def test_a_beginner_is_told_what_to_touch(record: Record) -> None:
    assert words(opened(record)).count(page.TO_DO) == 1
    assert page.TO_DO not in words(opened(record, level="intermediate"))  # which has another sentence there


@pytest.mark.parametrize(
    ("level", "query", "offered"),
    [
        ("beginner", {}, False),
        ("intermediate", {}, False),
        ("expert", {}, True),
        ("beginner", {"reading": "reads"}, True),
    ],
)
def test_experts_and_links_alone_switch_the_names_of_rows(
    record: Record, level: str, query: dict[str, str], offered: bool
) -> None:
    assert sent(opened(record, level=level, **query))["naming"] is offered


def test_tokens_that_are_not_shown_are_counted(record: Record) -> None:
    meta = sent(opened(record))
    assert meta["vocabulary"] == record.model.vocabulary > max(len(step["candidates"]) for step in meta["steps"])


def test_rules_are_named_with_their_steps(record: Record) -> None:
    settings = {"mode": "greedy", "rules": ("forced", "minimum length")}
    ruled = replace(record, provenance=replace(record.provenance, settings=settings))
    assert "Rules in force, and where they decided: forced (step 1); minimum length (no step)." in words(
        opened(ruled, level="intermediate")
    )
    assert "Rules in force" not in words(opened(ruled))


def test_how_the_text_was_made_is_stated(record: Record) -> None:
    settings = {"mode": "sampling", "temperature": 0.7, "seed": 3, "rules": (), "forced": ()}
    drawn = replace(record, provenance=replace(record.provenance, settings=settings))
    assert "How this text was made" not in words(opened(drawn))
    said = words(opened(drawn, level="intermediate"))
    assert "How this text was made: mode: sampling; temperature: 0.7; seed: 3; stopped by: &lt;/s&gt;." in said


def test_a_dropped_branch_stays_away_when_a_slow_browser_sends_its_address_once_more(
    record: Record, tasks: Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(record, branch="3.77")
    requesting(app, record, BranchRequest(0, None, "drop"))
    app.query_params["branch"] = "3.77"
    app.run()
    assert tasks.asked == []
    assert "branch" not in app.query_params
    monkeypatch.setattr(url_state, "is_back", lambda: True)  # the visitor has gone back to it
    app.query_params["branch"] = "3.77"
    app.run()
    assert [(asked["step"], asked["token"]) for asked in tasks.asked] == [(2, 77)]


def test_the_address_of_an_adopted_branch_makes_no_branch_of_it(record: Record, tasks: Tasks) -> None:
    app = opened(record, branch="3.77")
    requesting(app, record, BranchRequest(0, None, "adopt"))
    app.query_params["branch"] = "3.77"
    app.run()
    assert sent(app)["branch"] is None
    assert tasks.asked == []


@pytest.mark.parametrize("code", ["en", "ko"])
def test_the_explanation_names_the_sections_where_the_method_is_chosen(record: Record, code: str) -> None:
    labels = ("More", "Decoding settings")
    assert {*labels} <= {section.label for section in opened(record).sidebar.expander}
    explanation = Path(page.__file__).with_name(f"explanation.{code}.md").read_text("utf-8")
    with speaking(code):
        assert all(f"*{_(label)}*" in explanation for label in labels)
