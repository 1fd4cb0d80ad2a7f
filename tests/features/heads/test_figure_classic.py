"""bertviz's pages as they reach the browser: our scripts alone, numbers once and escaped, the same text each time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bartviz import figures
from bartviz.errors import ModelError, SettingError
from bartviz.features.heads.figure_classic import offline
from bartviz.features.heads.figure_classic.offline import VIEWS, View, Window, height, most_tokens, page
from bartviz.language import speaking
from bartviz.record.attention import Attention
from bartviz.record.record import Record
from tests.support import stand_in

HOSTILE = "</script><script>alert(1)</script>"


class Tags(HTMLParser):
    """The elements of a page, as a browser finds them."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.attributes: dict[str, str | None] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes |= dict(attrs)


def whole(attention: Attention) -> Window:
    return Window(slice(0, attention.shape[2]), slice(0, attention.shape[3]))


def drawn(view: View, attention: Attention, **settings: object) -> str:
    return page(view, attention, attention.query.labels, window=whole(attention), **settings)  # type: ignore[arg-type]


def parameters(html: str) -> dict[str, Any]:
    """What the script of the page gets."""
    line = html.partition("const params = ")[2].partition(";\n")[0]
    found: dict[str, Any] = json.loads(line)
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
def test_the_numbers_are_in_the_page_once(record: Record, view: View) -> None:
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
    shallow = Attention("cross", cross.queries[:1], cross.keys[:1], cross.scale, cross.mask, cross.query, cross.key)
    for view in VIEWS:
        assert len(parameters(drawn(view, shallow))["attention"][0]["attn"]) == 1


def test_the_same_picture_is_the_same_text(record: Record) -> None:
    assert drawn("model", record.attention("cross")) == drawn("model", record.attention("cross"))


def test_dark_and_light_differ_in_colours_alone(record: Record) -> None:
    light, dark = (drawn("model", record.attention("cross"), dark=dark) for dark in (False, True))
    assert "color-scheme: dark" in dark
    assert "'background': 'black'" not in dark
    assert parameters(light)["attention"] == parameters(dark)["attention"]


def test_a_wholly_masked_row_is_empty(record: Record) -> None:
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


@pytest.mark.parametrize("script", ["", "const params = PYTHON_PARAMS;", None])
def test_another_bertviz_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str | None) -> None:
    """Scripts that want their data elsewhere, that are drawn otherwise, or that are not there."""
    if script is not None:
        for view in VIEWS:
            (tmp_path / f"{view}_view.js").write_text(script)
    found = ModuleSpec("bertviz", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(offline, "find_spec", lambda _name: found)
    with pytest.raises(ModelError, match=r"install bertviz 1\.4\.1"):
        figures.classic(stand_in.record())


def test_without_bertviz_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bertviz", None)
    with pytest.raises(ModelError, match=r"pip install --no-deps bertviz==1\.4\.1"):
        figures.classic(stand_in.record())


@pytest.mark.slow
def test_it_is_drawn_without_torch_and_without_bertviz_own_functions(tmp_path: Path) -> None:
    stand_in.record().save(tmp_path / "a.safetensors")
    code = (
        "import sys, bartviz; record = bartviz.open('a.safetensors'); bartviz.figures.classic(record).save('a.html');"
        "print(sorted({'torch', 'transformers', 'streamlit', 'IPython', 'bertviz'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
    assert parameters((tmp_path / "a.html").read_text("utf-8"))["attention"]


def test_a_notebook_shows_it_in_a_frame_of_its_own() -> None:
    record = stand_in.record(source=("<s>", '"><script>alert(1)</script>', " a", "</s>"), layers=2, heads=2)
    shown = figures.classic(record, "encoder")
    reader = Tags()
    reader.feed(shown._repr_html_())
    assert reader.seen == ["iframe"]
    assert reader.attributes["srcdoc"] == shown.html
    assert reader.attributes["sandbox"] == "allow-scripts"
    assert HOSTILE not in repr(shown)


def test_it_is_saved_as_one_file(tmp_path: Path) -> None:
    shown = figures.classic(stand_in.record(), view="model")
    file = shown.save(tmp_path / "heads.html")
    assert file.read_text("utf-8") == shown.html


def test_a_record_begins_with_its_cross_attention_and_rows_by_what_they_predict(record: Record) -> None:
    shown = figures.classic(record)
    sent = parameters(shown.html)
    assert sent["include_layers"] == [0, 1, 2]  # to be chosen from, in a box
    assert sent["attention"][0]["left_text"] == list(record.rows("cross", "predicts").labels)
    assert 'id="layer"' in shown.html
    assert "named by the token that the decoder predicts there" in shown.captions[1]
    read = figures.classic(record, reading="reads")
    assert parameters(read.html)["attention"][0]["left_text"] == list(record.attention("cross").query.labels)
    assert "reads there" in read.captions[1]
    alone = figures.classic(stand_in.record(kind="encoder"), layer=1)
    assert alone.captions[0].startswith("4 heads of encoder layer 1")
    assert "decoder" not in alone.captions[1]
    assert 'id="layer"' not in alone.html


def test_attention_alone_knows_what_its_rows_read(record: Record) -> None:
    cross = record.attention("cross")
    assert "reads there" in figures.classic(cross).captions[1]
    assert "predicts there" in figures.classic(cross, rows=record.output).captions[1]
    with pytest.raises(SettingError, match="This is cross attention"):
        figures.classic(cross, "encoder")
    with pytest.raises(SettingError, match="cannot draw an object of type str"):
        figures.classic("cross")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="choose encoder"):
        figures.classic(stand_in.record(kind="encoder"), "cross")
    with pytest.raises(SettingError, match="no cross layer 9"):
        figures.classic(cross, layer=9)


def test_a_long_text_is_cut_and_the_picture_says_where() -> None:
    words = ("<s>", *(f" w{place}" for place in range(100)), "</s>")
    record = stand_in.record(source=words, layers=2, heads=4)
    shown = figures.classic(record, "encoder", layer=0, first=(90, 3))
    assert "Rows 38 to 101 of 102 and columns 3 to 66 of 102 are shown" in shown.captions[2]
    sent = parameters(shown.html)["attention"][0]
    assert (sent["left_text"][0], sent["right_text"][0]) == (record.source.labels[38], record.source.labels[3])
    assert len(sent["left_text"]) == len(sent["right_text"]) == 64
    assert all(f'<p class="captions">{sentence}</p>' in shown.html for sentence in shown.captions)
    assert len(figures.classic(record, "decoder").captions) == 2


def test_it_speaks_the_language_of_the_moment() -> None:
    with speaking("ko"):
        shown = figures.classic(stand_in.record(), "decoder")
    assert '<html lang="ko">' in shown.html
    assert "디코더" in shown.captions[0]
    assert figures.classic(stand_in.record(), "encoder").captions[0].startswith("The 4 heads of one encoder layer")
