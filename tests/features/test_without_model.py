from __future__ import annotations

from dataclasses import replace

import pytest

from bartviz.app.frame import page_list
from tests.support import stand_in
from tests.support.pages import App

WORDS = [page.word for page in page_list.PAGES]


@pytest.mark.parametrize("word", WORDS)
def test_x(app: App, word: str) -> None:
    record = stand_in.record()
    record = replace(record, model=replace(record.model, name="gone"))
    page = app(word, record=record, level="expert")
    print(word, [e.value for e in page.exception], [e.value for e in page.error], [e.value for e in page.info], [b.label for b in page.button if "ownload" in b.label or "again" in b.label])
