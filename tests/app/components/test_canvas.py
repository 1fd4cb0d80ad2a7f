"""The canvas: the data it gets, the validation of its messages, and its arithmetic in JavaScript."""

import base64
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bartviz.analysis import head_view, start, word_colors
from bartviz.app.components import canvas
from bartviz.browser.canvas import data
from bartviz.browser.canvas.data import Choice, Picture, Shown, Steps
from bartviz.browser.canvas.messages import messages
from bartviz.drawing.colors import WORDS
from bartviz.language import speaking
from bartviz.record.record import Record
from tests.support import node, records, stand_in


def sent(picture: Picture, choice: Choice) -> tuple[dict[str, Any], dict[str, Any]]:
    meta, found = data.decode(picture.pack(choice, 0))
    return meta, found


@pytest.mark.slow
def test_the_arithmetic_of_the_browser() -> None:
    written = data.encode(
        {"said": "어텐션 <b>"},
        {"tiles": np.array([[0, 1], [258, 65535]], np.uint16), "mask": np.array([160], np.uint8)},
    )
    tiles = np.array([[0, 1, 254, 255, 65535, 7, 256, 3]], np.uint16)
    tokens = stand_in.tokens(("a", " b", " c"))
    attention = stand_in.attention("cross", tokens, tokens, layers=2, heads=3)
    told = {
        "BUFFER": base64.b64encode(written).decode(),
        "SPLIT": base64.b64encode(data.encode({}, data.split(tiles))).decode(),
        "TILES": json.dumps(tiles[0].tolist()),
    }
    ways: dict[str, dict[str, bool]] = {
        "WORDS": {},
        "PREDICTING": {"predicts": True},
        "PLAIN": {"plain": True},
        "PLAIN_PREDICTING": {"predicts": True, "plain": True},
        "APART": {"apart": True},
        "PLAIN_APART": {"plain": True, "apart": True},
    }
    for name, how in ways.items():
        told[name] = json.dumps(messages(attention, **{"predicts": False, "renormalised": False} | how))
    node.run_tests(Path(__file__).with_name("canvas.test.mjs"), **told)


