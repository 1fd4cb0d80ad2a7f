"""Files as people write them: what each of them holds is read, and nothing is lost without a count."""

from __future__ import annotations

import csv as csv_format
import gzip
import io
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.corpus import read
from bartviz.corpus.read import Bad, Columns, Form, Line, check, lines, notices
from bartviz.errors import SettingError, TextError
from bartviz.reading import columns as shapes
from bartviz.reading import json_rows
from bartviz.reading import rows as rows_of_text
from bartviz.reading.uploads import read_rows, read_table

FILES = Path(__file__).parent / "written"
SCEAUX = ["né à Sceaux le  8 juillet"]
YES = ["Yes, it's on-going."]
THREE = ["The cat sat on the mat.", "A dog barks.", "It is late."]
TWO = ["The cat sat.", "A dog barks."]
SPEECH = [
    "The dog barks.",
    '"Hello," he said.',
    '"I am tired',
    "A man reads.",
    "It is late.",
    'He said "no".',
    "She sings.",
    "The end.",
]
HELD: dict[str, list[str]] = {
    "array.json": TWO,
    "array.jsonl": TWO,
    "categorical.parquet": TWO,
    "commas_unquoted.csv": ["Hello, world", "The cat, the dog, and me", "plain"],
    "conllu_arabic.conllu": ["وسيكتبون الرسالة"],
    "conllu_blank_with_spaces.conllu": [*SCEAUX, "Il y a 10 000 km"],
    "conllu_bom.conllu": SCEAUX,
    "conllu_conllu_plus.conllu": SCEAUX,
    "conllu_crlf.conllu": SCEAUX,
    "conllu_double_space.conllu": SCEAUX,
    "conllu_empty_first.conllu": ["Sekaan 1 purkillinen"],
    "conllu_form_with_space.conllu": ["Il y a 10 000 km"],
    "conllu_mwt_partial_overlap.conllu": ["vámonos al mar"],
    "conllu_nbsp_in_text.conllu": ["Il y a 10\u00a0000 km"],
    "conllu_newdoc_comment_only.conllu": SCEAUX,
    "conllu_nfd_form.conllu": ["café noir"],
    "conllu_no_heads.conllu": ["The cat"],
    "conllu_no_text_spaceafter.conllu": YES,
    "conllu_spaces_not_tabs.conllu": SCEAUX,
    "conllu_spacesafter_newline.conllu": SCEAUX,
    "conllu_text_eq_nospace.conllu": YES,
    "conllu_text_without_space_after_hash.conllu": YES,
    "conllu_trailing_tab.conllu": SCEAUX,
    "crlf_cr.txt": ["The cat sat.", "A dog barks.", "It is late.", "BOM inside", "NUL inside"],
    "dup_columns.csv": ["first a", "first b"],
    "gold_eos.tsv": ["A man reads."],
    "hf_translation.jsonl": SPEECH,
    "opus_struct.parquet": TWO,
    "pandas_index.csv": TWO,
    "tatoeba_merge.tsv": ["First.", "Ja\nZwei.\nDrei.\nVier.", "Last."],
    "tatoeba_quotes.tsv": SPEECH,
    "tatoeba_two_open_quotes.tsv": ["First line.", '"Open one', "second", "third", 'fourth"', "Last."],
    "unusual_header.csv": THREE,
    "unusual_header2.csv": THREE,
    "utf8_bom_quoted.csv": ["The cat; sat.", 'A "dog" barks.'],
}


def texts(path: Path, columns: Columns | None = None, form: Form | None = None) -> list[str]:
    """The texts of a file of which every row can be used."""
    found = list(lines(path, columns, form))
    assert [row.reason for row in found if isinstance(row, Bad)] == []
    return [row.text for row in found if isinstance(row, Line)]


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("name", HELD)
def test_every_file_is_read_as_its_writer_meant_it(name: str) -> None:
    assert texts(FILES / name) == HELD[name]


def test_what_remains_of_the_files_is_read_or_listed() -> None:
    assert set(HELD) | {"cp1252.csv", "mixed.jsonl"} == {file.name for file in FILES.iterdir()}
    assert texts(FILES / "cp1252.csv", form=Form(encoding="cp1252")) == ["Das Mädchen – „klein“.", "The cat sat."]
    (bad, good) = lines(FILES / "cp1252.csv")
    assert isinstance(bad, Bad)
    assert "not UTF-8" in bad.reason
    assert "cp1252" in bad.reason
    assert isinstance(good, Line)
    mixed = list(lines(FILES / "mixed.jsonl"))
    assert [row.text for row in mixed if isinstance(row, Line)] == ["The cat sat.", "just a string", "Last one."]
    assert [row.line for row in mixed] == list(range(1, 12))


