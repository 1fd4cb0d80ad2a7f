"""The rows of a corpus, from every format, and the reasons why some are left out."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bartviz.corpus.read import Bad, Columns, Line, digest, files, lines
from bartviz.errors import SettingError, TextError

PAIRS = [("One house.", "Ein Haus."), ("Two, three.", "Zwei, drei."), ("Four.", "Vier.")]


def texts(path: Path, columns: Columns | None = None, *, paragraphs: bool = False) -> list[tuple[str, str | None]]:
    found = list(lines(path, columns, paragraphs=paragraphs))
    return [(line.text, line.target) for line in found if isinstance(line, Line)]


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def csv(path: Path) -> Path:
    return write(path, "en,de\n" + "".join(f'"{en}","{de}"\r\n' for en, de in PAIRS))


def tsv(path: Path) -> Path:
    return write(path, "en\tde\n" + "".join(f"{en}\t{de}\n" for en, de in PAIRS))


def jsonl(path: Path) -> Path:
    return write(path, "".join(json.dumps({"en": en, "de": de}) + "\n\n" for en, de in PAIRS))


def parquet(path: Path) -> Path:
    pq.write_table(pa.table({"de": [de for _, de in PAIRS], "en": [en for en, _ in PAIRS]}), path)
    return path


@pytest.mark.parametrize("make", [csv, tsv, jsonl, parquet])
def test_every_format_with_columns_gives_the_same_pairs(make: Callable[[Path], Path], tmp_path: Path) -> None:
    path = make(tmp_path / f"corpus.{make.__name__}")
    assert texts(path, Columns("en", target="de")) == PAIRS
    with pytest.raises(SettingError, match="no column named 'fr'"):
        texts(path, Columns("fr")) if make is not jsonl else texts(tsv(tmp_path / "x.tsv"), Columns("fr"))


def test_a_text_is_a_line_or_what_stands_between_blank_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "\ufeffone\ntwo\r\n\n\nthree\n   \nfour")
    assert [text for text, _ in texts(path)] == ["one", "two", "three", "four"]
    found = list(lines(path, paragraphs=True))
    assert [(line.line, line.text) for line in found if isinstance(line, Line)] == [
        (1, "one two"),
        (5, "three"),
        (7, "four"),
    ]


def test_a_packed_file_reads_like_itself(tmp_path: Path) -> None:
    path = tsv(tmp_path / "a.tsv")
    packed = tmp_path / "a.tsv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    columns = Columns("en", target="de")
    assert texts(packed, columns) == texts(path, columns)


def test_a_folder_is_its_files_by_name_numbered_throughout(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    write(tmp_path / "b" / "two.txt", "second\nthird\n")
    write(tmp_path / "a.txt", "first\n")
    write(tmp_path / "notes.pdf", "no text")
    found = list(lines(tmp_path))
    assert [(row.number, row.file, row.line) for row in found] == [
        (0, "a.txt", 1),
        (1, "b/two.txt", 1),
        (2, "b/two.txt", 2),
    ]
    before = digest(tmp_path)
    write(tmp_path / "notes.pdf", "still none")
    assert digest(tmp_path) == before
    write(tmp_path / "a.txt", "First\n")
    assert digest(tmp_path) != before


def test_bad_rows_are_listed_with_line_and_reason_and_keep_their_number(tmp_path: Path) -> None:
    path = tmp_path / "bad.tsv"
    path.write_bytes(
        b'text\ttarget\nfine\tgut\nno target\t\n"open\tquote"x\nthree\tcells\there\nbad \xff\tbytes\nlast\tzuletzt\n'
    )
    found = list(lines(path, Columns("text", target="target")))
    assert texts(path, Columns("text", target="target")) == [("fine", "gut"), ('"open', 'quote"x'), ("last", "zuletzt")]
    assert [row.number for row in found] == list(range(len(found)))
    reasons = [(row.line, row.reason) for row in found if isinstance(row, Bad)]
    assert (3, "It has no target.") in reasons
    assert any(line == 6 and reason.startswith("Its text is not UTF-8.") for line, reason in reasons)
    assert len(reasons) == 3


def test_an_object_without_the_key_is_one_bad_row(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"t": {"en": "one"}}\n{"t": {"de": "zwei"}}\nno json\n"three"\n')
    found = list(lines(path, Columns("t.en")))
    assert [isinstance(row, Line) for row in found] == [True, False, False, False]
    assert [row.line for row in found] == [1, 2, 3, 4]


def test_without_a_named_column_the_usual_one_is_read_else_the_first(tmp_path: Path) -> None:
    assert texts(write(tmp_path / "a.csv", "id,sentence\n7,one\n8,two\n")) == [("one", None), ("two", None)]
    assert texts(write(tmp_path / "b.tsv", "eins\tone\nzwei\ttwo\n")) == [("eins", None), ("zwei", None)]
    assert texts(write(tmp_path / "c.tsv", "eins\tone\n"), Columns("2")) == [("one", None)]


def test_what_is_no_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TextError, match="There is no file"):
        files(tmp_path)
    with pytest.raises(TextError, match="A corpus is a file in one of"):
        files(write(tmp_path / "a.pdf", "%PDF"))
    broken = tmp_path / "a.txt.gz"
    broken.write_bytes(gzip.compress(b"one\n" * 1000)[:-20])
    with pytest.raises(TextError, match="cannot be read"):
        list(lines(broken))
    with pytest.raises(TextError, match="cannot be read"):
        list(lines(write(tmp_path / "a.parquet", "no parquet")))
    with pytest.raises(SettingError, match="no columns"):
        list(lines(write(tmp_path / "a.txt", "one\n"), Columns("text")))
