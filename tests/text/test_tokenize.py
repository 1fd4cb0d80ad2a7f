"""Text <-> tokens, on small real tokenizers of every kind; transformers' own ids are the reference."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np
import pytest
import regex
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bartviz.errors import SettingError
from bartviz.run import prepare
from bartviz.text import tokenize
from bartviz.text.tokenize import encoder_of
from bartviz.text.tokens import Tokens
from tests.support.process import printed
from tests.support.small_tokenizers import BYTE_LEVEL, NAMES, SENTENCEPIECE, bart, lines, tokenizer

FAMILY = "👨‍👩‍👧"
ACCENT = "e\u0301"
TYPED = "<s> </s> <pad> <mask> [CLS] [SEP] [MASK] <unk> <|endoftext|> <extra_id_0> <mask_1>"
HARD = (
    "I want to buy a car.",
    "한국어 번역가",
    f"caf{ACCENT} é {FAMILY} x",
    "สวัสดีครับ 你好吗abc",
    "مَرْحَبًا بك",
    "हिन्दी",
    "a" + "\u0301" * 200 + " b",
    "the the the  the",
    "1999 12 3",
    "2024-01-01",
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "'\"><img onerror=x>",
    "![a](http://a.b)",
    "**b** # h ##ing $x$ :red[r]",
    "%{z}",
    " a\u00a0b\tc\r\nd",
    "a\u200bb\u202ec\u200d",
    "ﬁ ① ½ x…",
    "▁a ▁ Ġb ##c",
    "🇩🇪🏴󠁧󠁢󠁥󠁮󠁧󠁿1️⃣👍🏽",
    ">>deu<< Ja",
    ">>xyz<< Ja",
    "\n",
    "  ",
    ".",
)

UNSEEN = regex.compile(
    r"[[\p{Cc}\p{Cn}\p{Co}\p{Z}--\x20]\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u3164]",
    regex.VERSION1,
)
anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
fragments = st.lists(st.sampled_from([*HARD, *"aeE.' \n\u0301\u200d", "😀", "한", "국", "word"]), max_size=8).map(
    "".join
)
texts = st.one_of(anything, fragments)
every = pytest.mark.parametrize("name", NAMES)


def rows(made: Tokens, text: str) -> list[tuple[str, str, int | None, str | None]]:
    """(piece, label, word, text of the span) of each token."""
    spans = [None if span is None else text[slice(*span)] for span in made.spans]
    return list(zip(made.pieces, made.labels, made.words, spans, strict=True))


def check(made: Tokens, *of: str) -> None:
    """What is true of the tokens of every text."""
    for segment, text in enumerate(of):
        spans = [span for span, where in zip(made.spans, made.segments, strict=True) if span and where == segment]
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert spans == sorted(spans)
        assert [end for _, end in spans] == sorted(end for _, end in spans)
    words = [word for word in made.words if word is not None]
    assert words == sorted(words)
    assert set(words) == set(range(len(set(words))))  # no number is left out
    for i, label in enumerate(made.labels):
        assert label.strip(), made.pieces[i]
        assert not UNSEEN.search(label)
        assert not made.special[i] or made.words[i] is None


# --- labels ------------------------------------------------------------------------------------------------------


def test_wordpiece_marks_what_goes_on_with_a_word() -> None:
    text = "Want transing!"
    made = rows(tokenize.encode(tokenizer("bert"), text), text)
    assert made[0] == ("[CLS]", "[CLS]", None, None)
    assert made[1] == ("want", "want", 0, "Want")
    pieces = [row for row in made if row[2] == 1]
    assert len(pieces) > 1
    assert [piece for piece, *_ in pieces[1:]] == ["##" + label.removeprefix("⋯") for _, label, *_ in pieces[1:]]
    assert [label[0] == "⋯" for _, label, *_ in pieces] == [False, *[True] * (len(pieces) - 1)]
    assert made[-2][1:] == ("!", 2, "!")


def test_hashes_typed_by_the_user_are_text() -> None:
    text = "buy ##ing"
    made = tokenize.encode(tokenizer("bert"), text)
    hashes = [row for row in rows(made, text) if row[3] == "#"]
    assert [row[1:] for row in hashes] == [("[UNK]", 1, "#"), ("[UNK]", 2, "#")]


def test_korean_emoji_and_accents_of_many_bytes_show_once() -> None:
    text = f"뷁 {ACCENT}{FAMILY}!"
    made = tokenize.encode(tokenizer("gpt2"), text)
    shown = [(label, span) for _, label, _, span in rows(made, text)]
    assert shown[:3] == [("뷁", "뷁"), ("⋯", "뷁"), ("⋯", "뷁")]
    accent = [label for label, span in shown if span == ACCENT]
    family = [label for label, span in shown if span == FAMILY]
    assert accent == [ACCENT, "⋯", "⋯"]
    assert family[0] == FAMILY
    assert set(family[1:]) == {"⋯"}
    assert len(family) > 10
    assert made.words[-1] == max(word for word in made.words if word is not None)


def test_korean_that_cuts_between_letters_of_a_syllable_stays_readable() -> None:
    from transformers import BertTokenizer

    vocabulary = {piece: i for i, piece in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "ᄒ", "##ᅡ", "##ᆫ"])}
    multilingual = BertTokenizer(vocab=vocabulary, do_lower_case=True)  # lower case splits syllables into letters
    made = tokenize.encode(multilingual, "한")
    assert rows(made, "한")[1:-1] == [("ᄒ", "ᄒ", 0, "한"), ("##ᅡ", "⋯ᅡ", 0, "한"), ("##ᆫ", "⋯ᆫ", 0, "한")]


def test_an_uncased_model_shows_what_it_reads() -> None:
    text = f"{ACCENT.upper()}in"
    made = tokenize.encode(tokenizer("bert"), text)
    assert "".join(label.removeprefix("⋯") for label in made.labels[1:-1]) == "ein"
    assert made.spans[1] is not None
    assert made.spans[1][0] == 0


def test_nothing_is_invisible() -> None:
    text = "a\u200bb\u202ec\td\u00a0e\n\u00ad\u2066\u3164"
    labels = tokenize.encode(tokenizer("gpt2"), text).labels
    for sign in ("‹ZWSP›", "‹RLO›", "⇥", "⍽", "↵", "‹SHY›", "‹LRI›", "‹U+3164›"):
        assert sign in labels


def test_spaces_of_their_own() -> None:
    assert tokenize.encode(tokenizer("gpt2"), "a   car").labels == ("a", "␣", "␣", "car")
    assert tokenize.encode(tokenizer("gpt2"), "a   car").words == (0, None, None, 1)
    assert tokenize.encode(tokenizer("bart"), "a   car").spans == (None, (0, 1), (1, 2), (2, 3), (4, 7), None)


def test_many_marks_are_counted_not_stacked() -> None:
    made = tokenize.encode(tokenizer("gpt2"), "a" + "\u0301" * 200)
    assert made.labels[0] == "a" + "\u0301" * 4 + "‹+196›"
    assert set(made.labels[1:]) == {"⋯"}
    assert set(made.spans) == {(0, 201)}


@pytest.mark.slow
def test_sentencepiece_spaces_belong_to_the_word_after_them() -> None:
    text = "뷁 car"
    made = tokenize.encode(tokenizer("t5_model"), text)
    assert rows(made, text)[:2] == [("▁", "␣", 0, None), ("<unk>", "<unk>", 0, "뷁")]
    assert made.words[2] == 1
    text = "a 뷁"
    for name in SENTENCEPIECE:
        assert ("▁", "␣", 1, " ") in rows(tokenize.encode(tokenizer(name), text), text), name


def test_a_ligature_of_several_pieces() -> None:
    text = "x ﬁ"
    assert [row[1:] for row in rows(tokenize.encode(tokenizer("t5_model"), text), text)[-3:-1]] == [
        ("f", 1, "ﬁ"),
        ("⋯i", 1, "ﬁ"),
    ]


# --- words -------------------------------------------------------------------------------------------------------


def words_of(made: Tokens, text: str) -> list[str]:
    """The text of each word, from the spans of its tokens."""
    found = []
    for word in range(1 + max((word for word in made.words if word is not None), default=-1)):
        spans = [s for s, w in zip(made.spans, made.words, strict=True) if s is not None and w == word]
        found.append(text[min(s for s, _ in spans) : max(e for _, e in spans)].strip())
    return found


KNOWN = (
    ("I want to buy a car.", ["I", "want", "to", "buy", "a", "car", "."]),
    ("the the the the", ["the"] * 4),
    ("it doesn't like", ["it", "doesn't", "like"]),
    ("(books), words!", ["(", "books", ")", ",", "words", "!"]),
    ("한국어 단어를", ["한국어", "단어를"]),
)
UNKNOWN = (
    ("1999 12 3", ["1999", "12", "3"]),
    ("مَرْحَبًا بك", ["مَرْحَبًا", "بك"]),
    ("हिन्दी में", ["हिन्दी", "में"]),
    (f"{FAMILY} a", [FAMILY, "a"]),
    (f"caf{ACCENT} x", [f"caf{ACCENT}", "x"]),
)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "expected"), KNOWN)
@every
def test_words_are_what_a_reader_counts(name: str, text: str, expected: list[str]) -> None:
    assert words_of(tokenize.encode(tokenizer(name), text), text) == expected


@pytest.mark.parametrize(("text", "expected"), UNKNOWN)
@every
def test_words_of_signs_that_were_never_trained(name: str, text: str, expected: list[str]) -> None:
    made = tokenize.encode(tokenizer(name), text)
    check(made, text)
    assert words_of(made, text) == expected


def test_without_spaces_between_words_each_piece_is_one() -> None:
    text = "你好abc สวัสดี"
    assert words_of(tokenize.encode(tokenizer("gpt2"), text), text) == ["你", "好", "abc", "ส", "วั", "ส", "ดี"]


def test_a_token_over_several_words_makes_them_one() -> None:
    own = bart()
    own.add_tokens(["car!!"])
    made = tokenize.encode(own, "a car!! a")
    assert [label for label, special in zip(made.labels, made.special, strict=True) if not special] == [
        "a",
        "␣",
        "car!!",
        "a",
    ]
    assert made.words[1:-1] == (0, 1, 1, 2)


# --- ids, special tokens, pairs, targets -------------------------------------------------------------------------


def plain(text: str) -> bool:
    """No special token of any tokenizer, nor what a language code begins with."""
    return not any(sign in unicodedata.normalize("NFKC", text) for sign in "<[>")


@pytest.mark.slow
@every
@settings(deadline=None, max_examples=30)
@given(text=texts)
def test_ids_are_those_of_transformers(name: str, text: str) -> None:
    assume(plain(text))
    made = tokenize.encode(tokenizer(name), text)
    assert made.ids.tolist() == tokenizer(name)(text).input_ids


@pytest.mark.slow
@every
@settings(deadline=None, max_examples=25)
@given(text=texts)
def test_ids_with_special_tokens_are_those_of_transformers(name: str, text: str) -> None:
    assume(not text.startswith(">>"))
    made = tokenize.encode(tokenizer(name), f"{text}{TYPED}", allow_special=True)
    assert made.ids.tolist() == tokenizer(name)(f"{text}{TYPED}", split_special_tokens=False).input_ids
    check(made, f"{text}{TYPED}")


@every
def test_typed_special_tokens_are_text(name: str) -> None:
    own = tokenizer(name)
    around = tokenize.encode(own, "x")
    made = tokenize.encode(own, TYPED)
    check(made, TYPED)
    special = encoder_of(own).special
    assert made.special.sum() == around.special.sum()
    assert [i for i, s in zip(made.ids.tolist(), made.special.tolist(), strict=True) if not s and i in special] == []
    # nor is "<unk>" the unknown token: its letters are there
    letters = "".join(label.removeprefix("⋯") for label in made.labels)
    assert "unk" in letters


@every
def test_typed_special_tokens_when_asked(name: str) -> None:
    own = tokenizer(name)
    mask = own.mask_token or own.eos_token
    text = f"I want {mask} car"
    made = tokenize.encode(own, text, allow_special=True)
    place = made.labels.index(mask)
    assert (made.ids[place], made.special[place], made.words[place]) == (own.convert_tokens_to_ids(mask), True, None)
    assert made.spans[place] == (7, 7 + len(mask))
    assert words_of(made, text) == ["I", "want", "car"]


@every
def test_pairs(name: str) -> None:
    own = tokenizer(name)
    first, second = "I want a car.", "car 한국어"
    made = tokenize.encode(own, first, pair=second)
    check(made, first, second)
    assert made.ids.tolist() == own(first, second).input_ids
    inside = ~made.special
    assert sorted(set(made.segments[inside].tolist())) == [0, 1]
    shared = {w for w, s in zip(made.words, made.segments, strict=True) if s == 0 and w is not None} & {
        w for w, s in zip(made.words, made.segments, strict=True) if s == 1 and w is not None
    }
    assert shared == set()
    last = [s for s, w in zip(made.spans, made.segments, strict=True) if w == 1 and s is not None][-1]
    assert second[: last[1]] == second


def test_segments_of_bert_are_its_token_types() -> None:
    own = tokenizer("bert")
    assert tokenize.encode(own, "a car", pair="a book").segments.tolist() == own("a car", "a book").token_type_ids


def test_a_pair_with_an_empty_second_sentence_stays_a_pair() -> None:
    assert tokenize.encode(tokenizer("bert"), "car", pair="").labels == ("[CLS]", "car", "[SEP]", "[SEP]")


@pytest.mark.parametrize("name", ["marian", "mbart", "t5", "bart"])
def test_targets(name: str) -> None:
    own, text = tokenizer(name), "Die Lehrerin übersetzt drei Bücher."
    made = tokenize.encode(own, text, target=True)
    assert made.ids.tolist() == own(text_target=text).input_ids
    check(made, text)


def test_targets_differ_where_languages_do() -> None:
    assert tokenize.encode(tokenizer("mbart"), "Ja").labels[-1] == "en_XX"
    assert tokenize.encode(tokenizer("mbart"), "Ja", target=True).labels[-1] == "de_DE"


def test_language_codes_of_marian() -> None:
    own = tokenizer("marian")
    made = tokenize.encode(own, ">>deu<< Ja")
    assert (made.pieces[0], made.special[0], made.spans[0]) == (">>deu<<", True, (0, 7))
    assert made.ids.tolist() == own(">>deu<< Ja").input_ids
    assert not tokenize.encode(own, ">>xyz<< Ja").special[0]  # the model has no such code: text


# --- properties --------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("text", HARD)
def test_hard_texts(name: str, text: str) -> None:
    check(tokenize.encode(tokenizer(name), text), text)
    check(tokenize.encode(tokenizer(name), text, pair=text), text, text)


@every
@settings(deadline=None, max_examples=40)
@given(text=texts)
def test_every_text_has_true_labels_words_and_spans(name: str, text: str) -> None:
    made = tokenize.encode(tokenizer(name), text)
    check(made, text)
    again, there = tokenize.from_ids(tokenizer(name), made.ids.tolist())
    check(there, again)
    assert len(there) == len(made)


@pytest.mark.parametrize("name", BYTE_LEVEL)
@settings(deadline=None, max_examples=100)
@given(text=texts)
def test_byte_level_text_comes_back(name: str, text: str) -> None:
    own = tokenizer(name)
    made = tokenize.encode(own, text)
    again, there = tokenize.from_ids(own, made.ids.tolist())
    assert again == text
    assert there == made
    seen = {i for span in made.spans if span is not None for i in range(*span)}
    assert all(i in seen for i, sign in enumerate(text) if not sign.isspace())


@pytest.mark.parametrize("name", BYTE_LEVEL)
@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_any_ids_give_the_text_of_transformers(name: str, data: Any) -> None:
    own = tokenizer(name)
    ids = data.draw(st.lists(st.integers(0, len(own) - 1), max_size=30))
    assume(own.unk_token_id not in ids or own.unk_token_id == own.eos_token_id)
    text, made = tokenize.from_ids(own, ids)
    assert text == own.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    check(made, text)


# --- from_ids, label, pad, join, unread --------------------------------------------------------------------------


@every
@pytest.mark.parametrize("text", [lines()[i] for i in (0, 40, 100, 200, 300)])
def test_the_text_of_ids_reads_as_it_was(name: str, text: str) -> None:
    again, made = tokenize.from_ids(tokenizer(name), tokenize.encode(tokenizer(name), text).ids.tolist())
    fold = {"bert": "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")}
    if not any("unk" in label.lower() for label in made.labels):
        assert again == unicodedata.normalize("NFC", fold.get(name, text))


def test_wordpiece_text_is_written_without_needless_spaces() -> None:
    own = tokenizer("bert")
    for text in ["i want the book, every word!", "it doesn't", "(books)"]:
        again, made = tokenize.from_ids(own, tokenize.encode(own, text).ids.tolist())
        assert again == text
        check(made, again)


def test_bytes_of_no_character_are_shown_as_bytes() -> None:
    own = tokenizer("gpt2")
    ids = tokenize.encode(own, "a뷁").ids.tolist()
    text, made = tokenize.from_ids(own, ids[:-1])
    assert text == "a\ufffd"
    assert made.labels[1].startswith("‹EB")
    assert made.spans[1] == (1, 2)


def test_ids_outside_the_vocabulary_are_named() -> None:
    for name in NAMES:
        text, made = tokenize.from_ids(tokenizer(name), [10**6, 10**9])
        assert (text, made.labels, made.spans) == ("", ("‹id 1000000›", "‹id 1000000000›"), (None, None))


def test_special_tokens_are_left_out_of_the_text() -> None:
    own = tokenizer("bart")
    text, made = tokenize.from_ids(own, tokenize.encode(own, "a car").ids.tolist())
    assert text == "a car"
    assert made.labels == ("<s>", "a", "car", "</s>")
    assert tokenize.from_ids(own, [own.eos_token_id])[1].labels == ("</s>",)


def test_byte_fallback_pieces_are_bytes() -> None:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    pieces = [("<unk>", 0.0), ("▁a", -1.0), *((f"<0x{byte:02X}>", -9.0) for byte in range(256))]
    backend = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=True))
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    own = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>")
    made = tokenize.encode(own, "a한")
    assert [label for label, span in zip(made.labels, made.spans, strict=True) if span == (1, 2)] == ["⋯한", "⋯", "⋯"]
    assert tokenize.from_ids(own, made.ids.tolist())[0] == "a한"


def test_label_of_a_candidate() -> None:
    own = tokenizer("gpt2")
    space, a = own.convert_tokens_to_ids(["Ġcar", "a"])
    assert tokenize.label(own, space) == "car"
    assert tokenize.label(own, space, [a]) == "car"
    assert tokenize.label(own, a) == "⋯a"
    assert tokenize.label(own, a, []) == "a"
    assert tokenize.label(own, a, [space]) == "⋯a"
    *start, last = tokenize.encode(own, "뷁").ids.tolist()
    assert tokenize.label(own, last, start) == "⋯뷁"
    assert tokenize.label(own, own.convert_tokens_to_ids(".")) == "."
    assert tokenize.label(own, own.convert_tokens_to_ids("."), [space]) == "."
    assert tokenize.label(own, own.convert_tokens_to_ids("Ġ")) == "␣"
    assert tokenize.label(own, start[0]).startswith("‹EB")
    assert tokenize.label(own, last).startswith("⋯‹")
    assert tokenize.label(own, own.eos_token_id, [a]) == "<|endoftext|>"
    bert = tokenizer("bert")
    inside = next(piece for piece in bert.get_vocab() if piece.startswith("##"))
    assert tokenize.label(bert, bert.convert_tokens_to_ids(inside)) == "⋯" + inside[2:]
    assert tokenize.label(bert, bert.convert_tokens_to_ids("car"), []) == "car"


@every
def test_every_piece_of_every_vocabulary_has_a_label(name: str) -> None:
    own = tokenizer(name)
    for token_id in range(len(own)):
        assert tokenize.label(own, token_id).strip()


def test_padding() -> None:
    own = tokenizer("bart")
    made = tokenize.encode(own, "a car")
    padded = tokenize.pad(made, own, 6)
    assert padded.ids.tolist() == [*made.ids.tolist(), own.pad_token_id, own.pad_token_id]
    assert padded.labels[-1] == "<pad>"
    assert padded.special.tolist() == [True, False, False, True, True, True]
    assert padded.words[-2:] == (None, None)
    assert padded.spans[-2:] == (None, None)
    assert padded.take(slice(0, len(made))) == made
    assert tokenize.pad(made, own, len(made)) is made
    with pytest.raises(SettingError, match="at least 4"):
        tokenize.pad(made, own, 3)
    assert tokenize.pad(tokenize.encode(tokenizer("gpt2"), "a"), tokenizer("gpt2"), 2).labels == ("a", "<|endoftext|>")


def test_joining_numbers_words_on() -> None:
    own = tokenizer("gpt2")
    first, second = tokenize.encode(own, "a car"), tokenize.encode(own, "a car")
    joined = tokenize.join(first, second)
    assert joined.words == (0, 1, 2, 3)
    assert np.array_equal(joined.ids, np.concatenate([first.ids, second.ids]))


def unread(name: str, text: str) -> tuple[float, float]:
    """The shares of letters in unknown tokens, and of letters that are bytes."""
    own = tokenizer(name)
    return prepare.unread(tokenize.encode(own, text), own, text)[:2]


def test_letters_that_the_vocabulary_lacks() -> None:
    for name in ("bert", "t5", "marian"):  # their pieces are whole characters, known or not
        assert unread(name, "뷁 뷁") == (1, 0)
        assert unread(name, "a car") == (0, 0)
    assert unread("bert", "a car 뷁 뷁") == (2 / 6, 0)
    assert unread("bert", "") == (0, 0)
    assert unread("gpt2", "뷁") == (0, 1)
    assert unread("gpt2", "car 뷁!") == (0, 1 / 4)  # of three tokens for one letter one is counted
    assert unread("gpt2", "a car") == (0, 0)
    assert unread("gpt2", "") == (0, 0)


def test_letters_of_a_pair_are_counted_together() -> None:
    own = tokenizer("gpt2")
    tokens = tokenize.encode(own, "car", pair="뷁")
    assert prepare.unread(tokens, own, "car", "뷁")[:2] == (0, 1 / 4)


def test_neither_torch_nor_transformers_is_imported() -> None:
    code = "import sys, bartviz.text.tokenize; print({'torch', 'transformers'} & {*sys.modules})"
    assert printed(code).strip() == "set()"