@pytest.mark.parametrize("name", [name for name in HELD if Path(name).suffix in (".csv", ".tsv", ".json", ".jsonl")])
def test_the_page_reads_the_same_texts_as_the_command(name: str) -> None:
    table = read_rows(name, (FILES / name).read_bytes())
    assert list(table.texts(table.usual()).texts) == HELD[name]


# --- quotation marks ---------------------------------------------------------------------------------------------


def test_next_to_tabs_a_quotation_mark_is_a_letter_and_no_row_is_lost(tmp_path: Path) -> None:
    pairs = [('"Hi," she said.', '"Hallo."'), ('"Open', 'auf"'), ('a "b" c', '""'), ("plain", "schlicht")] * 5
    path = write(tmp_path / "a.tsv", "en\tde\n" + "".join(f"{en}\t{de}\n" for en, de in pairs))
    found = [row for row in lines(path, Columns("en", target="de")) if isinstance(row, Line)]
    assert [(row.text, row.target) for row in found] == pairs


@pytest.mark.parametrize("quoting", [csv_format.QUOTE_MINIMAL, csv_format.QUOTE_ALL, csv_format.QUOTE_NONNUMERIC])
@pytest.mark.parametrize("awkward", ['He said "no".', "two\nlines", "a\ttab"])
def test_a_file_with_tabs_that_a_program_quoted_is_read_as_it_was_written(
    quoting: int, awkward: str, tmp_path: Path
) -> None:
    written = io.StringIO()
    pen = csv_format.writer(written, delimiter="\t", quoting=quoting)  # type: ignore[arg-type]
    rows = [("It is late.", "Es ist spät."), (awkward, "etwas"), ("The end.", "Das Ende.")]
    pen.writerows([("en", "de"), *rows])
    path = write(tmp_path / "a.tsv", written.getvalue())
    found = [row for row in lines(path, Columns("en", target="de")) if isinstance(row, Line)]
    assert [(row.text, row.target) for row in found] == rows


def test_a_row_of_several_lines_is_counted_and_each_line_can_be_a_row(tmp_path: Path) -> None:
    assert any("several lines, in quotation marks: 1" in notice for notice in notices(FILES / "tatoeba_merge.tsv"))
    apart = list(lines(FILES / "tatoeba_merge.tsv", form=Form(quotes=False)))
    assert [row.text for row in apart if isinstance(row, Line)] == [
        "First.",
        '"Ja',
        "Zwei.",
        "Drei.",
        'Vier."',
        "Last.",
    ]
    assert not [notice for notice in notices(FILES / "tatoeba_quotes.tsv") if "several lines" in notice]
    table = read_table("a.tsv", (FILES / "tatoeba_merge.tsv").read_bytes())
    assert "in quotation marks: 1" in table.texts(0).notices[0]
    path = write(tmp_path / "a.csv", 'text\nfine\n"open\nand on\n')
    (_fine, bad) = lines(path)
    assert isinstance(bad, Bad)
    assert bad.reason.startswith("Lines 3 to 4: ")


@given(st.lists(st.tuples(st.text(st.characters(exclude_categories=("C", "Z"))), st.just("x")), min_size=1, max_size=9))
def test_any_cells_without_tabs_and_line_ends_come_back(pairs: list[tuple[str, str]]) -> None:
    data = "src\tb\n" + "".join(f"{a}\t{b}\n" for a, b in pairs)
    table = read_table("a.tsv", data.encode())
    if any('""' in a and a[0] == a[-1] == '"' and len(a) > 2 for a, _ in pairs):
        return  # that a program enclosed them is then likelier
    assert [tuple(row.cells.values()) for row in table.rows if not isinstance(row.cells, TextError)] == pairs


# --- headers and columns -----------------------------------------------------------------------------------------

