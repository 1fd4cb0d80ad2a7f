"""Files that visitors may upload, and the texts in them."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.errors import BartvizError, SettingError, TextError, TooLong
from bartviz.reading.encodings import EncodingError
from bartviz.reading.uploads import MAX_BYTES, MAX_COLUMNS, MAX_ROWS, Upload, is_table, read_table, read_upload
from bartviz.text.clean import Cleaned, clean


def test_plain_text() -> None:
    upload = read_upload("a.txt", "Größe 한국어\n".encode())
    assert upload == Upload(("Größe 한국어\n",), "a.txt")
    assert read_upload("a.MD", b"# h").texts == ("# h",)


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.jsonl", "a.txt.gz", "a.docx"])
def test_an_empty_file(name: str) -> None:
    with pytest.raises(TextError, match="file is empty"):
        read_upload(name, b"")


@pytest.mark.parametrize(
    ("name", "data"), [("a.txt", b" \n"), ("a.csv", b"\n\n"), ("a.csv", b"text\n"), ("a.jsonl", b"\n")]
)
def test_a_file_with_nothing_in_it(name: str, data: bytes) -> None:
    with pytest.raises(TextError, match=r"is empty|no rows"):
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
    table = "번호,text\n1,안녕하세요.\n".encode("cp949")
    assert read_table("a.csv", table, encoding="cp949").texts(1).texts == ("안녕하세요.",)


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
        ("no mark".encode("utf-16-le"), "UTF-16 without a byte order mark"),
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
    assert peak < 3 * MAX_BYTES


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
    with pytest.raises(TextError, match=r"Upload \.txt, \.md, \.csv, \.tsv, \.json or \.jsonl"):
        read_upload(name, b"abc")


def test_a_file_over_the_limit() -> None:
    with pytest.raises(TooLong, match=r"50\.0 MB; at most 10\.0 MB") as caught:
        read_upload("a.csv", b"x" * (50 << 20))
    assert (caught.value.count, caught.value.limit) == (50 << 20, MAX_BYTES)
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
        '{"text": "b", "x": 1}',
        "",
        '{"x": "c"}',
        "[1]",
        "3",
        '{"text": " "}',
        '{"text": ["d"]}',
        "[" * 100_000,
        "9" * 9999,
    ]
    upload = read_upload("a.jsonl", "\r\n".join(rows).encode())
    assert upload.texts == ("a string", "b")
    assert [error.split()[1] for error in upload.errors] == ["4", "5", "6", "7", "8", "9", "10"]
    assert upload.errors[0] == "Line 4 was left out. It has no text in this column."


def test_json_objects_in_objects_have_columns_of_their_own() -> None:
    rows = [
        '{"id": "a1", "translation": {"de": "Hallo.", "ko": "안녕."}}',
        '{"id": "a2", "translation": {"ko": "네."}}',
    ]
    data = "\n".join(rows).encode()
    table = read_table("a.jsonl", data)
    assert table.columns == ("id", "translation.de", "translation.ko")
    assert table.usual() == 1  # the first of prose
    assert table.texts(2).texts == ("안녕.", "네.")
    german = table.texts(1)
    assert (german.texts, german.errors) == (("Hallo.",), ("Line 2 was left out. It has no text in this column.",))


def test_json_that_is_nested_deeper_has_no_text_there() -> None:
    deep = '{"x": ' * 500 + '"far down"' + "}" * 500
    data = f'{deep}\n{{"text": "near"}}'.encode()
    assert read_table("a.jsonl", data).columns == ("text",)
    upload = read_upload("a.jsonl", data)
    assert (upload.texts, len(upload.errors)) == (("near",), 1)


def test_json_keeps_line_separators_within_a_row() -> None:
    upload = read_upload("a.jsonl", '{"text": "a\u2028b"}\n{"text": "\\ud800 c"}'.encode())
    assert upload.texts == ("a\nb", "\ufffd c")
    assert len(upload.notices) == 2
    assert upload.notices[0].startswith("In 1 of 2 rows: ")


def test_csv_with_a_column_of_texts() -> None:
    data = 'id,Text\n1,"a, ""b""\nc"\n\n2,=1+1\n3\n4,\n'
    upload = read_upload("a.csv", data.encode())
    assert upload.texts == ('a, "b"\nc', "=1+1")
    assert upload.notices == ("Rows of several lines, in quotation marks: 1.",)
    assert upload.errors == tuple(f"Line {line} was left out. It has no text in this column." for line in (6, 7))
    table = read_table("a.csv", data.encode())
    assert table.columns == ("id", "Text")
    assert table.texts(0).texts == ("1", "2", "3", "4")


@pytest.mark.parametrize("name", ["text", "source", "sentence", "src", "input", "SRC"])
def test_a_usual_name_is_preselected(name: str) -> None:
    data = f"note\t{name}\nhm\tA car.\n".encode()
    assert read_table("a.tsv", data).usual() == 1
    assert read_upload("a.tsv", data).texts == ("A car.",)


def test_without_a_usual_name_the_first_column_with_letters_is_preselected() -> None:
    table = read_table("a.csv", "nr,eins,zwei\n1,한국어,b\n2,-,d".encode())
    assert (table.columns, table.header, table.usual()) == (("nr", "eins", "zwei"), True, 1)
    assert table.texts(1).texts == ("한국어", "-")
    bare = read_table("a.csv", "nr,eins,zwei\n1,한국어,b\n2,-,d".encode(), header=False)
    assert (bare.columns, bare.usual()) == (("", "", ""), 1)
    assert bare.texts(1).texts == ("eins", "한국어", "-")


def test_a_column_that_a_file_does_not_have() -> None:
    table = read_table("a.csv", b"id,text\n1,a")
    for column in (-1, 2):
        with pytest.raises(TextError, match="has 2 columns"):
            table.texts(column)


def test_a_column_without_texts() -> None:
    table = read_table("a.csv", b"text,other\n,a\n,b")
    assert table.usual() == 0
    with pytest.raises(TextError, match=r"None of the 2 rows can be used\. Line 2 was left out"):
        table.texts(0)
    assert table.texts(1).texts == ("a", "b")


def test_csv_without_names_and_with_other_delimiters() -> None:
    upload = read_upload("a.csv", b"Guten Tag, du;good day\nJa;yes")
    assert upload.texts == ("Guten Tag, du", "Ja")
    assert read_table("a.csv", b"Guten Tag, du;good day\nJa;yes").texts(1).texts == ("good day", "yes")
    assert read_upload("a.tsv", b"a,b\tc\nd\te").texts == ("a,b", "d")
    assert read_upload("a.csv", "text\n한".encode("utf-16")).texts == ("한",)
    assert read_table("a.csv", "\ufeffid,text\n1,한".encode()).columns == ("id", "text")
    assert read_upload("a.csv", b'id;text\n1;"two\nlines"').texts == ("two\nlines",)


def test_a_text_is_not_cut_at_a_separator_that_nobody_quoted() -> None:
    assert read_upload("a.csv", b"text\nHello, world\nHello\nBye,\n").texts == ("Hello, world", "Hello", "Bye,")
    upload = read_upload("a.csv", b"text,n\nHello, world,1\nHello,2\nBye,3\n")
    assert upload.texts == ("Hello", "Bye")
    assert upload.errors[0].startswith("Line 2 was left out. It has 3 cells, the first row 2:")


def test_csv_with_a_quotation_mark_that_is_not_closed() -> None:
    upload = read_upload("a.csv", b'text\na\n"b"x\nc\n"d\ne\nf\n')
    assert upload.texts == ("a", "c")
    assert [error.split(".")[0] for error in upload.errors] == ["Line 3 was left out", "Lines 5 to 7 were left out"]
    assert "quotation mark" in upload.errors[0]


@pytest.mark.parametrize("mark", ["", '"'])
def test_a_huge_cell_is_one_bad_row(mark: str) -> None:
    cell = f"{mark}{'x' * (MAX_BYTES - 40)}{mark}"
    upload = read_upload("a.csv", f"text\nok\n{cell}\nfine\n".encode())
    assert upload.texts == ("ok", "fine")
    assert "10,485,720 characters; at most 100,000" in upload.errors[0]


def test_a_file_of_too_many_columns() -> None:
    row = ",".join(["a"] * MAX_COLUMNS).encode()
    assert read_upload("a.csv", row).texts == ("a",)
    with pytest.raises(TooLong, match="201 columns; at most 200"):
        read_upload("a.csv", row + b",a")
    with pytest.raises(TooLong, match="201 columns"):
        read_upload("a.jsonl", json.dumps({str(i): "a" for i in range(MAX_COLUMNS + 1)}).encode())


def test_which_files_have_columns() -> None:
    names = ("a.csv", "A.TSV", "a.jsonl.gz", "a.txt", "a.md", "csv", "")
    assert [is_table(name) for name in names] == [True, True, True, False, False, False, False]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_too_many_rows(name: str) -> None:
    row, head = ('"a"\n', "") if name == "a.jsonl" else ("a\n", "text\n")
    limit = MAX_ROWS
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