def test_a_difference_of_two_heads_is_sent_with_none_in_the_middle(record: Record) -> None:
    attention, other = record.attention("cross"), record.attention("decoder")
    shown = Shown(record.output, against=data.Against(attention, (0, 1), (2, 3), record.output))
    meta, found = sent(Picture(attention, shown), Choice(0, 1))
    apart = attention.head(2, 3) - attention.head(0, 1)
    assert np.abs(apart).max() <= meta["limit"] <= np.abs(apart).max() + 0.1
    back = (2.0 * found["tiles"][0] / meta["unit"] - 1) * meta["limit"]
    np.testing.assert_allclose(back, apart, atol=2e-5)
    assert record.output is not None
    assert meta["query"] == list(record.output.labels)
    same = Shown(against=data.Against(attention, (0, 1), (0, 1)))
    meta, found = sent(Picture(attention, same), Choice(0, 1))
    assert set(found["tiles"].ravel().tolist()) == {meta["unit"] // 2}
    meta, _ = sent(Picture(attention, Shown(overview=False)), Choice())
    assert meta["limit"] is None
    masked = Shown(against=data.Against(other, (0, 1), (2, 3)))
    np.testing.assert_array_equal(Picture(other, masked).view(Choice()).mask, other.mask)


def test_two_texts_name_a_row_of_their_difference_by_both_tokens() -> None:
    one, two = (stand_in.tokens(("<s>", f" {word}", "</s>")) for word in ("buy", "sell"))
    a, b = (stand_in.attention("encoder", tokens, tokens, layers=1, heads=2) for tokens in (one, two))
    shown = Shown(against=data.Against(b, (0, 0), (0, 1)))
    meta, _ = sent(Picture(a, shown), Choice())
    assert meta["key"][1] == meta["query"][1] == "buy / sell"


@pytest.mark.slow
@given(arrays.arrays(np.float32, 50, elements=st.floats(0, 1, width=32)))
def test_codes_keep_three_decimals(weights: np.ndarray) -> None:
    back = data.codes(weights) / data.UNIT
    assert [f"{value:.3f}" for value in back] == [f"{value:.3f}" for value in weights.tolist()]
    np.testing.assert_allclose(back, weights, atol=1.6e-5)


def test_codes_at_the_edges_of_rounding() -> None:
    edges = np.array([0, 1, 1 / 16, 0.0005, 0.4995, 0.9995, 0.99951, 1 + 1e-7], np.float32)
    assert [f"{value / data.UNIT:.3f}" for value in data.codes(edges)] == [f"{min(v, 1):.3f}" for v in edges.tolist()]


@pytest.mark.slow
@given(arrays.arrays(np.uint16, (2, 3, 5), elements=st.sampled_from([0, 1, 254, 255, 256, 65535])))
def test_split_codes_come_together_again(tiles: np.ndarray) -> None:
    parts = data.split(tiles)
    assert sum(part.nbytes for part in parts.values()) <= tiles.nbytes
    _, found = data.decode(data.encode({}, parts))
    np.testing.assert_array_equal(found["tiles"], tiles)


@pytest.mark.parametrize("large", [1, 16, 257, 1024])
def test_a_map_of_1024_tokens_is_under_two_megabytes_whatever_its_weights(large: int) -> None:
    weights = np.zeros((1024, 1024), np.float32)
    weights[:, :large] = 1 / large
    parts = data.split(data.codes(weights)[None])
    assert sum(part.nbytes for part in parts.values()) < 1_600_000


def test_every_head_and_mean_of_a_short_text_is_sent(record: Record) -> None:
    attention = record.attention("cross")
    meta, found = sent(Picture(attention, Shown()), Choice())
    assert meta["exact"]
    assert found["tiles"].shape == (3 * 5 + 1, 9, 9)
    for layer, head in np.ndindex(3, 4):
        place = meta["tiles"].index(layer * 5 + head)
        np.testing.assert_allclose(found["tiles"][place] / 65535, attention.head(layer, head), atol=1.6e-5)
    np.testing.assert_allclose(found["tiles"][-1] / 65535, head_view.mean(attention), atol=1.6e-5)
    assert "mask" not in found


def test_a_mask_is_sent_as_bits(record: Record) -> None:
    _, found = sent(Picture(record.attention("decoder"), Shown()), Choice())
    np.testing.assert_array_equal(np.unpackbits(found["mask"], axis=1)[:, :9], np.tril(np.ones((9, 9))))


def test_words_and_hidden_columns_are_sent_as_they_are_shown(record: Record) -> None:
    attention = record.attention("cross")
    shown = Shown(record.output, words=True, hide_sinks=True)
    meta, found = sent(Picture(attention, shown), Choice())
    view = head_view.view(attention, 1, 2, query=record.output, words=True, hide_sinks=True)
    place = meta["tiles"].index(1 * 5 + 2)
    np.testing.assert_allclose(found["tiles"][place] / 65535, view.weights, atol=1.6e-5)
    np.testing.assert_allclose(found["hidden"][place] / 65535, view.hidden, atol=1.6e-5)
    assert meta["query"] == list(view.query_labels)
    assert "kaufen" in meta["query"]
    assert meta["predicts"]
    assert meta["hidden"] == ["<s>", ".", "</s>"]
    assert [(text, place) for text, place, *_ in meta["key_text"]] == [
        ("<s>", -1),
        ("I", 0),
        ("want", 1),
        ("to", 2),
        ("buy", 3),
        ("a", 4),
        ("car", 5),
        (".", -1),
        ("</s>", -1),
    ]


def test_pieces_of_a_word_touch(record: Record) -> None:
    meta, _ = sent(Picture(record.attention("cross"), Shown(record.output)), Choice())
    assert [text for text, _, _, joined in meta["query_text"] if joined] == ["fen"]


def long(n: int = 200) -> Any:
    labels = ("<s>", *(f" w{place}" for place in range(n - 2)), "</s>")
    return stand_in.attention("encoder", stand_in.tokens(labels), stand_in.tokens(labels))


def test_a_long_text_gets_small_maps_and_exact_ones_on_demand() -> None:
    attention = long()
    picture = Picture(attention, Shown())
    meta, found = sent(picture, Choice(1, 2))
    assert not meta["exact"]
    assert found["small"].shape == (3, 4, 64, 64)
    assert meta["tiles"] == [5, 6, 7, 8]  # the heads of layer 1
    np.testing.assert_allclose(found["tiles"][2] / 65535, attention.head(1, 2), atol=1.6e-5)
    meta, found = sent(picture, Choice(1, 2, "all"))
    assert meta["tiles"] == [15]
    np.testing.assert_allclose(found["tiles"][0] / 65535, head_view.mean(attention), atol=1.6e-5)


def test_only_the_head_itself_comes_where_a_layer_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "LAYER", 1000)
    assert sent(Picture(long(), Shown()), Choice(1, 2))[0]["tiles"] == [7]