SENTENCES = {
    "German": ["Ich gehe nach Hause.", "Es ist spät.", "Wo ist der Hund?"],
    "Korean": ["나는 집에 간다.", "늦었다.", "개가 어디 있니?"],
    "Chinese": ["今天天气很好。", "我喜欢猫。", "你在哪里？"],
    "Arabic": ["القط على السجادة.", "الوقت متأخر.", "أين الكلب؟"],
    "Hindi": ["बिल्ली चटाई पर है।", "देर हो गई है।", "कुत्ता कहाँ है?"],
}


@pytest.mark.parametrize(
    ("language", "number", "name"),
    [
        ("German", "nr", "satz"),
        ("Korean", "번호", "문장"),
        ("Chinese", "编号", "句子"),
        ("Arabic", "رقم", "جملة"),
        ("Hindi", "क्रम", "वाक्य"),
    ],
)
@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_a_header_of_any_language_is_none_of_the_texts(
    language: str, number: str, name: str, sign: str, tmp_path: Path
) -> None:
    sentences = SENTENCES[language]
    rows = "".join(f"{place}{sign}{text}\n" for place, text in enumerate(sentences, 1))
    path = write(tmp_path / ("a.tsv" if sign == "\t" else "a.csv"), f"{number}{sign}{name}\n{rows}")
    assert texts(path) == sentences
    assert texts(path, Columns(name)) == sentences
    assert texts(path, Columns("2")) == sentences
    assert texts(path, form=Form(header=False)) == [name, *sentences]
    bare = write(tmp_path / path.name, rows)
    assert texts(bare) == sentences
    assert texts(bare, form=Form(header=True)) == sentences[1:]
    alone = write(tmp_path / "alone.csv", "\n".join(sentences))
    assert texts(alone) == sentences
    assert texts(write(tmp_path / "alone.csv", f"{name}\n" + "\n".join(sentences))) == sentences


@pytest.mark.parametrize(
    ("first", "rows", "header", "column"),
    [
        ("id,review,label", ["a1,The film was good.,pos", "a2,A bad film.,neg", "a3,It is late.,pos"], True, 1),
        ("label,review", ["pos,The film was good.", "neg,It was bad.", "pos,It is late."], True, 1),
        ("pos,What a film!", ["pos,The film was good.", "neg,It was bad.", "pos,It is late."], False, 1),
        (",review,stars", ["0,The film was good.,5", "1,It was bad.,1"], True, 1),
        (
            "author,review",
            ["Jo Doe,The film was good and I would see it again.", "Al Roe,It was bad, not worth it."],
            True,
            1,
        ),
        ("datum;wert;notiz", ["2020-01-01;1,5;Alles war gut heute.", "2020-01-02;2,5;Nichts ging mehr."], True, 2),
        ("en,de", ["house,Haus", "window,Fenster"], True, 0),
        ("eins,one", ["zwei,two", "drei,three"], False, 0),
        ("1,Guten Tag.", ["2,Auf Wiedersehen.", "3,Es ist spät."], False, 1),
        ("source,review", ["web,The film was good.", "tv,It was bad.", "web,It is late."], True, 1),
        ("tweet", ["so happy today", "going home now", "rain again in town"], True, 0),
        (",0,1", ["0,The film was good.,x", "1,It was bad.,y"], True, 1),
        ("Satz auf Deutsch,Quelle", ["Der Film war gut.,web", "Es war schlecht.,tv", "Es ist spät.,web"], True, 0),
        ("Hello", ["How are you", "fine"], False, 0),
        ("id,data.text", ["1,ja", "2,nein"], True, 1),
    ],
)
def test_the_shape_of_the_columns_tells_the_header_and_the_texts(
    first: str, rows: list[str], header: bool, column: int
) -> None:
    table = read_table("a.csv", "\n".join([first, *rows]).encode())
    assert (table.header, table.usual()) == (header, column)
    assert read_table("a.csv", "\n".join([first, *rows]).encode(), header=not header).header is not header


def test_commas_of_prose_divide_nothing(tmp_path: Path) -> None:
    sentences = ["The cat sat, then left.", "A dog barks, too."]
    assert texts(write(tmp_path / "a.csv", "\n".join(sentences))) == sentences
    spaced = write(tmp_path / "b.csv", "nr, satz\n1, Es ist da.\n2, Wo ist es?\n")
    assert texts(spaced) == ["Es ist da.", "Wo ist es?"]


