"""The decoding page as a script: what it sends to the player, what it says, what it does with odd links."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bartviz.record import Record
from bartviz.ui import session
from tests import records, stand_in
from tests.analysis.test_decoding import decoded

ROOT = Path(__file__).parents[2]


def opened(record: Record, **query: str) -> AppTest:
    """The page with this record as the visitor's last run."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.session_state[session.RECORD] = record
    for name, value in query.items():
        app.query_params[name] = value
    app.switch_page("pages/decoding.py").run()
    assert not app.exception
    return app


def sent(app: AppTest) -> dict[str, Any]:
    """The plain part of what the player was given."""
    meta: dict[str, Any] = json.loads(player(app).proto.mixed.json)["meta"]
    return meta


def player(app: AppTest) -> Any:
    """The one player of the page; None where there is none."""
    players = [part for part in app.get("bidi_component") if part.proto.component_name == "bartviz.player"]
    assert len(players) <= 1
    return players[0] if players else None


def test_the_steps_reach_the_player(record: Record) -> None:
    meta = sent(opened(record))
    assert [step["predicts"] for step in meta["steps"]] == [step.chosen.label for step in record.steps]
    assert meta["weights"] == "cross layer 1, mean of 4 heads"
    assert (meta["start"], meta["reading"]) == (0, "predicts")


@pytest.mark.parametrize(
    ("query", "start", "reading"),
    [
        ({"step": "4", "reading": "reads"}, 3, "reads"),
        ({"step": "99", "reading": "x"}, 8, "predicts"),
        ({"step": "-1"}, 0, "predicts"),
        ({"step": "abc"}, 0, "predicts"),
        ({"step": "0"}, 0, "predicts"),
        ({"step": "9" * 400}, 0, "predicts"),
        ({"step": "²"}, 0, "predicts"),
        ({"step": ""}, 0, "predicts"),
    ],
)
def test_a_link_restores_the_place_and_is_kept_within_the_record(
    record: Record, query: dict[str, str], start: int, reading: str
) -> None:
    app = opened(record, **query)
    meta = sent(app)
    assert (meta["start"], meta["reading"]) == (start, reading)
    assert app.query_params["step"] in (str(start + 1), [str(start + 1)])


def test_one_head_and_means_are_named(record: Record) -> None:
    assert sent(opened(record, weights="one head", layer="2", head="3"))["weights"] == "cross L2H3"
    assert sent(opened(record, weights="mean of all"))["weights"] == "cross, mean of 3 layers x 4 heads"
    assert sent(opened(record, weights="one head", layer="99", head="-5"))["weights"] == "cross L1H0"


def test_an_encoder_only_model_is_told_what_to_choose() -> None:
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
