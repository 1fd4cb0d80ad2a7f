"""The parts of the alignment page: whose links and how they are made, the picture, the ranking, the line to export."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from bartviz.analysis import aligners as ranks
from bartviz.analysis import alignment as analysis
from bartviz.analysis import pharaoh
from bartviz.analysis.alignment import Method, Table
from bartviz.analysis.pharaoh import Gold, Links
from bartviz.attention import Head
from bartviz.errors import BudgetError, SettingError, TextError
from bartviz.figures.alignment import MOST, lines, matrix
from bartviz.record import Reading, Record
from bartviz.ui import page, pick, session, show, sidebar

if TYPE_CHECKING:
    import pandas as pd

WHOSE = {"best": "best head", "head": "one head", "layer": "mean of a layer", "set": "a set of heads"}
HOW: dict[str, Method] = {
    "both choose each other": "mutual", "each output word its strongest": "target",
    "each source word its strongest": "source", "either chooses": "union", "both, then neighbours": "grow",
    "every weight from a threshold": "threshold",
}  # fmt: skip
# Alignments made by hand for what the translator says to the examples.
OURS = {
    ("I want to buy a car.", "Ich möchte ein Auto kaufen."): "0-0 1-1 2?1 2?4 3-4 4-2 5-3 6-5",
    ("The cat is sleeping on the sofa.", "Die Katze schläft auf dem Sofa."): "0-0 1-1 2?2 3-2 4-3 5-4 6-5 7-6",
    (
        "Yesterday my sister bought two very old books.",
        "Gestern kaufte meine Schwester zwei sehr alte Bücher.",
    ): "0-0 1-2 2-3 3-1 4-4 5-5 6-6 7-7 8-8",
}
HEIGHT = 470  # pixels of the matrix
_FOUND = "_alignment_found"


@dataclass(frozen=True, eq=False)
class Chosen:
    """What the page shows: whose links, how they are made, and the alignment by hand that they are held against."""

    heads: tuple[Head, ...]
    reading: Reading
    method: Method
    threshold: float
    shown: Table
    links: Links
    gold: Gold | None


def aligning(record: Record) -> Record:
    """The record, if it has cross-attention and words; else says what has and stops the page."""
    try:
        source, target = analysis.lines(record)
    except SettingError as error:
        st.info(show.plain(str(error)))
        st.button("Translate this text instead", on_click=sidebar.again, args=("model", "bart-tiny-en-de"))
        st.stop()
    if not source.labels or not target.labels:
        st.info("There are only special tokens here: nothing to align. Choose another text in the sidebar.")
        st.stop()
    return record


def choose(record: Record) -> Chosen:
    """The pickers: whose links, how rows are named, how links are made, and an alignment made by hand."""
    ranked = ranking_of(record)
    first, second, third, fourth = st.columns([2.5, 1.9, 1.5, 1.1], vertical_alignment="bottom")
    with second:
        reading = pick.reading()
    with first:
        heads = _heads(record, ranked, reading)
    with third:
        method = _method()
        threshold = _threshold() if method == "threshold" else analysis.THRESHOLD
    shown = analysis.table(record, heads, reading=reading)
    links = analysis.links(shown.weights, method, threshold=threshold)
    with fourth, st.popover("Judge by hand", width="stretch"):
        gold = _gold(record, shown, links)
    return Chosen(heads, reading, method, threshold, shown, links, gold)


def ranking_of(record: Record) -> tuple[ranks.Aligner, ...]:
    """Every head and layer of the record, computed once; none where the text is too long for that."""
    try:
        return session.derived("aligners", record, lambda: ranks.aligners(record))
    except BudgetError as error:
        show.note(str(error))
        return ()


def _heads(record: Record, ranked: Sequence[ranks.Aligner], reading: Reading) -> tuple[Head, ...]:
    options = WHOSE if ranked else {name: label for name, label in WHOSE.items() if name != "best"}
    whose = pick.one_of("Links of", options, key="align")
    if whose == "best":
        return ranks.best(ranked, reading).heads
    if whose == "set":
        return _set(record)
    layer = pick.layer(record, "cross", default=record.attention("cross").shape[0] // 2)
    return analysis.heads_of(record, layer) if whose == "layer" else (Head("cross", layer, pick.head(record, "cross")),)


def _set(record: Record) -> tuple[Head, ...]:
    """A set of heads, at least one: what a link says is brought within the record."""
    every = {head.short: head for head in analysis.heads_of(record)}
    if "set" in st.session_state:
        st.session_state["set"] = [name for name in st.session_state["set"] if name in every]
    middle = next(head.short for head in analysis.heads_of(record, record.attention("cross").shape[0] // 2))
    named = st.multiselect(
        "Heads", list(every), [middle], key="set", bind="query-params", placeholder="at least one head"
    )
    return tuple(every[name] for name in named if name in every) or (every[middle],)


def _method() -> Method:
    if "links" in st.session_state and st.session_state["links"] not in HOW:
        del st.session_state["links"]
    chosen = st.selectbox("Linked are words where", list(HOW), key="links", bind="query-params")
    return HOW.get(chosen or "", "mutual")


def _threshold() -> float:
    if "threshold" in st.session_state:
        st.session_state["threshold"] = min(max(float(st.session_state["threshold"]), 0.01), 1.0)
    value = st.slider("Threshold", 0.01, 1.0, analysis.THRESHOLD, 0.01, key="threshold", bind="query-params")
    return min(max(float(value), 0.01), 1.0)


def _gold(record: Record, shown: Table, links: Links) -> Gold | None:
    """The field for an alignment made by hand, kept for this pair of texts alone."""
    key = gold_key(record)
    show.note(
        "Paste the links of this sentence in Pharaoh's format: 0-0 is a sure link of source word 0 and output word 0, "
        "1?2 or 1p2 a possible one. Words are numbered in the picture."
    )
    st.text_area("Alignment made by hand", key=key, height=96, max_chars=pharaoh.LONGEST, persist_state="session")
    base = pick.one_of("The first word is", {"0": "0", "1": "1"}, key="base")
    swap = pick.switch("The output word comes first", key="swap")
    ours = OURS.get((record.source_text, record.target_text or ""))
    with st.container(horizontal=True, gap="small"):
        if ours is not None:
            st.button("Use ours", on_click=_write, args=(key, ours), help="Made by hand for this example.")
        st.button("Begin with these links", on_click=_write, args=(key, pharaoh.write(links)))
        st.button("Clear", on_click=_write, args=(key, ""), disabled=not st.session_state.get(key))
    text = str(st.session_state.get(key) or "")
    if not text.strip():
        return None
    try:
        return pharaoh.read(text, len(shown.source), len(shown.target), base=1 if base == "1" else 0, swap=swap)
    except TextError as error:
        st.error(show.plain(str(error)))
        return None


def gold_key(record: Record) -> str:
    """The field's key: another pair of texts has other words, and its own alignment."""
    texts = f"{record.source_text}\n{record.target_text}"
    return f"gold_{hashlib.sha256(texts.encode('utf-8', 'replace')).hexdigest()[:16]}"


