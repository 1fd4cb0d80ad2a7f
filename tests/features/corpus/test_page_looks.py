"""What the chosen head looks at, on the page: the numbers of the atlas, and a notice where it has none."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from bartviz.corpus import shipped
from bartviz.features.corpus import parts_own
from bartviz.features.corpus.parts_looks import SHOWN
from bartviz.language.percentages import percent
from tests.support.pages import App
from tests.support.visits import words


def test_the_lists_are_those_of_the_atlas(app: App) -> None:
    page = app("corpus", record=None, atlas="bert-tiny-en", layer="1", head="2")
    assert not page.exception
    looks = shipped.atlas("bert-tiny-en").looks("encoder L1H2", special=False)
    for side in ("key", "query"):
        rows = looks[looks["side"] == side].head(SHOWN).to_dict("records")
        assert len(rows) == SHOWN
        for row in rows:
            cells = f"<td><b>{row['lift']:.2f}</b></td><td>{row['low']:.2f}–{row['high']:.2f}</td>"
            assert f"{cells}<td>{percent(row['share'])}</td>" in words(page)
    far = shipped.atlas("bert-tiny-en").distances("encoder L1H2")
    share = far.loc[far["special"], "share"].item()
    assert f"Special tokens get {percent(share)} of its weight" in words(page)


def test_an_atlas_of_an_earlier_version_says_what_it_lacks(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = shipped.atlas("bert-tiny-en")
    held = {name: getattr(whole, name) for name in ("heads", "histograms", "bad", "relations")}
    held |= {name: pd.read_parquet(whole.path / f"{name}.parquet") for name in ("examples", "texts")}
    monkeypatch.setattr(parts_own, "atlas", lambda _name: replace(whole, held=held))
    page = app("corpus", record=None, atlas="bert-tiny-en", layer="1", head="3")
    assert not page.exception
    assert "an earlier version made it" in words(page)
    assert "Tokens it looks at" not in words(page)