def test_the_overview_of_many_heads_and_tokens_is_small() -> None:
    labels = ("<s>", *(f" wörter{place}" for place in range(510)), "</s>")
    tokens = stand_in.tokens(labels)
    attention = stand_in.attention("decoder", tokens, tokens, layers=12, heads=12)
    picture = Picture(attention, Shown())
    buffer = picture.pack(Choice(), 0)
    _, found = data.decode(buffer)
    assert len(buffer) - found["tiles"].nbytes < 600_000
    assert len(buffer) < 2_000_000


def test_a_map_of_1024_tokens_comes_after_the_small_ones() -> None:
    attention = long(1024)
    first = canvas._held(None, attention, Shown(), Choice(1, 2), mounted=False)
    meta, found = data.decode(first.buffer)
    assert (meta["tiles"], found["tiles"].shape, first.known) == ([], (0, 1024, 1024), False)
    assert len(first.buffer) < 600_000
    then = canvas._held(first, attention, Shown(), Choice(1, 2), mounted=True)
    meta, found = data.decode(then.buffer)
    assert (meta["tiles"], then.known) == ([1 * 5 + 2], True)
    np.testing.assert_allclose(found["tiles"][0] / 65535, attention.head(1, 2), atol=1.6e-5)
    assert len(then.buffer) < 0.8 * found["tiles"].nbytes
    assert len(then.buffer) < 2_000_000


@pytest.mark.parametrize("source", [("<s>",), ("어텐션", " 👩‍👧", "<img src=x>")])
def test_any_tokens_travel(source: tuple[str, ...]) -> None:
    tokens = stand_in.tokens(source)
    meta, found = sent(Picture(stand_in.attention("encoder", tokens, tokens), Shown(words=True)), Choice())
    assert len(meta["query_text"]) == found["tiles"].shape[1]


def test_a_pair_and_padding_are_described() -> None:
    attention = records.encoder_decoder(padding=2).attention("encoder")
    meta, found = sent(Picture(attention, Shown()), Choice())
    assert "mask" in found
    assert len(meta["key_text"]) == len(meta["key"])


GOOD = {"layer": 1, "head": 2, "what": "head", "row": 3, "view": "map", "rows": [1, 3], "keys": [0]}


def test_a_valid_choice_is_accepted() -> None:
    assert canvas.choice_of(GOOD, (3, 4, 9, 9)) == Choice(1, 2, "head", 3, "map", (1, 3), (0,))


@pytest.mark.parametrize(
    "wrong",
    [
        {"layer": 3},
        {"head": -1},
        {"row": 9},
        {"row": True},
        {"row": 1.5},
        {"what": "x"},
        {"view": None},
        {"rows": [9]},
        {"rows": "x"},
        {"rows": [3, 1]},
        {"keys": [1, 1]},
        {"keys": ["a"]},
        {"keys": None},
    ],
)
def test_an_invalid_choice_is_ignored(wrong: dict[str, Any]) -> None:
    assert canvas.choice_of({**GOOD, **wrong}, (3, 4, 9, 9)) is None