def test_a_separator_at_the_end_of_each_row_moves_no_column(tmp_path: Path) -> None:
    assert texts(write(tmp_path / "a.csv", "text,label\nThe cat sat.,1,\nA dog barks.,0,\n")) == TWO


def test_a_data_frame_is_read_however_it_was_written(tmp_path: Path) -> None:
    frame = pd.DataFrame({"stars": [5, 1, 3], "review": THREE})
    writers: dict[str, Callable[[Path], object]] = {
        "index.csv": frame.to_csv,
        "bare.csv": lambda path: frame.to_csv(path, index=False),
        "tabs.tsv": lambda path: frame.to_csv(path, sep="\t"),
        "semicolon.csv.gz": lambda path: frame.to_csv(path, sep=";", index=False),
        "marked.csv": lambda path: frame.to_csv(path, index=False, encoding="utf-8-sig"),
        "wide.csv": lambda path: frame.to_csv(path, index=False, encoding="utf-16"),
        "columns.json": frame.to_json,
        "records.json": lambda path: frame.to_json(path, orient="records"),
        "pretty.json": lambda path: frame.to_json(path, orient="records", indent=2),
        "lines.json": lambda path: frame.to_json(path, orient="records", lines=True),
        "split.json": lambda path: frame.to_json(path, orient="split"),
        "index.json": lambda path: frame.to_json(path, orient="index"),
        "table.json": lambda path: frame.to_json(path, orient="table"),
        "values.json": lambda path: frame.to_json(path, orient="values"),
        "plain.parquet": frame.to_parquet,
    }
    for name, writer in writers.items():
        writer(tmp_path / name)
        assert texts(tmp_path / name) == THREE, name


def test_names_of_rows_without_a_name_of_their_own(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", '"review"\t"stars"\n"1"\t"It is late."\t5\n"2"\t"A dog barks."\t1\n')
    assert texts(path) == ["It is late.", "A dog barks."]


def test_spreadsheets_say_their_separator_and_put_spaces_before_quotation_marks(tmp_path: Path) -> None:
    assert texts(write(tmp_path / "a.csv", "sep=;\r\nsatz;nr\r\nEs ist spät.;1\r\nDas war, ja, gut.;2\r\n")) == [
        "Es ist spät.",
        "Das war, ja, gut.",
    ]
    assert texts(write(tmp_path / "b.csv", 'id, "text"\n1, "The cat, sat."\n2, "It is late."\n')) == [
        "The cat, sat.",
        "It is late.",
    ]


def test_a_column_that_is_not_there_is_named_with_the_others_few_and_visible(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "split,en,de\ntrain,The cat sat.,Die Katze saß.\ntrain,It is late.,Es ist spät.\n")
    with pytest.raises(SettingError, match="'english': choose split, en or de"):
        check(path, Columns("english"))
    names = ",".join(["text", "a\u202eb" + "x" * 10_000, *(f"column{place}" for place in range(500))])
    with pytest.raises(SettingError) as caught:
        check(write(tmp_path / "b.csv", names + "\n" + ",".join(["a"] * 502)), Columns("\ud800" * 1000))
    message = str(caught.value)
    assert len(message.encode()) < 1000
    assert "\u202e" not in message
    assert "490 others" in message
    with pytest.raises(SettingError, match="several columns named 'text': choose 1 or 2"):
        check(FILES / "dup_columns.csv", Columns("text"))
    assert texts(FILES / "dup_columns.csv", Columns("2")) == ["second a", "second b"]
    for name in ("hf_translation.jsonl", "opus_struct.parquet"):
        with pytest.raises(SettingError, match=r"choose .*translation\.en"):
            check(FILES / name, Columns("english"))


def test_what_was_judged_is_said(tmp_path: Path) -> None:
    said = notices(FILES / "unusual_header.csv")
    assert "the texts are those of column 2 (review)" in said[0]
    assert "the first row is a header (id, review, label); --no-header" in said[1]
    assert notices(FILES / "unusual_header.csv", Columns("review")) == ()
    assert notices(FILES / "pandas_index.csv") == ()  # its names are usual
    words = write(tmp_path / "a.csv", "eins,one\nzwei,two\n")
    assert "the first row is a text; --header" in notices(words)[-1]


# --- encodings ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.tsv", "a.jsonl", "a.json", "a.conllu"])
def test_a_mark_tells_the_encoding_of_every_format(encoding: str, name: str, tmp_path: Path) -> None:
    sentence = "Größe 한국어 文"
    held = {
        "a.txt": sentence,
        "a.csv": f"text\n{sentence}\n",
        "a.tsv": f"text\n{sentence}\n",
        "a.jsonl": json.dumps({"text": sentence}, ensure_ascii=False),
        "a.json": json.dumps([{"text": sentence}], indent=1, ensure_ascii=False),
        "a.conllu": (FILES / "conllu_no_heads.conllu").read_text("utf-8").replace("cat", "Größe"),
    }[name]
    expected = ["The Größe"] if name == "a.conllu" else [sentence]
    assert texts(write(tmp_path / name, held, encoding)) == expected
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(held.encode(encoding)))
    assert texts(packed) == expected


