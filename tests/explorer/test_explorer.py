"""The explorer as a file: what it holds, how large it is, and what it does not let a text do."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bartviz
from bartviz.arrays import Floats
from bartviz.errors import SettingError
from bartviz.explorer.file import page
from bartviz.record.attention import Attention
from bartviz.record.record import Record
from tests.support import node, records, stand_in

HOSTILE = ("<s>", "</script><script>alert(1)</script>", " <!--", "<img src=x onerror=alert(1)>", " 한국어", "</s>")
Header = dict[str, Any]


class _Elements(HTMLParser):
    """Every element of a page, with its attributes and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.title = ""
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open in ("script", "style"):
            self.texts.append((self._open, data))
        if self._open == "title":
            self.title += data


def _elements(file: bytes) -> _Elements:
    return _Elements(file.decode())


def _opened(file: bytes) -> tuple[Header, bytes]:
    """The header, and the bytes of all parts."""
    found = re.search(rb'<script type="text/plain" id="data">([^<]*)</script>', file)
    assert found is not None
    data = base64.b64decode(found[1], validate=True)
    end = 4 + int.from_bytes(data[:4], "little")
    return json.loads(zlib.decompress(data[4:end])), data[end:]


def _head(header: Header, parts: bytes, kind: str, layer: int, head: int, record: int = 0) -> Floats:
    """(Q, K) weights, read as the docstring of ``data`` describes."""
    shown = header["records"][record]["kinds"][kind]
    _, heads, rows, columns = shown["meta"]["shape"]
    offset, length = shown["maps"][layer * heads + head]
    low, high = np.frombuffer(zlib.decompress(parts[offset : offset + length]), np.uint8).reshape(2, rows, columns)
    weights: Floats = (low + 256.0 * high) / header["unit"]
    return weights


def _wide(count: int) -> Record:
    """12 x 12 heads over so many tokens, with weights that are hard to compress."""
    tokens = stand_in.tokens(["<s>", *(f" w{number}" for number in range(count - 2)), "</s>"])
    random = np.random.default_rng(7)
    q, k = (random.normal(size=(12, 12, count, 64)).astype(np.float32) for _ in range(2))
    attention = Attention("encoder", q, k, 64**-0.5, np.ones((count, count), bool), tokens, tokens)
    text = "".join(tokens.labels[1:-1])
    return Record(stand_in.model_info("encoder", layers=(12, 0), heads=(12, 0)), text, None, attention, None, None)


@pytest.mark.parametrize(
    "record",
    [stand_in.record(), records.encoder_only(), records.decoder_only(), records.encoder_only(("<s>",))],
    ids=["encoder-decoder", "encoder", "decoder", "one token"],
)
def test_every_weight_of_every_head_is_in_the_file(record: Record) -> None:
    header, parts = _opened(page(record))
    assert list(header["records"][0]["kinds"]) == list(record.kinds)
    for kind in record.kinds:
        attention = record.attention(kind)
        for layer in range(attention.shape[0]):
            for head in range(attention.shape[1]):
                found = _head(header, parts, kind, layer, head)
                np.testing.assert_allclose(found, attention.head(layer, head), atol=2e-5, rtol=0)
    assert header["least"] == 0


def test_the_player_has_every_step_and_an_encoder_has_none() -> None:
    record = stand_in.record()
    player = _opened(page(record))[0]["records"][0]["player"]
    assert player["rows"] == [step.row for step in record.steps]
    assert [step["predicts"] for step in player["meta"]["en"]["steps"]] == [step.chosen.label for step in record.steps]
    encoder = page(records.encoder_only())
    assert _opened(encoder)[0]["records"][0]["player"] is None
    assert b'id="player"' not in encoder


def test_the_words_are_in_both_languages() -> None:
    header, _ = _opened(page(stand_in.record()))
    assert header["words"]["en"]["steps"] == "Step by step"
    assert header["words"]["ko"]["steps"] == "한 단계씩"
    kind = header["records"][0]["kinds"]["cross"]
    assert kind["words"]["en"].keys() == kind["words"]["ko"].keys()
    assert kind["words"]["ko"]["map"] == "지도"
    for words in (header["words"], kind["words"], header["records"][0]["player"]["meta"]):
        assert words["en"] != words["ko"]


def test_a_hostile_text_stays_text() -> None:
    record = records.encoder_decoder(HOSTILE, HOSTILE)
    file = page(record, names=["</title><script>alert(1)</script>"])
    elements = _elements(file)
    assert elements.title == "</title><script>alert(1)</script>"
    kinds = [attributes.get("type") for tag, attributes in elements.tags if tag == "script"]
    assert kinds == [None, "text/plain", "module"]
    assert {tag for tag, _ in elements.tags} & {"img", "iframe", "object", "link", "base"} == set()
    assert not [name for _, attributes in elements.tags for name in attributes if name.startswith("on")]
    assert b"onerror" not in file
    labels = _opened(file)[0]["records"][0]["kinds"]["encoder"]["meta"]["key"]
    assert labels == list(record.attention("encoder").key.labels)


