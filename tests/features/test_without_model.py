"""Every page with a record of a model that is not on this machine: the numbers come from the record."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bartviz.app.frame import page_list
from tests.support import stand_in
from tests.support.pages import App

RUN_IT_AGAIN = {"experiments", "denoising", "pitfalls", "why"}  # what they show is a second run


@pytest.mark.some("heads", "experiments")
@pytest.mark.parametrize("word", [page.word for page in page_list.PAGES])
def test_page_opens_and_says_where_the_model_is_needed(app: App, word: str) -> None:
    record = stand_in.record()
    record = replace(record, model=replace(record.model, name="gone"))
    page = app(word, record=record)
    assert not page.exception
    assert ["gone is not on this machine" in error.value for error in page.error] == [True] * (word in RUN_IT_AGAIN)