@pytest.mark.parametrize(
    ("encoding", "sentence"),
    [
        ("cp1252", "Das Mädchen – „klein“."),
        ("latin-1", "Größe, ça va."),
        ("cp949", "나는 집에 간다."),
        ("cp932", "今日はいい天気です。"),
        ("cp1251", "Кошка сидит."),
    ],
)
def test_an_encoding_is_chosen_and_never_guessed(encoding: str, sentence: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", f"{sentence}\r\nplain\r\n", encoding)
    assert texts(path, form=Form(encoding=encoding)) == [sentence, "plain"]
    assert [isinstance(row, Bad) for row in lines(path)] == [True, False]
    assert list(read_rows("a.txt", path.read_bytes(), encoding=encoding).texts(0).texts) == [sentence, "plain"]


def test_wide_characters_without_a_mark_are_refused_until_the_encoding_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "nr;satz\n1;Ja, gut.\n2;Nein, nicht.\n", "utf-16-le")
    with pytest.raises(TextError, match="such as utf-16"):
        check(path)
    assert texts(path, form=Form(encoding="utf-16")) == ["Ja, gut.", "Nein, nicht."]


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("UTF8", "utf-8"),
        ("windows-1252", "cp1252"),
        ("Shift_JIS", "cp932"),
        ("euc-kr", "cp949"),
        ("iso-8859-1", "latin-1"),
    ],
)
def test_an_encoding_has_several_names(name: str, known: str) -> None:
    assert Form(encoding=name).encoding == known


def test_an_unknown_encoding_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(SettingError, match="cp1252"):
        Form(encoding="rot13")


# --- JSON and Parquet --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '{"version": 2, "data": [{"text": "The cat sat."}, {"text": "A dog barks."}]}',
        '{"version": 2,\n "data": [{"text": "The cat sat."},\n {"text": "A dog barks."}]}',
        '{"rows": [{"text": "The cat sat."}, {"text": "A dog barks."}], "n": 2}',
        '["The cat sat.", "A dog barks."]',
        '[{"text": "The cat sat."}, {"text": "A dog barks."}]',
        '{\n"text": "The cat sat."\n}\n{\n"text": "A dog barks."\n}\n',
        '{"text": ["The cat sat.", "A dog barks."], "n": [1, 2]}',
        '[\n["The cat sat.", 1],\n["A dog barks.", 2]\n]',
        '{"text": "The cat sat."}\r\n\r\n{"text": "A dog barks."}\r\n',
    ],
)
@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_json_of_any_form_holds_the_same_rows(text: str, suffix: str, tmp_path: Path) -> None:
    assert texts(write(tmp_path / f"a{suffix}", text)) == TWO
    table = read_table(f"a{suffix}", text.encode())
    assert list(table.texts(table.usual()).texts) == TWO


