"""Every page with a record of given weights: it shows what weights can show, and says in a notice what they cannot."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

import bartviz
from bartviz.app.frame import page_list
from bartviz.families.family import ModelKind
from bartviz.record.record import Record
from tests.support import stand_in
from tests.support.pages import App

ALONE = "made from attention weights only"
WORDS = [page.word for page in page_list.PAGES]
NOTICES = {page.word: 1 for page in page_list.PAGES if not page.weights} | {"decoding": 1, "pitfalls": 2}  # as it opens
OPEN = {"masks": 1, "pitfalls": 1}  # and in what is folded for beginners


def given() -> Record:
    """The weights of the stand-in record, without its queries and keys."""
    record = stand_in.record()
    assert record.cross is not None
    weights = record.to_numpy()
    return bartviz.from_attentions(
        encoder=weights["encoder"],
        decoder=weights["decoder"],
        cross=weights["cross"],
        encoder_tokens=record.cross.key.pieces,
        decoder_tokens=record.cross.query.pieces,
    )


def notices(page: AppTest) -> int:
    return sum(ALONE in notice.value for notice in page.info)


@pytest.mark.some(12)
@pytest.mark.parametrize("level", ["beginner", "expert"])
@pytest.mark.parametrize("word", WORDS)
def test_page_opens_and_says_what_it_cannot_show(app: App, word: str, level: str) -> None:
    page = app(word, record=given(), level=level)
    assert not page.exception
    assert not page.error
    assert notices(page) == NOTICES.get(word, 0) + (OPEN.get(word, 0) if level == "expert" else 0)


@pytest.mark.parametrize(
    ("word", "query", "missing"),
    [
        ("heads", {"kind": "cross", "layer": "1", "head": "2", "row": "3", "weights": "head"}, 0),
        ("heads", {"view": "classic"}, 0),
        ("alignment", {"align": "head", "layer": "1", "head": "2"}, 0),
        *[("compare", {"kind": "encoder", "below": tab}, 0) for tab in ("two", "all", "likeness", "rollout")],
        ("compare", {"kind": "encoder", "below": "contribution"}, 1),
        ("masks", {"view": "weights"}, 1),  # its second half is about scores
        *[("masks", {"masks": "about", "about": tab}, 1) for tab in ("padding", "patterns", "zero")],
        ("inputs", {"look": "pieces"}, 0),
        ("inputs", {"look": "sum"}, 1),
        ("inputs", {"look": "positions"}, 1),
    ],
)
def test_part_of_a_page_is_shown_or_says_why_not(app: App, word: str, query: dict[str, str], missing: int) -> None:
    page = app(word, record=given(), **query)
    assert not page.exception
    assert not page.error
    assert notices(page) == missing


@pytest.mark.some(12)
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_page_opens_for_a_single_stack(app: App, kind: ModelKind, word: str) -> None:
    attention = stand_in.record(kind=kind).attention(kind)
    record = bartviz.from_attentions(
        encoder=attention.layer(0)[None] if kind == "encoder" else None,
        decoder=attention.layer(0)[None] if kind == "decoder" else None,
        tokens=attention.query.pieces,
    )
    page = app(word, record=record)
    assert not page.exception
    assert not page.error


@pytest.mark.some(12)
@pytest.mark.parametrize("level", ["beginner", "expert"])
@pytest.mark.parametrize("word", WORDS)
def test_page_opens_without_the_attention_of_the_encoder(app: App, word: str, level: str) -> None:
    """As with an output of inseq."""
    record = stand_in.record()
    assert record.cross is not None
    weights = record.to_numpy()
    given = bartviz.from_attentions(
        decoder=weights["decoder"],
        cross=weights["cross"],
        encoder_tokens=record.cross.key.pieces,
        decoder_tokens=record.cross.query.pieces,
    )
    page = app(word, record=given, level=level)
    assert not page.exception
    assert not page.error
