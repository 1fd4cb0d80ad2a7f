"""Checks of a figure's arguments: errors name the wrong argument and the right one."""

from __future__ import annotations

from collections.abc import Sequence

from bartviz.errors import SettingError, choices

ATTENTION = "the attention of one kind, such as record.encoder; record.kinds says which a record has"
RECORD = "a record, as bartviz.capture, bartviz.decode and bartviz.open give it"


def expect(given: object, kind: type | tuple[type, ...], how: str) -> None:
    """Raise SettingError unless ``given`` is of that type; ``how`` says what it should be and where to get it."""
    if not isinstance(given, kind):
        what = "None" if given is None else f"a thing of type {type(given).__name__}"
        raise SettingError(f"This figure does not draw {what}. It takes {how}.")


def expect_word(word: str, words: Sequence[str], what: str) -> None:
    """Raise SettingError, with the choices, for a word that is not one of them; ``what`` begins the sentence."""
    if word not in words:
        raise SettingError(f"{what} is one of {choices(words)}.")
