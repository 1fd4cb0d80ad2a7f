"""Calls from lower rooms to higher ones, by a function that ``bartviz`` registers when it is imported.

A record saves and shows itself as a page for any browser, which the explorer makes of it; the explorer imports records.
So does an attribution show itself as the figure that is drawn of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

live: Callable[[], Any]  # gives the module that makes pages in which models run: save(model, path, text=...)
explorer: Callable[[], Any]  # gives the module that makes pages of records: frame(record), save(record, path)
trainings: Callable[[], Any]  # gives the module that makes the page of a training: save(replay, path)
attributions: Callable[[], Any]  # gives the module that draws attributions: attribution(found)
pages: tuple[str, ...]  # the rooms that pages are drawn with; a server imports them when the second page is opened