def test_a_choice_is_clamped_to_the_attention() -> None:
    far = Choice(9, -1, "head", 99, "text", (2, 50), (7, 1))
    assert canvas.clamped(far, (3, 4, 9, 5)) == Choice(2, 0, "head", 8, "text", (2,), (1,))


def held(record: Record, choice: Choice | None = None, before: canvas._Held | None = None) -> canvas._Held:
    """What ``show`` keeps, without a browser."""
    return canvas._held(before, record.attention("cross"), Shown(), choice, mounted=before is not None)


def test_what_the_browser_chose_is_not_sent_back(record: Record) -> None:
    first = held(record, Choice(1, 1))
    told = replace(first, latest=Choice(2, 3, row=4))
    again = held(record, Choice(2, 3, row=4), told)
    assert again.buffer is first.buffer
    assert again.latest == Choice(2, 3, row=4)


def test_what_a_picker_chose_is_sent(record: Record) -> None:
    first = held(record, Choice(1, 1))
    again = held(record, Choice(0, 3), first)
    assert again.serial == 1
    assert data.decode(again.buffer)[0]["begin"]["head"] == 3


def test_without_pickers_the_browser_keeps_its_choice(record: Record) -> None:
    told = replace(held(record, Choice(1, 1)), latest=Choice(2, 3))
    assert held(record, Choice(1, 1), told).latest == Choice(2, 3)


def test_a_picker_sends_no_map_that_is_there(record: Record) -> None:
    first = held(record, Choice(1, 1))
    meta, found = data.decode(held(record, Choice(0, 3), first).buffer)
    assert meta["light"]
    assert found["tiles"].shape == (0, 9, 9)
    assert len(held(record, Choice(0, 3), first).buffer) < len(first.buffer) / 2


def test_a_browser_that_lost_the_picture_is_sent_all_of_it() -> None:
    attention = long()
    before = canvas._Held(Picture(attention, Shown()), b"", 3, Choice(), Choice(2, 0), known=True, whole=False)
    meta, found = data.decode(canvas._held(before, attention, Shown(), Choice(), mounted=True).buffer)
    assert not meta["light"]
    assert "small" in found
    assert meta["serial"] == 3


def test_the_row_of_a_player_is_no_choice(record: Record) -> None:
    shown = Shown(steps=Steps("mark", (0, 1, 2)))
    first = canvas._held(None, record.attention("cross"), shown, Choice(1, 1, row=1), mounted=False)
    again = canvas._held(first, record.attention("cross"), shown, Choice(1, 1, row=2), mounted=True)
    assert again.buffer is first.buffer
    led = canvas._held(again, record.attention("cross"), shown, Choice(2, 1, row=2), mounted=True)
    assert (led.serial, led.latest) == (1, Choice(2, 1, row=1))


def test_an_interrupted_message_is_handled_once_by_the_next_run(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Choice] = []
    kept = held(record, Choice(1, 1))
    said = {**GOOD, "revision": kept.picture.revision, "known": True}
    monkeypatch.setattr(streamlit, "session_state", {"_canvas_x": kept, "x": {"choice": said}})

    def broken(_: Choice) -> None:
        raise KeyboardInterrupt

    kept.on_change = broken
    with pytest.raises(KeyboardInterrupt):
        canvas.catch_up("x")
    kept.on_change = told.append
    canvas.catch_up("x")
    canvas.catch_up("x")
    assert told == [Choice(1, 2, "head", 3, "map", (1, 3), (0,))]