def test_an_array_is_read_up_to_where_it_breaks(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", '[\n{"text": "The cat sat."},\n{"text": "A dog bar')
    good, bad = lines(path)
    assert isinstance(good, Line)
    assert isinstance(bad, Bad)
    assert bad.reason == "From here on it is not valid JSON, and was not read."
    assert bad.line == 3


def test_a_first_line_that_is_no_json_does_not_cost_the_others(tmp_path: Path) -> None:
    for first in ('{"text": "x"} y', '{"text": "never clos', "x", '"open'):
        path = write(tmp_path / "a.jsonl", f'{first}\n{{"text": "The cat sat."}}\n{{"text": "A dog barks."}}\n')
        assert [row.text if isinstance(row, Line) else row.reason for row in lines(path)] == [
            "It is not valid JSON.",
            *TWO,
        ]
    assert texts(write(tmp_path / "b.jsonl", '{"text": "The cat sat."},\n{"text": "A dog barks."},\n')) == TWO


def test_a_long_array_is_read_piece_by_piece(tmp_path: Path) -> None:
    many = [{"text": f"Sentence {number}, {'x' * 300}."} for number in range(2_000)]
    path = write(tmp_path / "a.json", json.dumps(many, indent=1))
    assert texts(path) == [row["text"] for row in many]


def test_an_array_on_one_line_may_be_longer_than_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_rows, "MAX_LINE", 1000)
    monkeypatch.setattr(rows_of_text, "MAX_LINE", 1000)
    many = [{"text": f"Sentence {number}."} for number in range(500)]
    path = write(tmp_path / "a.json", json.dumps([*many, {"text": "x" * 2000}, *many]))
    good = [row.text for row in lines(path) if isinstance(row, Line)]
    assert good == [row["text"] for row in [*many, *many]]
    (bad,) = (row for row in lines(path) if isinstance(row, Bad))
    assert bad.reason == "It has more than 1,000 characters."
    whole = write(tmp_path / "b.json", json.dumps({"n": 1, "rows": many}))
    assert texts(whole) == [row["text"] for row in many]


def test_an_object_with_several_arrays_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", '{"train": [{"text": "a"}], "test": [{"text": "b"}]}')
    (bad,) = lines(path)
    assert isinstance(bad, Bad)
    assert "several arrays" in bad.reason


def test_parquet_holds_texts_in_structs_lists_and_other_types(tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": pa.array(["a1", "a2", "a3"]),
            "vector": pa.array([[0.5], [0.25], [1.0]]),
            "pair": pa.array([{"en": text, "n": 1} for text in THREE]),
            "large": pa.array(THREE, pa.large_string()),
            "captions": pa.array([[text, "other"] for text in THREE]),
            "coded": pa.array(THREE).dictionary_encode(),
        }
    )
    path = tmp_path / "a.parquet"
    pq.write_table(table, path)
    for name in (None, "pair.en", "large", "coded", "captions.0"):
        assert texts(path, Columns(name)) == THREE
    with pytest.raises(SettingError, match=r"choose id, pair\.en, large or coded"):
        check(path, Columns("nothing"))


# --- CoNLL-U -----------------------------------------------------------------------------------------------------


def conllu(*rows: str, comments: str = "") -> str:
    """Rows of number, form, head and, where it is not "_", what is noted of the word."""
    table = []
    for row in rows:
        number, form, head, *misc = row.split("/")
        relation = "root" if head == "0" else "dep" if head != "_" else "_"
        table.append("\t".join((number, form, *"____", head, relation, "_", *(misc or "_"))))
    return comments + "\n".join(table) + "\n\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (conllu("1/我/2/SpaceAfter=No", "2/喜欢/0/SpaceAfter=No", "3/猫/2/SpaceAfter=No", "4/。/2"), "我喜欢猫。"),
        (conllu("1-2/don't/_/SpaceAfter=No", "1/do/0", "2/n't/1", "3/./1"), "don't."),
        (conllu("1/a/0/SpacesAfter=\\s\\s", "2/b/1/Gloss=x|SpaceAfter=No", "3/./1"), "a  b."),
        (conllu("1/10_000/0/SpacesInToken=10\\s000", "2/km/1"), "10 000 km"),
        (conllu("1/a/0", "2/b/1", comments="# text = \n"), "a b"),
        (conllu("1/a/0", "2/b/1", comments="# sentence-text: a  b\n"), "a  b"),
        (conllu("1/a/0", "2/b/1", comments="#text=a b\n"), "a b"),
        (conllu("1/a/0", "2/b/1", comments="# text_en = other\n# text = a b\n"), "a b"),
        (conllu("1/e\u0323\u0302/0", "2/x/1", comments="# text = \u1ec7 x\n"), "\u1ec7 x"),
        (conllu("1/각/0", "2/x/1", comments="# text = \u1100\u1161\u11a8 x\n"), "\u1100\u1161\u11a8 x"),
        (conllu("1/a/0", "2/b/1", comments="# text = a\u200f b\n"), "a\u200f b"),
    ],
)
def test_a_sentence_is_written_as_its_words_say(text: str, expected: str, tmp_path: Path) -> None:
    (line,) = lines(write(tmp_path / "a.conllu", text))
    assert isinstance(line, Line), line
    assert line.text == expected
    assert line.tree is not None
    assert (line.tree[0][0], line.tree[-1][1]) == (0, len(expected))


