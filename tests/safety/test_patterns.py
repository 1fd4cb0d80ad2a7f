"""Regular expressions of tokenizers: those of known models pass, those that take for ever do not."""

from __future__ import annotations

import math

import pytest
import regex

from bartviz.models.tokenizer_parts import REWRITTEN
from bartviz.safety.patterns import is_linear, matches_nothing, steps

SUFFIXES = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
KNOWN = {
    "GPT-2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "Llama 3": rf"{SUFFIXES}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{SPACES}",
    "Qwen 2": rf"{SUFFIXES}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{SPACES}",
    "GPT-4": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|"
        r"\s+(?!\S)|\s"
    ),
    "GPT-4o": (
        rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{SUFFIXES}?|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{SUFFIXES}?|"
        rf"\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{SPACES}"
    ),
    "DeepSeek 3": (
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
        rf" ?[\p{{P}}\p{{S}}]+[\r\n]*|{SPACES}"
    ),
    "EXAONE": (
        rf"{SUFFIXES}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|\p{{N}}|"
        r" ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
    ),
    "CLIP": r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
    "Bloom": r" ?[^(\s|[.,!?…。，、।۔،])]+",
    "digits": "[0-9][0-9][0-9]",
    "three digits": r"\p{N}{1,3}",
    "Chinese and Japanese": "[一-龥぀-ゟ゠-ヿ]+",
    "words after a space": r"\s?\p{L}+",
    "line ends": "[\r\n]",
    "several spaces": " {2,}",
}


@pytest.mark.parametrize("name", KNOWN)
def test_patterns_of_known_models_pass(name: str) -> None:
    assert is_linear(KNOWN[name])


@pytest.mark.parametrize(
    "pattern",
    [
        *("a*a*b", "(a+)+b", "(a|aa)+$", "(x+x+)+y", ".*.*=.*", r"(\w+\s?)*$", "a*b", "(a*)*b", "(a|b|ab)*c", "a+?b"),
        *(r"\s+$", r"\s*[\r\n]+|\s|\s+", "x*y*z*w", "(?:a|b+c)*", "(?:a+b?)+c", "[a-z]*[0-9]|x", "a++b"),
        *("[a-z]{1,90}[a-z]{1,90}[0-9]", "[a-z]{200}[0-9]|[b-z]{300}[0-9]|[c-z]{501}", "(?:[a-z]|a){10}b"),
        *("(a?){30}a{30}", "((a{200}){200}){200}", "a{1000}{1000}", "a{99999}"),  # bounded, and yet too much
        *(r"(.)\1", r"(?<n>a)\k<n>", "(?=a*b)c", "(?<=a*)b", r"\X+", "(?R)", "(?#", "(", "[a", "*", "a" * 5000),
        *("(" * 900 + "a" + ")" * 900, "[" * 900),
    ],
)
def test_patterns_that_may_take_for_ever_are_refused(pattern: str) -> None:
    assert not is_linear(pattern)


@pytest.mark.parametrize(
    ("pattern", "most"), [("[a-z]{1,5}x", 5 * 6), ("(?:a|b|c)de|f", 3 * 3 + 1), (r"\p{L}+", 1), ("a(", math.inf)]
)
def test_steps_are_the_ways_times_the_signs_of_each(pattern: str, most: float) -> None:
    assert steps(pattern) == most


def test_a_pattern_that_matches_everywhere_is_known() -> None:
    assert all(map(matches_nothing, ("", "a*", "a|", "(?:a?b*)", "(")))
    assert not any(map(matches_nothing, ("a", "a+", "[ab]|c", " {2,}")))


@pytest.mark.parametrize("old", REWRITTEN)
def test_what_is_rewritten_matches_the_same(old: str) -> None:
    from itertools import product

    for signs in product("a \n", repeat=7):
        text = "".join(signs)
        found = [[match.span() for match in regex.finditer(f"(?m){one}", text)] for one in (old, REWRITTEN[old])]
        assert found[0] == found[1], repr(text)
