"""Checks of a figure's arguments: errors name the wrong argument and the right one."""

from __future__ import annotations

from collections.abc import Sequence

from bartviz.errors import SettingError, choices

ATTENTION = "the attention of one kind, such as record.encoder; record.kinds says which a record has"
RECORD = "a record from bartviz.capture, bartviz.decode or bartviz.open"


def expect(given: object, kind: type | tuple[type, ...], how: str) -> None:
    """Raise SettingError unless ``given`` is of that type; ``how`` says what it should be and where to get it."""
    if not isinstance(given, kind):
        what = "None" if given is None else f"an object of type {type(given).__name__}"
        raise SettingError(f"This figure cannot draw {what}. It needs {how}.")


def expect_word(word: str, words: Sequence[str], what: str) -> None:
    """Raise SettingError, with the choices, for a word that is not one of them; ``what`` begins the sentence."""
    if word not in words:
        raise SettingError(f"{what} is one of {choices(words)}.")