def _write(key: str, text: str) -> None:
    """Fill the field: a callback. What is written by us counts from 0, the source first."""
    st.session_state[key] = text
    st.session_state["base"], st.session_state["swap"] = "0", False


def picture(chosen: Chosen) -> None:
    """Two lines of words with their links, and beside them the matrix."""
    shown, dark = chosen.shown, page.dark()
    said = analysis.notice(shown, chosen.links, chosen.gold)
    left, right = st.columns([4, 5], gap="medium")
    with left:
        show.figure(lines(shown, chosen.links, gold=chosen.gold, dark=dark), key="alignment_lines", alt=said)
        most = max(len(shown.source), len(shown.target))
        if most > MOST:
            show.note(f"The first {MOST} words of each line are drawn, of {most}; the matrix and the table have all.")
    with right:
        drawn = matrix(shown, chosen.links, gold=chosen.gold, dark=dark, height=HEIGHT)
        show.figure(drawn, key="alignment_matrix", alt=f"Weights between words. {said}")


def numbers(chosen: Chosen) -> None:
    """How much is linked, how much went to special tokens, and against gold the three measures."""
    shown = chosen.shown
    told = {
        "Links": f"{len(chosen.links)}",
        "Agreement": f"{analysis.agreement(shown.weights, shown.told):.2f}",
        "To special tokens": f"{shown.special_share:.0%}",
    }
    if chosen.gold is not None:
        judged = pharaoh.score(chosen.links, chosen.gold)
        told = {
            "Error rate (AER)": f"{judged.error_rate:.2f}",
            "Precision": _measure(judged.precision), "Recall": _measure(judged.recall),
        } | told  # fmt: skip
    with st.container(horizontal=True, gap="large", key="alignment_numbers"):
        for label, value in told.items():
            st.metric(label, value, width="content")


