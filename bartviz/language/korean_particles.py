"""Korean particles after a value: 을/를, 은/는, 이/가, 과/와, (으)로, (이)라고, chosen by its pronunciation.

A translation contains both, ``{token}을(를)``; ``filled`` inserts the value and keeps the particle that fits. It
depends on the last sound: a final consonant (받침) asks for 을, 은, 이, 과, none for 를, 는, 가, 와; ``(으)`` is used
after a final consonant other than ㄹ. Hangul spells it out, numbers are read as Sino-Korean, Latin words by the usual
way of writing them in Hangul (외래어 표기법), letters and acronyms by the names of the letters. Text in brackets after
a word is an aside, so the word before it counts. If the sound is unknown, as after an emoji, both stay.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from bartviz.language import percentages

Sound = Literal["vowel", "ㄹ", "consonant"]
PAIR = re.compile(r"(을\(를\)|은\(는\)|이\(가\)|[와과]\([와과]\)|\(으\)(?=로)|\(이\)(?=[가-힣]))")
# (after a consonant, after a vowel); the particles with 으 alone treat ㄹ as a vowel
_CHOICES = {"을(를)": "을를", "은(는)": "은는", "이(가)": "이가", "와(과)": "과와", "과(와)": "과와"}

_CLOSING = re.compile(r"(?:</(?:b|i|code|em|span|strong)>|[*_`~$\\”’\"'»›」』])+$")
# A lone punctuation mark is read by its name: 마침표 쉼표 느낌표 물음표 줄임표, but 쌍점 쌍반점 공백.
_MARK = re.compile(r"(?:^|[\s“‘\"'`*(\[>])\\?([.,!?…⋯:;␣])$")
_BRACKETED = re.compile(r"(?<=\S)\s*\([^()]*\)$")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}$")  # filled elsewhere: by a script, by plotly
_BEYOND = re.compile(r"[.,:;!?…)\]}>]+$")
_NUMBER = re.compile(r"\d(?:[\d,]*\d)?(?:\.\d+)?$")
_LATIN = re.compile(r"[a-z]+$", re.IGNORECASE)

_DIGITS: tuple[Sound, ...] = (
    "consonant",
    "ㄹ",
    "vowel",
    "consonant",
    "vowel",
    "vowel",
    "consonant",
    "ㄹ",
    "ㄹ",
    "vowel",
)
# by zeros at the end: 십 백 천, 만 (to 천만), 억 (to 천억), 조 (to 천조)
_ZEROS: tuple[Sound, ...] = (*("consonant",) * 11, *("vowel",) * 4)
_LETTERS: dict[str, Sound] = {"l": "ㄹ", "r": "ㄹ", "m": "consonant", "n": "consonant"}  # 엘 알 엠 엔
# The final sound of a word in Hangul: the first pattern that fits.
_ENDINGS: tuple[tuple[str, Sound], ...] = (
    (r"^(?:set|bit|hit|net|mat|hat|gut|mit|dot|kit|check|knock)$", "vowel"),  # 세트 비트 체크
    (r"(?:web|club|pub|lab|job|tab|good|god|big|bag)$", "consonant"),  # 웹 클럽 굿
    (r"(?:eine|[lmn]{2}e|h[lmn]e)$", "vowel"),  # German: eine, alle, ohne
    (r"[aeiouy].*le$|l$", "ㄹ"),  # table, model
    (r"[aeiouy].*[mn]e$|[mn]$|ng$|mb$", "consonant"),  # time, token, king, thumb
    (r"ck$|(?:^|[^aeiou])[aeiou][ptkc]$|(?:ook|eep|out|oup|foot)$", "consonant"),  # back, cat, book
    (r"", "vowel"),  # weight, car, mask
)


def filled(message: str, values: Mapping[str, object]) -> str:
    """``message`` with its ``{names}`` filled as by ``shares.filled``, and each pair of particles resolved."""
    text = ""
    for number, part in enumerate(_parts(message)):
        text += _decided(part, text) if number % 2 else percentages.filled(part, values)
    return text


def sound(text: str) -> Sound | None:
    """The final sound of ``text`` when read aloud; None if unknown."""
    text = _CLOSING.sub("", unicodedata.normalize("NFC", html.unescape(text[-200:])))
    if mark := _MARK.search(text):
        return "consonant" if mark[1] in ":;␣" else "vowel"
    if _PLACEHOLDER.search(text):
        return None
    aside = _BRACKETED.search(text)
    if aside and (before := sound(text[: aside.start()])):
        return before
    text = _CLOSING.sub("", _BEYOND.sub("", text))
    if text.endswith("%"):  # 퍼센트
        return "vowel"
    if number := _NUMBER.search(text):
        return _number(number[0].replace(",", ""))
    last = text[-1:]
    if "가" <= last <= "힣":
        return _final((ord(last) - ord("가")) % 28)
    if "ㄱ" <= last <= "ㅣ":  # a letter by its name: 기역, 리을, 아
        return "ㄹ" if last == "ㄹ" else "consonant" if last <= "ㅎ" else "vowel"
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    word = _LATIN.search(plain.removesuffix("ß"))
    return _latin(word[0]) if word else None


@lru_cache(maxsize=1024)
def _parts(message: str) -> tuple[str, ...]:
    return tuple(PAIR.split(message))


def _decided(pair: str, before: str) -> str:
    final = sound(before)
    if final is None:
        return pair
    if pair in _CHOICES:
        return _CHOICES[pair][final == "vowel"]
    wanted = final == "consonant" or (final == "ㄹ" and pair == "(이)")
    return pair[1] if wanted else ""


def _final(consonant: int) -> Sound:
    return "vowel" if consonant == 0 else "ㄹ" if consonant == 8 else "consonant"


def _number(digits: str) -> Sound | None:
    zeros = len(digits) - len(digits.rstrip("0"))
    if "." in digits or zeros in (0, len(digits)):  # decimals are read digit by digit; 0 is 영
        return _DIGITS[int(digits[-1])]
    return _ZEROS[zeros - 1] if zeros <= len(_ZEROS) else None


def _latin(word: str) -> Sound:
    lower = word.lower()
    if len(word) == 1 or word.isupper() or not set(lower) & set("aeiouy"):
        return _LETTERS.get(lower[-1], "vowel")
    return next(found for ending, found in _ENDINGS if re.search(ending, lower))