def test_columns_of_ones_own_may_leave_the_heads_out(tmp_path: Path) -> None:
    text = "# global.columns = ID FORM MISC\n1\tGut\tSpaceAfter=No\n2\t!\t_\n\n1\tJa\t_\n\n"
    found = list(lines(write(tmp_path / "a.conllu", text)))
    assert [(row.text, row.tree) for row in found if isinstance(row, Line)] == [("Gut!", None), ("Ja", None)]


def test_sentences_without_a_blank_line_between_them_are_two(tmp_path: Path) -> None:
    one, two = conllu("1/a/0", "2/b/1").strip("\n"), conllu("1-2/im/_", "1/in/0", "2/dem/1").strip("\n")
    for between in ("\n", "\n# sent_id = 2\n", "\n \t \n"):
        assert texts(write(tmp_path / "a.conllu", one + between + two)) == ["a b", "im"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 a b 0 root\n", "Line 1 is not CoNLL-U: a word has ten fields separated by tabs; this one has 5."),
        (conllu("1/a/0", "3/b/1"), "Line 2 is not CoNLL-U: the first field numbers the words, one after the other."),
        (conllu("1/a/0", "1.1/b/_", "2/c/9"), "Line 3 is not CoNLL-U: the head of a word is not in the sentence."),
        (conllu("1/a/0", "2/b/_"), "Line 2 is not CoNLL-U: the head of a word is not in the sentence."),
        ("# text = lost\n", "It has no words."),
        (conllu("1/a/0", comments="# text = a b\n"), "Its words are not those of its text."),
        (conllu("1/cafe/0", comments="# text = café\n"), "Its words are not those of its text."),
    ],
)
def test_what_is_no_conllu_is_listed_with_its_line_and_the_next_is_read(text: str, reason: str, tmp_path: Path) -> None:
    bad, good = lines(write(tmp_path / "a.conllu", f"{text}\n{conllu('1/Ja/0')}"))
    assert isinstance(bad, Bad)
    assert bad.reason == reason
    assert isinstance(good, Line)


# --- size --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.txt.gz", "a.csv.gz", "a.tsv.gz", "a.jsonl.gz", "a.json.gz", "a.conllu.gz"])
def test_one_endless_line_is_refused_in_little_memory(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (rows_of_text, json_rows):
        monkeypatch.setattr(module, "MAX_LINE", 1 << 16)
    path = tmp_path / name
    with gzip.open(path, "wb") as stream:
        for _part in range(4):
            stream.write(b"x" * (1 << 20))
    tracemalloc.start()
    with pytest.raises(TextError, match=r"a line of more than 524,288 characters"):
        list(lines(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.tsv", "a.jsonl", "a.conllu"])
def test_a_long_line_is_one_bad_row(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_of_text, "MAX_LINE", 1000)
    good = {"a.jsonl": '"fine"', "a.conllu": conllu("1/fine/0").strip("\n")}.get(name, "fine")
    head = "text\n" if name in ("a.csv", "a.tsv") else ""
    found = list(lines(write(tmp_path / name, f"{head}{good}\n\n{'x' * 5000}\n\n{good}\n")))
    assert [isinstance(row, Line) for row in found] == [True, False, True]
    assert isinstance(found[1], Bad)
    assert "more than 1,000 characters" in found[1].reason
    assert found[1].line == (4 if head else 3)


def test_a_paragraph_and_a_sentence_without_end_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MAX_LINE", 1000)
    path = write(tmp_path / "a.txt", "short\n\n" + "a line\n" * 1000 + "\nshort\n")
    found = list(lines(path, paragraphs=True))
    assert [isinstance(row, Line) for row in found] == [True, False, True]


def test_the_shape_of_long_cells_is_judged_by_their_beginning() -> None:
    cells = [{0: "1" * 100_000 + "x", 1: "a " * 50_000}] * 3
    assert shapes.usual(("a", "b"), cells) == 1
    assert not shapes.has_header({0: "1" * 100_000, 1: "a " * 50_000}, cells)
