"""Numbers, clock times and dates in English and German, as digits and as words."""

from __future__ import annotations

from training import lists

_EN, _DE = (lists.words("words.toml", f"{name}_numbers") for name in ("english", "german"))
_EN_TENS, _DE_TENS = (("", "", *lists.words("words.toml", f"{name}_tens")) for name in ("english", "german"))
_EN_ORDINAL = {1: "first", 2: "second", 3: "third", 5: "fifth", 8: "eighth", 9: "ninth", 12: "twelfth"}
_DE_ORDINAL = {1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}


def english(n: int) -> str:
    """`n` (0 to 999,999) in English words."""
    if n < 20:
        return _EN[n]
    if n < 100:
        return _EN_TENS[n // 10] + (f"-{_EN[n % 10]}" if n % 10 else "")
    if n < 1000:
        return f"{_EN[n // 100]} hundred" + (f" and {english(n % 100)}" if n % 100 else "")
    rest = n % 1000
    return f"{english(n // 1000)} thousand" + (f"{' and' if rest < 100 else ''} {english(rest)}" if rest else "")


def german(n: int) -> str:
    """`n` (0 to 999,999) in German words, as one counts: 1 is `eins`, 100 `hundert`."""
    text = _german(n) + ("s" if n % 100 == 1 else "")
    return text.removeprefix("ein") if text.startswith(("einhundert", "eintausend")) else text


def _german(n: int) -> str:
    if n < 20:
        return _DE[n]
    if n < 100:
        return (f"{_DE[n % 10]}und" if n % 10 else "") + _DE_TENS[n // 10]
    if n < 1000:
        return f"{_DE[n // 100] if n >= 200 else 'ein'}hundert" + (_german(n % 100) if n % 100 else "")
    return f"{_german(n // 1000)}tausend" + (_german(n % 1000) if n % 1000 else "")


def english_ordinal(n: int) -> str:
    """`n` (1 to 99) as an ordinal number in English words: `twenty-first`."""
    if n > 20 and n % 10:
        return f"{_EN_TENS[n // 10]}-{english_ordinal(n % 10)}"
    if n in _EN_ORDINAL:
        return _EN_ORDINAL[n]
    return f"{english(n)[:-1]}ieth" if n >= 20 else f"{english(n)}th"


def german_ordinal(n: int) -> str:
    """The stem of the ordinal number `n` (1 to 99) in German words, to which an ending is added: `einundzwanzigst`."""
    if n < 20:
        return _DE_ORDINAL.get(n, f"{_german(n)}t")
    return f"{_german(n)}st"


def nth(n: int) -> str:
    """`n` as an English ordinal number in digits: 1st, 12th, 23rd."""
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def grouped(n: int) -> tuple[str, str]:
    """Digits in groups of three: `12,500` and `12.500`."""
    text = f"{n:,}"
    return text, text.replace(",", ".")


def decimal(whole: int, part: str) -> tuple[str, str]:
    """A number with a decimal point, and with a decimal comma."""
    return f"{whole}.{part}", f"{whole},{part}"


def clock_words(hour: int, minute: int) -> tuple[str, str]:
    """A time in words, `hour` of 1 to 12 and `minute` a multiple of 5: `half past six`, `halb sieben`."""
    after = hour % 12 + 1
    if minute == 0:
        return f"{english(hour)} o'clock", f"{_german(hour)} Uhr"
    if minute == 15:
        return f"a quarter past {english(hour)}", f"Viertel nach {german(hour)}"
    if minute == 30:
        return f"half past {english(hour)}", f"halb {german(after)}"
    if minute == 45:
        return f"a quarter to {english(after)}", f"Viertel vor {german(after)}"
    if minute < 30:
        return f"{english(minute)} past {english(hour)}", f"{german(minute)} nach {german(hour)}"
    return f"{english(60 - minute)} to {english(after)}", f"{german(60 - minute)} vor {german(after)}"


def clock_digits(hour: int, minute: int) -> tuple[str, str]:
    """A time in digits, `hour` of 0 to 23, on the clock of 24 hours on both sides: `18:05`, `18:05 Uhr`."""
    text = f"{hour}:{minute:02d}"
    return text, f"{text} Uhr"


def clock_halves(hour: int, minute: int) -> tuple[str, str]:
    """A time of `hour` 1 to 23 with a.m. or p.m., and on the clock of 24 hours: `6:30 p.m.`, `18:30 Uhr`."""
    half = "a.m." if hour < 12 else "p.m."
    short = (hour - 1) % 12 + 1
    minutes = f":{minute:02d}" if minute else ""
    return f"{short}{minutes} {half}", f"{hour}{minutes} Uhr"