def test_the_browser_returns_to_its_choice_from_before_a_picker(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page and canvas showed two heads: the newer choice was the page's, the older one the canvas's."""
    led = held(record, Choice(0, 3), held(record, Choice(1, 1)))
    said = {**GOOD, "revision": led.picture.revision, "serial": led.serial - 1, "known": True}
    monkeypatch.setattr(streamlit, "session_state", {"_canvas_x": led, "x": {"choice": said}})
    canvas.catch_up("x")
    again = held(record, led.latest, led)
    begin = data.decode(again.buffer)[0]
    assert (begin["begin"]["layer"], begin["begin"]["head"]) == (1, 2) == again.latest.core[:2]
    assert begin["serial"] == led.serial + 1
    assert held(record, again.latest, again).buffer is again.buffer  # said once


def test_the_small_maps_of_one_layer_need_no_new_picture(record: Record) -> None:
    first = held(record, Choice(1, 1))
    again = canvas._held(first, record.attention("cross"), Shown(), Choice(1, 1), "layer", mounted=True)
    assert data.decode(again.buffer)[0]["layers"] == "layer"
    assert again.picture is first.picture
    assert again.serial == first.serial


def test_back_from_another_page_all_is_sent_again(record: Record) -> None:
    told = replace(held(record, Choice(1, 1)), latest=Choice(1, 1, rows=(2, 3)), buffer=b"")
    again = canvas._held(told, record.attention("cross"), Shown(), Choice(1, 1), mounted=False)
    assert data.decode(again.buffer)[0]["begin"]["rows"] == [2, 3]


def test_a_map_that_the_browser_lacks_is_sent() -> None:
    attention = long()
    before = canvas._Held(Picture(attention, Shown()), b"", 0, Choice(), Choice(2, 0), known=False)
    now = canvas._held(before, attention, Shown(), Choice(2, 0), mounted=True)
    assert data.decode(now.buffer)[0]["tiles"] == [10, 11, 12, 13]
    assert now.serial == 0


def test_no_word_of_the_canvas_stands_in_its_files(record: Record) -> None:
    attention = record.attention("cross")
    with speaking("pseudo"):
        meta, _ = sent(Picture(attention, Shown(record.output)), Choice())
        apart = messages(attention, predicts=True, renormalised=False, apart=True)
    for message in meta["words"].values():
        assert all(form.startswith("⟦") for form in ([message] if isinstance(message, str) else message)), message
    used = set(re.findall(r'data-(?:say|title|label)="(\w+)"', canvas.COMPONENT.html))
    used |= set(re.findall(r'(?:it\.say\("|words\.)(\w+)', canvas.COMPONENT.script))
    assert meta["words"].keys() < apart.keys()
    assert used <= apart.keys(), used - apart.keys()
    text = re.sub(r"<[^>]*>", " ", canvas.COMPONENT.html)
    assert set(text.split()) <= {"−", "+", "A", "·"}


@pytest.mark.parametrize("words", [False, True])
def test_the_colours_of_words_are_those_of_the_rows_and_columns_that_are_shown(record: Record, words: bool) -> None:
    colors = word_colors.of(record)
    shown = Shown(record.output, words=words, hide_sinks=True, colors=colors.sides("cross"))
    meta, _ = sent(Picture(record.attention("cross"), shown), Choice())
    assert len(meta["query_colors"]) == len(meta["query"])
    assert len(meta["key_colors"]) == len(meta["key"])
    named = dict(zip(meta["key"], meta["key_colors"], strict=True))
    assert [named[word] for word in ("I", "want", "to", "buy", "a", "car")] == [0, 1, 2, 3, 4, 5]
    ribbons = start.ribbons(record)
    partners = {ribbons.below[t].text: ribbons.above[s].text for t, s in start.pairs(ribbons)}
    assert partners
    for label, place in zip(meta["query"], meta["query_colors"], strict=True):
        if label in partners:
            assert place == named.get(partners[label], -1)
    assert meta["palette"] == [list(shades) for shades in zip(*WORDS, strict=True)]
    bare, _ = sent(Picture(record.attention("cross"), Shown(record.output)), Choice())
    assert bare["query_colors"] == bare["key_colors"] == []


def test_pieces_are_sent_with_their_words(record: Record) -> None:
    meta, _ = sent(Picture(record.attention("cross"), Shown(record.output)), Choice())
    first = meta["query"].index("kau")
    assert meta["query_words"] == {str(first): "kaufen", str(first + 1): "kaufen"}
    merged, _ = sent(Picture(record.attention("cross"), Shown(record.output, words=True)), Choice())
    assert merged["query_words"] == {}
    own, _ = sent(Picture(record.attention("decoder"), Shown(hide_sinks=True)), Choice())
    assert {own["key"][int(column)] for column in own["key_words"]} == {"kau", "fen"}
