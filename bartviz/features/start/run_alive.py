"""A model as one HTML file in which it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bartviz.models.model import Model
    from bartviz.serving.gate import Ticket


def page(model: Model, ticket: Ticket[bytes]) -> bytes:
    """The file. Raises ModelError for a model that cannot run in a page, and SettingError for one that is too large."""
    from bartviz.explorer.live import one_file

    return one_file([model])
