"""Texts that visitors may type or upload, and how they are cleaned."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tracemalloc
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.errors import BartvizError, SettingError, TextError
from bartviz.text import clean as texts
from bartviz.text.clean import Cleaned, check_length, clean, read_upload, safe_name
from bartviz.text.encodings import EncodingError, TooLong

# --- typed text --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["", " ", "\n\t  \r\n", "\u3000\u00a0", "\0\0", "\ufeff", "\u200b\u202e \x07", "\u2028"]
)
def test_nothing_to_see_is_an_error(text: str) -> None:
    with pytest.raises(TextError, match="There is no text"):
        clean(text)


@pytest.mark.parametrize(
    "text",
    [
        "</script><script>alert(1)</script>",
        "<!--<script>",
        "'\"><img onerror=alert(1)>",
        "![a](http://a.b/c.png)",
        "**b** # h ##ing $x$ :red[r]",
        "<s> </s> <pad> <mask>",
        "[CLS] [SEP]",
        "%{z}",
        "the the the",
        "1999 12 3",
        "2024-01-01",
        "\u202eabc\u200b",
        "e\u0301",
        "👨‍👩‍👧",
        "한국어 สวัสดี مرحبا",
        "a" + "\u0301" * 200,
        "\u1112\u1161\u11ab",
        " leading and trailing ",
        "a\tb\nc",
        "=1+1",
        "\x1b[31m",
        "a\ufeffb",
        "\ufffe",
    ],
)
def test_text_stays_as_it_was_typed(text: str) -> None:
    assert clean(text) == Cleaned(text)


@pytest.mark.parametrize(
    ("text", "cleaned", "notice"),
    [
        ("a\0b\0", "ab", "NUL"),
        ("a\ud800b", "a\ufffdb", "surrogates"),
        ("\udc00", "\ufffd", "surrogates"),
        ("a\ud83d", "a\ufffd", "surrogates"),
        ("\ufeffab", "ab", "byte order mark"),
        ("a\r\nb\rc", "a\nb\nc", "Line ends"),
        ("a\u2028b\u2029c\u0085d", "a\nb\nc\nd", "line separators"),
    ],
)
def test_what_breaks_tokenizers_is_cleaned_with_a_notice(text: str, cleaned: str, notice: str) -> None:
    found = clean(text)
    assert found.text == cleaned
    assert len(found.notices) == 1
    assert notice in found.notices[0]


def test_halves_of_a_character_are_joined() -> None:
    assert clean("\ud83d\ude00").text == "😀"


def test_several_notices() -> None:
    assert len(clean("\ufeffa\0\r\nb\u2028\ud800").notices) == 5


@given(st.text(st.characters(), max_size=60))
def test_cleaned_text_is_clean(text: str) -> None:
    try:
        found = clean(text)
    except TextError:
        return
    found.text.encode()
    assert not set(found.text) & {"\0", "\r", "\u2028"}
    assert clean(found.text) == Cleaned(found.text)


def test_a_million_characters_are_refused_before_any_work() -> None:
    text = "한" * 1_000_000
    tracemalloc.start()
    with pytest.raises(TooLong, match=r"1,000,000 characters; at most 100,000") as caught:
        clean(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (caught.value.count, caught.value.limit) == (1_000_000, texts.MAX_CHARACTERS)
    assert peak < 100_000  # not even a copy was made
    assert clean("한" * texts.MAX_CHARACTERS).notices == ()


def test_one_token_too_many() -> None:
    check_length(512, 512)
    with pytest.raises(TooLong, match=r"513 tokens.*at most 512.*Shorten it by 1, or.*first or last 512") as caught:
        check_length(513, 512)
    assert (caught.value.count, caught.value.limit, caught.value.can_cut) == (513, 512, True)
    assert isinstance(caught.value, TextError)
    with pytest.raises(TooLong, match=r"1,340 tokens.*Shorten it by 828\.$") as caught:
        check_length(1340, 512, can_cut=False)
    assert not caught.value.can_cut


# --- files -------------------------------------------------------------------------------------------------------


def test_plain_text() -> None:
    upload = read_upload("a.txt", "Größe 한국어\n".encode())
    assert upload == texts.Upload(("Größe 한국어\n",), "a.txt")
    assert read_upload("a.MD", b"# h").texts == ("# h",)


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.jsonl", "a.txt.gz", "a.docx"])
def test_an_empty_file(name: str) -> None:
    with pytest.raises(TextError, match="file is empty"):
        read_upload(name, b"")


@pytest.mark.parametrize(
    ("name", "data"), [("a.txt", b" \n"), ("a.csv", b"\n\n"), ("a.csv", b"text\n"), ("a.jsonl", b"\n")]
)
def test_a_file_with_nothing_in_it(name: str, data: bytes) -> None:
    with pytest.raises(TextError, match=r"no text|no rows"):
        read_upload(name, data)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_marks_of_encodings_are_read(encoding: str) -> None:
    assert read_upload("a.txt", "한 é".encode(encoding)).texts == ("한 é",)


def test_utf_16_of_the_other_order() -> None:
    assert read_upload("a.txt", b"\xfe\xff" + "한".encode("utf-16-be")).texts == ("한",)


def test_latin_1_is_not_guessed() -> None:
    data = "Er ist für dich".encode("latin-1")
    with pytest.raises(EncodingError, match=r"not Unicode \(UTF-8\): byte 0xFC at offset 8 \(line 1\)") as caught:
        read_upload("a.txt", data)
    assert caught.value.offset == 8
    assert {"latin-1", "cp1252"} <= set(caught.value.encodings)
    assert "cp949" not in caught.value.encodings
    assert "Western European" in str(caught.value)
    assert read_upload("a.txt", data, encoding="latin-1").texts == ("Er ist für dich",)


def test_korean_of_windows_is_not_guessed() -> None:
    data = "한국어\n번역".encode("cp949")
    with pytest.raises(EncodingError) as caught:
        read_upload("a.txt", data)
    assert "cp949" in caught.value.encodings
    assert read_upload("a.txt", data, encoding="cp949").texts == ("한국어\n번역",)


def test_the_wrong_choice_of_encoding_is_an_error_too() -> None:
    with pytest.raises(EncodingError, match="not Korean"):
        read_upload("a.txt", "Er ist für dich".encode("latin-1"), encoding="cp949")
    with pytest.raises(SettingError, match="utf-8"):
        read_upload("a.txt", b"a", encoding="rot13")


@pytest.mark.parametrize("bad", [b"\xc0\xaf", b"\xc1\x81", b"\xe0\x80\xaf", b"\xf0\x80\x80\xaf"])
def test_overlong_forms_are_named_with_their_place(bad: bytes) -> None:
    with pytest.raises(EncodingError, match=r"at offset 5 \(line 2\) begins an overlong form") as caught:
        read_upload("a.txt", b"abcd\n" + bad)
    assert caught.value.offset == 5


def test_encoded_surrogates_are_no_text() -> None:
    with pytest.raises(EncodingError) as caught:
        read_upload("a.txt", b"ab\xed\xa0\x80")
    assert caught.value.offset == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "picture"),
        (b"%PDF-1.7\n...", "PDF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old office"),
        (bytes(range(256)) * 4, "not text"),
        (b"\0" * 100, "not text"),
        ("no mark".encode("utf-16-le"), "UTF-16 without its mark"),
        (gzip.compress(b"abc", mtime=0), "gzip"),
    ],
)
def test_a_binary_file_named_txt(data: bytes, message: str) -> None:
    with pytest.raises(TextError, match=message):
        read_upload("a.txt", data)


def test_utf_16_without_its_mark_by_choice() -> None:
    assert read_upload("a.txt", "no mark".encode("utf-16-le"), encoding="utf-16").texts == ("no mark",)


def test_one_nul_in_a_long_text_is_cleaned() -> None:
    upload = read_upload("a.txt", b"word " * 100 + b"\0")
    assert upload.texts[0] == "word " * 100
    assert "NUL" in upload.notices[0]


def test_gzip() -> None:
    assert read_upload("a.txt.gz", gzip.compress(b"a car")).texts == ("a car",)
    assert read_upload("a.CSV.GZ", gzip.compress(b"text\na\nb")).texts == ("a", "b")
    assert read_upload("a.txt.gz", gzip.compress(b"a ") + gzip.compress(b"car")).texts == ("a car",)  # two members


@pytest.mark.slow
def test_gzip_that_grows_a_thousand_times_is_refused_while_it_grows() -> None:
    bomb = gzip.compress(b"0" * (64 << 20))  # 64 kB
    tracemalloc.start()
    with pytest.raises(TooLong, match=r"more than 10\.0 MB"):
        read_upload("a.txt.gz", bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * texts.MAX_BYTES


@pytest.mark.parametrize("cut", [5, 12, -1])
def test_damaged_gzip(cut: int) -> None:
    with pytest.raises(TextError, match=r"too early|damaged"):
        read_upload("a.txt.gz", gzip.compress(b"a car" * 100)[:cut])
    with pytest.raises(TextError, match="damaged"):
        read_upload("a.txt.gz", gzip.compress(b"a car") + b"rubbish")


def test_gzip_in_gzip() -> None:
    with pytest.raises(TextError, match="gzip archive"):
        read_upload("a.txt.gz", gzip.compress(gzip.compress(b"a")))


@pytest.mark.parametrize("name", ["a.zip", "a.docx", "a.txt", "a.txt.gz"])
def test_archives_and_office_documents_are_never_opened(name: str) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../evil.txt", "a" * 10_000_000)
    with pytest.raises(TextError, match=r"save it as plain text|Save it as plain text"):
        read_upload(name, out.getvalue())


@pytest.mark.parametrize("name", ["a", "a.py", "a.gz", "", "a.txt.exe"])
def test_other_formats_are_named(name: str) -> None:
    with pytest.raises(TextError, match=r"Upload \.txt, \.md, \.csv, \.tsv or \.jsonl"):
        read_upload(name, b"abc")


def test_a_file_over_the_limit() -> None:
    with pytest.raises(TooLong, match=r"50\.0 MB; at most 10\.0 MB") as caught:
        read_upload("a.csv", b"x" * (50 << 20))
    assert (caught.value.count, caught.value.limit) == (50 << 20, texts.MAX_BYTES)
    with pytest.raises(TooLong):
        read_upload("a.txt", b"abc", max_bytes=2)


# --- tables ------------------------------------------------------------------------------------------------------


def test_one_bad_line_of_a_thousand() -> None:
    good = [json.dumps({"text": f"sentence {i}"}) for i in range(1000)]
    good[456] = '{"text": "never clos'
    upload = read_upload("a.jsonl", "\n".join(good).encode())
    assert len(upload.texts) == 999
    assert upload.texts[456] == "sentence 457"
    assert upload.errors == ("Line 457 was left out. It is not valid JSON.",)


def test_json_lines_of_other_shapes() -> None:
    rows = [
        '"a string"',
        '{"sentence": "b", "x": 1}',
        "",
        '{"x": "c"}',
        "[1]",
        "3",
        '{"text": " "}',
        "[" * 100_000,
        "9" * 9999,
    ]
    upload = read_upload("a.jsonl", "\r\n".join(rows).encode())
    assert upload.texts == ("a string", "b")
    assert [error.split()[1] for error in upload.errors] == ["4", "5", "6", "7", "8", "9"]
    assert "no text under text, source, sentence or input" in upload.errors[0]


def test_json_keeps_line_separators_within_a_row() -> None:
    upload = read_upload("a.jsonl", '{"text": "a\u2028b"}\n{"text": "\\ud800 c"}'.encode())
    assert upload.texts == ("a\nb", "\ufffd c")
    assert len(upload.notices) == 2
    assert upload.notices[0].startswith("In 1 of 2 rows: ")


def test_csv_with_a_column_of_texts() -> None:
    data = 'id,Text\n1,"a, ""b""\nc"\n\n2,=1+1\n3\n'
    upload = read_upload("a.csv", data.encode())
    assert upload.texts == ('a, "b"\nc', "=1+1")
    assert upload.notices == ('The texts are those of the column "text".',)
    assert upload.errors[0].startswith("Line 6 was left out. There is no text")


def test_csv_without_names_and_with_other_delimiters() -> None:
    upload = read_upload("a.csv", b"Guten Tag, du;good day\nJa;yes")
    assert upload.texts == ("Guten Tag, du", "Ja")
    assert "first of 2 columns" in upload.notices[0]
    assert read_upload("a.tsv", b"a,b\tc\nd\te").texts == ("a,b", "d")
    assert read_upload("a.csv", "text\n한".encode("utf-16")).texts == ("한",)


def test_csv_with_a_quotation_mark_that_is_not_closed() -> None:
    upload = read_upload("a.csv", b'text\na\n"b"x\nc\n"d\ne\n')
    assert upload.texts == ("a", "c")
    assert [error.split()[1] for error in upload.errors] == ["3", "5"]
    assert "quotation mark" in upload.errors[0]


def test_csv_with_a_huge_field() -> None:
    data = b'text\nok\n"' + b"x" * 200_000 + b'"\n'
    with pytest.raises(TooLong, match=r"line 3 has more than 131,072 characters") as caught:
        read_upload("a.csv", data)
    assert caught.value.limit == csv.field_size_limit()
    upload = read_upload("a.csv", b"text\nok\n" + b"x" * 120_000)
    assert upload.texts == ("ok",)
    assert "120,000 characters; at most 100,000" in upload.errors[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_too_many_rows(name: str) -> None:
    row, head = ('"a"\n', "") if name == "a.jsonl" else ("a\n", "text\n")
    limit = texts.MAX_ROWS
    assert len(read_upload(name, (head + row * limit).encode()).texts) == limit
    with pytest.raises(TooLong, match="more than 10,000 rows"):
        read_upload(name, (head + row * (limit + 1)).encode())
    with pytest.raises(TooLong, match="more than 10,000 rows"):
        read_upload(name, (row * (limit + 1)).encode())


def test_no_row_that_can_be_used() -> None:
    with pytest.raises(TextError, match=r"None of the 2 rows can be used. Line 1 was left out"):
        read_upload("a.jsonl", b"x\ny")


@given(st.sampled_from(["a.txt", "a.csv", "a.tsv", "a.jsonl", "a.txt.gz", "a.csv.gz"]), st.binary(max_size=200))
def test_any_bytes_give_texts_or_an_error_of_ours(name: str, data: bytes) -> None:
    packed = gzip.compress(data) if name.endswith("gz") else data
    try:
        upload = read_upload(name, packed)
    except BartvizError:
        return
    assert upload.texts
    for text in upload.texts:
        assert clean(text) == Cleaned(text)


# --- names and cells ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("a.txt", "a.txt"),
        ("../../etc/passwd.txt", "passwd.txt"),
        ("C:\\Users\\me\\my text.txt", "my text.txt"),
        ("<img src=x onerror=alert(1)>.txt", "_img src_x onerror_alert(1)_.txt"),
        ("한국어 번역.csv", "한국어 번역.csv"),
        ("u\u0308ber.txt", "über.txt"),
        ("a\u202etxt.exe", "a_txt.exe"),
        ("a\0\n.txt", "a_.txt"),
        ("", "upload"),
        ("..", "upload"),
        ("/", "upload"),
        (".txt", "txt"),
    ],
)
def test_names(name: str, safe: str) -> None:
    assert safe_name(name) == safe


def test_a_name_of_4_kb_keeps_its_suffix() -> None:
    name = "x" * 4096 + ".txt.gz"
    assert safe_name(name) == "x" * 73 + ".txt.gz"
    assert read_upload(name, gzip.compress(b"a")).texts == ("a",)


@given(st.text(st.characters(), max_size=200))
def test_names_are_always_safe(name: str) -> None:
    safe = safe_name(name)
    assert 0 < len(safe) <= texts.MAX_NAME
    assert not set(safe) & set("/\\<>&\"'`:\0\n")
    assert not safe.startswith(".")
