"""How each kind of vocabulary writes text."""

from __future__ import annotations

from tokenizers.pre_tokenizers import ByteLevel

from bartviz.text.labels import Scheme
from tests.support.small_tokenizers import tokenizer


def scheme(name: str) -> Scheme:
    return Scheme.of(tokenizer(name).backend_tokenizer)


def test_each_tokenizer_has_its_scheme() -> None:
    kinds = {name: scheme(name).kind for name in ("bert", "bart", "gpt2", "t5", "t5_model", "pegasus", "mbart")}
    assert kinds == {
        "bert": "prefix",
        "bart": "bytes",
        "gpt2": "bytes",
        "t5": "space",
        "t5_model": "space",
        "pegasus": "space",
        "mbart": "space",
    }


def test_a_piece_as_text() -> None:
    assert scheme("bert").text("##ing") == b"ing"
    assert scheme("bert").text("car") == b" car"
    assert scheme("bert").text("##") == b" ##"  # the sign alone continues nothing
    assert scheme("gpt2").text("Ġcar") == b" car"
    assert scheme("gpt2").text("ì") == b"\xec"
    assert scheme("gpt2").text("<|endoftext|>") == b"<|endoftext|>"
    assert scheme("t5").text("▁car") == b" car"
    assert Scheme("space", "▁", byte_fallback=True).text("<0xEC>") == b"\xec"
    assert Scheme("space", "▁").text("<0xEC>") == b"<0xEC>"
    assert Scheme("suffix", "</w>").text("car</w>") == b"car "


def test_every_byte_has_one_sign() -> None:
    signs = ByteLevel.alphabet()  # the tokenizers library's own
    written = [Scheme("bytes").text(sign) for sign in signs]
    assert sorted(written) == [bytes([byte]) for byte in range(256)]


def test_pieces_of_a_text_are_spaced_as_people_write() -> None:
    def joined(*pieces: str) -> bytes:
        return b"".join(scheme("bert").texts(list(pieces)))

    assert joined("the", "car", ".") == b"the car."
    assert joined("(", "book", "##s", ")", ",", "yes", "!") == b"(books), yes!"
    assert joined("don", "'", "t", "go") == b"don't go"
    assert joined("say", "'", "so", "'") == b"say'so '"  # a quotation mark and an apostrophe look the same
    assert b"".join(scheme("t5").texts(["▁the", "▁car", "."])) == b"the car."
    assert b"".join(scheme("gpt2").texts(["Ġthe", "Ġcar"])) == b" the car"
    assert b"".join(Scheme("suffix", "</w>").texts(["the</w>", "c", "ar</w>"])) == b"the car"
    assert scheme("bert").texts([]) == []