def test_the_policy_allows_what_is_in_the_file_and_nothing_else() -> None:
    elements = _elements(page(stand_in.record()))
    policy = next(attributes["content"] or "" for tag, attributes in elements.tags if "http-equiv" in attributes)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy

    def hashes(tag: str) -> set[str]:
        texts = [text for name, text in elements.texts if name == tag and not re.fullmatch(r"[A-Za-z0-9+/=]+", text)]
        return {f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in texts}

    assert set(rules["script-src"].split()) == hashes("script")
    assert set(rules["style-src"].split()) == hashes("style")


def test_nothing_in_the_file_is_an_address_of_another_machine() -> None:
    text = page(stand_in.record()).decode()
    assert not re.findall(r"(?:https?:)?//[a-z0-9-]+\.[a-z]", text)


def test_the_same_records_give_the_same_bytes() -> None:
    both = [stand_in.record(), records.encoder_only()]
    assert page(both) == page(both)


def test_several_records_are_tabs_with_names() -> None:
    both = [stand_in.record(), records.encoder_only(seed=3)]
    header, parts = _opened(page(both, names=["first", "second"]))
    assert [entry["name"] for entry in header["records"]] == ["first", "second"]
    expected = both[1].attention("encoder").head(1, 2)
    np.testing.assert_allclose(_head(header, parts, "encoder", 1, 2, record=1), expected, atol=2e-5, rtol=0)


def test_a_model_of_ordinary_size_stays_small() -> None:
    file = page(_wide(64))
    assert _opened(file)[0]["least"] == 0
    assert len(file) <= 1_250_000


@pytest.mark.thorough
@pytest.mark.slow
def test_a_long_text_leaves_out_the_smallest_weights_and_says_so() -> None:
    record = _wide(512)
    file = page(record)
    header, parts = _opened(file)
    assert len(file) <= 6_000_000
    least = header["least"] / header["unit"]
    assert 0 < least < 0.05
    assert f"{least:.4f}" in header["words"]["en"]["left_out"]
    weights, found = record.attention("encoder").head(5, 5), _head(header, parts, "encoder", 5, 5)
    kept = weights >= least + 2e-5
    np.testing.assert_allclose(found[kept], weights[kept], atol=2e-5, rtol=0)
    assert kept.sum() > 1000
    assert not found[weights < least - 2e-5].any()


@pytest.mark.parametrize("most", [300_000, 400_000, 800_000])
def test_a_file_is_as_large_as_it_may_be_and_no_larger(most: int) -> None:
    """Several records with long names, so that what is around the weights takes more than of one."""
    both = [stand_in.record(tuple(f" word{number}" for number in range(60)), layers=6, heads=8) for _ in range(3)]
    file = page(both, names=["a long name " * 40] * 3, most=most)
    assert _opened(file)[0]["least"] > 0
    assert 0.8 * most < len(file) <= most


def test_nothing_is_left_out_where_nobody_asks_for_a_small_file() -> None:
    record = stand_in.record()
    assert _opened(page(record, most=1))[0]["least"] > 0
    assert _opened(page(record, most=None))[0]["least"] == 0


def test_a_record_saves_itself_as_html(tmp_path: Path) -> None:
    record = stand_in.record()
    record.save(tmp_path / "car.html")
    assert (tmp_path / "car.html").read_bytes() == page(record)
    bartviz.save([record, record], tmp_path / "both.HTML")
    assert (tmp_path / "both.HTML").read_bytes() == page([record, record])


def test_what_cannot_be_saved_is_refused(tmp_path: Path) -> None:
    record = stand_in.record()
    with pytest.raises(SettingError, match=r"\.html"):
        bartviz.save(record, tmp_path / "car.pdf")
    with pytest.raises(SettingError, match="at least one"):
        bartviz.save([], tmp_path / "none.html")
    with pytest.raises(SettingError, match="2 names for 1 record"):
        bartviz.save(record, tmp_path / "car.html", names=["a", "b"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_it_needs_neither_streamlit_nor_torch(tmp_path: Path) -> None:
    stand_in.record().save(tmp_path / "car.safetensors")
    code = (
        "import sys; sys.modules |= dict.fromkeys(('streamlit', 'torch', 'pyarrow'));"
        "import bartviz; bartviz.open(sys.argv[1]).save(sys.argv[2])"
    )
    arguments = [str(tmp_path / name) for name in ("car.safetensors", "car.html")]
    subprocess.run([sys.executable, "-c", code, *arguments], check=True)
    assert (tmp_path / "car.html").stat().st_size > 100_000


def test_the_scripts_read_the_file_and_keep_the_address() -> None:
    node.run_tests(Path(__file__).with_name("explorer.test.mjs"))
    node.run_tests(Path(__file__).with_name("ribbon_data.test.mjs"))


def test_a_notebook_shows_the_page_in_a_frame_that_reaches_nothing() -> None:
    record = stand_in.record(HOSTILE)
    ((tag, named),) = _Elements(record._repr_html_()).tags
    assert tag == "iframe"
    assert named["sandbox"] == "allow-scripts"
    assert named["srcdoc"] == page(record).decode()
    assert "src" not in named


def test_a_large_record_stays_small_in_a_notebook_and_says_what_is_left_out() -> None:
    record = stand_in.record(tuple(f" w{number}" for number in range(200)), layers=6, heads=8)
    assert len(page(record, most=None)) > 2_000_000
    shown = record._repr_html_()
    assert len(shown) < 2_100_000
    ((_tag, named),) = _Elements(shown).tags
    header, _parts = _opened((named["srcdoc"] or "").encode())
    assert header["least"] > 0
