"""bertviz's pages as they reach the browser: our scripts alone, numbers once and escaped, the same text each time."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from bartviz.attention import Attention
from bartviz.errors import ModelError, SettingError
from bartviz.record import Record
from bartviz.ui.classic import offline
from bartviz.ui.classic.offline import VIEWS, View, Window, height, most_tokens, page
from tests import stand_in

HOSTILE = "</script><script>alert(1)</script>"


class Tags(HTMLParser):
    """The elements of a page, as a browser finds them."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)


def whole(attention: Attention) -> Window:
    return Window(slice(0, attention.shape[2]), slice(0, attention.shape[3]))


def drawn(view: View, attention: Attention, **settings: object) -> str:
    return page(view, attention, attention.query.labels, window=whole(attention), **settings)  # type: ignore[arg-type]


def parameters(html: str) -> dict[str, list[dict[str, Any]]]:
    """What the script of the page gets."""
    line = html.partition("const params = ")[2].partition(";\n")[0]
    found: dict[str, list[dict[str, Any]]] = json.loads(line)
    return found


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("view", VIEWS)
def test_the_page_holds_the_weights_and_asks_for_nothing(record: Record, view: View, kind: str) -> None:
    attention = record.attention(kind)
    html = drawn(view, attention, layer=2)
    assert not re.search(r"""(src|href)\s*=\s*["']?https?:""", html)
    assert "cdnjs" not in html.replace("https://cdnjs.cloudflare.com/ajax/libs/", "", 2)  # two names in a dead setting
    assert "require.min.js" not in html
    assert "default-src 'none'" in html
    sent = parameters(html)["attention"][0]
    layers = [2] if view == "head" else [0, 1, 2]
    np.testing.assert_allclose(sent["attn"], [attention.layer(layer) for layer in layers], atol=5.1e-4)
    assert (sent["left_text"], sent["right_text"]) == (list(attention.query.labels), list(attention.key.labels))


@pytest.mark.parametrize("view", VIEWS)
def test_the_numbers_stand_once(record: Record, view: View) -> None:
    assert drawn(view, record.attention("cross")).count('"attn"') == 1


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    "token", [HOSTILE, "; // HACK: ", "PYTHON_PARAMS", "const params = 1;", "\u2028<!--<script>", "&lt;"]
)
def test_no_token_ends_the_script(view: View, token: str) -> None:
    record = stand_in.record(source=("<s>", token, " a", "</s>"), layers=1, heads=2)
    html = drawn(view, record.attention("encoder"))
    reader = Tags()
    reader.feed(html)
    assert reader.seen.count("script") == 4  # jQuery, d3, the loader, and bertviz's own
    assert not {"img", "iframe", "link", "object"} & set(reader.seen)
    assert parameters(html)["attention"][0]["left_text"][1] == record.source.labels[1]
    assert HOSTILE not in html


def test_encoder_and_decoder_of_unequal_depth_are_drawn_whole(record: Record) -> None:
    cross = record.attention("cross")
    shallow = Attention("cross", cross.q[:1], cross.k[:1], cross.scale, cross.mask, cross.query, cross.key)
    for view in VIEWS:
        assert len(parameters(drawn(view, shallow))["attention"][0]["attn"]) == 1


def test_the_same_picture_is_the_same_text(record: Record) -> None:
    assert drawn("model", record.attention("cross")) == drawn("model", record.attention("cross"))


def test_dark_and_light_differ_in_colours_alone(record: Record) -> None:
    light, dark = (drawn("model", record.attention("cross"), dark=dark) for dark in (False, True))
    assert "color-scheme: dark" in dark
    assert "'background': 'black'" not in dark
    assert parameters(light)["attention"] == parameters(dark)["attention"]


def test_a_row_that_may_look_nowhere_is_empty(record: Record) -> None:
    encoder = record.attention("encoder")
    mask = encoder.mask.copy()
    mask[2] = False
    sent = parameters(drawn("head", replace(encoder, mask=mask)))["attention"][0]["attn"]
    assert not np.array(sent)[:, :, 2].any()
    assert np.array(sent)[:, :, 1].any()


def test_a_window_of_a_long_text(record: Record) -> None:
    cross = record.attention("cross")
    html = page("head", cross, cross.query.labels, window=Window(slice(2, 5), slice(1, 3)), layer=0)
    sent = parameters(html)["attention"][0]
    assert sent["left_text"] == list(cross.query.labels[2:5])
    np.testing.assert_allclose(sent["attn"], cross.layer(0)[None, :, 2:5, 1:3], atol=5.1e-4)


def test_the_cap_follows_the_number_of_heads(record: Record) -> None:
    assert most_tokens(record.attention("cross"), "model") == 64
    large = stand_in.record(layers=24, heads=16).attention("cross")
    assert most_tokens(large, "model") == 16  # 16 * 16 * 384 = 98,304 weights
    assert most_tokens(large, "head") == 64
    with pytest.raises(SettingError, match="1 to 64 tokens"):
        page("model", record.attention("cross"), ["a"] * 70, window=Window(slice(0, 70), slice(0, 3)))
    with pytest.raises(SettingError, match="head or model"):
        drawn("neuron", record.attention("cross"))  # type: ignore[arg-type]


def test_the_place_is_kept(record: Record) -> None:
    cross = record.attention("cross")
    assert height("head", cross, whole(cross)) == int(30 + 22.5 * 9 + 24)
    assert height("model", cross, Window(slice(0, 64), slice(0, 64))) == offline.HIGHEST


def test_another_bertviz_is_refused() -> None:
    for written in (
        "<div></div>",
        '<script src="https://x/require.min.js"></script><div id="bertviz-' + "0" * 32 + '">',
    ):
        with pytest.raises(ModelError, match=r"install bertviz 1\.4\.1"):
            offline.offline(written)