def _measure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def ranking(record: Record, chosen: Chosen) -> pd.DataFrame | None:
    """Every head and layer, the best first; a chosen line is shown above. With gold, the search for a set of heads."""
    ranked = ranking_of(record) if chosen.heads else ()
    if not ranked:
        return None
    st.subheader("Which head aligns best?", anchor=False)
    by = "agreement: how much of its attention lies on words that choose each other"
    show.note(
        f"All heads and layers, each by both names of its rows; the best first, by "
        f"{'error rate' if chosen.gold is not None else by}. Choose a line to see its links."
    )
    frame = ranks.ranking(ranked, method=chosen.method, threshold=chosen.threshold, gold=chosen.gold)
    number = st.column_config.NumberColumn
    st.dataframe(
        frame, key="alignment_ranking", hide_index=True, height=248, selection_mode="single-row",
        on_select=lambda: _take(record, frame),
        column_config={name: number(format="%.2f") for name in frame.columns if frame[name].dtype == float},
    )  # fmt: skip
    _search(ranked, chosen)
    return frame


def _take(record: Record, frame: pd.DataFrame) -> None:
    """Show the line of the ranking that was chosen: a callback."""
    rows = st.session_state["alignment_ranking"].selection.rows
    if not rows or not 0 <= rows[0] < len(frame):
        return
    name, reading = str(frame.iloc[rows[0]]["heads"]), str(frame.iloc[rows[0]]["named by"])
    st.session_state["reading"] = reading
    if name.startswith("layer "):
        st.session_state["align"], st.session_state["layer"] = "layer", int(name.removeprefix("layer "))
    else:
        head = Head.parse(f"cross {name}")
        st.session_state["align"] = "head"
        st.session_state["layer"], st.session_state["head"] = head.layer, head.head


def _search(ranked: Sequence[ranks.Aligner], chosen: Chosen) -> None:
    if chosen.gold is None or not chosen.gold.possible:
        return
    st.button("Find the set of heads that agrees best", on_click=_find, args=(ranked, chosen))
    found: tuple[ranks.Found, Reading] | None = st.session_state.get(_FOUND)
    if found is not None and set(found[0].heads) == set(chosen.heads) and found[1] == chosen.reading:
        names = ", ".join(head.short for head in found[0].heads)
        show.note(
            f"{names}: error rate {found[0].error_rate:.2f} here. Chosen on the very sentence that it is judged by, "
            "which flatters: on other sentences expect more errors, and judge it there."
        )


def _find(ranked: Sequence[ranks.Aligner], chosen: Chosen) -> None:
    """Look for the set, and show it: a callback."""
    assert chosen.gold is not None
    found = ranks.best_set(
        ranked, chosen.gold, reading=chosen.reading, method=chosen.method, threshold=chosen.threshold
    )
    st.session_state[_FOUND] = (found, chosen.reading)
    st.session_state["align"] = "set"
    st.session_state["set"] = [head.short for head in found.heads]


def line(chosen: Chosen) -> None:
    """The links as one line in Pharaoh's format, to copy or to take along."""
    also = pick.switch(
        "With links of one direction as possible", key="possible",
        hint="Adds, as 1?2, the pairs of which only one word chooses the other.",
    )  # fmt: skip
    either = analysis.links(chosen.shown.weights, "union") if also else frozenset()
    text = pharaoh.write(chosen.links, either)
    st.code(text or " ", language=None, wrap_lines=True)
    st.download_button(
        "Pharaoh", f"{text}\n", file_name="bartviz-alignment.txt", mime="text/plain", on_click="ignore",
        key="alignment_txt",
    )  # fmt: skip


def arrays(chosen: Chosen) -> dict[str, Any]:
    """For NPZ: weights (T, S), special (T,), words, and links (n, 2) as source and output word."""
    import numpy as np

    shown = chosen.shown
    return {
        "weights": shown.weights, "special": shown.special, "source": np.array(shown.source.labels),
        "target": np.array(shown.target.labels), "links": np.array(sorted(chosen.links), np.int64).reshape(-1, 2),
        "heads": np.array([str(head) for head in chosen.heads]), "reading": np.array(chosen.reading),
    }  # fmt: skip
