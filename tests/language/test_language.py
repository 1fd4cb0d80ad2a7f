"""Messages are looked up in the reader's language, and every one of them is there."""

from __future__ import annotations

import ast
import os
import re
import string
import threading
from functools import cache
from pathlib import Path

import pytest

from bartviz import language
from bartviz.analysis import head_measures
from bartviz.app.frame import page_list
from bartviz.errors import TextError
from bartviz.language import HOME, LANGUAGES, PSEUDO, _, current, follow, later, mark, named, plural, speaking
from bartviz.teaching import glossary
from scripts.prose import written
from scripts.words import ROOT, Message, messages, sources, translated

MENU = [text for page in page_list.PAGES for text in (page.label, page.title)]
OTHERS = [code for code in LANGUAGES if code != "en"]


@cache
def spoken() -> set[tuple[Path, Message]]:
    """The messages of the code, each with its file."""
    return {(file, message) for file in sources() for _line, message in messages(file)}


@pytest.fixture
def unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_followed", [])


def test_values_are_filled_in_and_braces_without_values_stay() -> None:
    assert _("{count} of {all}", count=2, all=3) == "2 of 3"
    assert _("{not filled}") == "{not filled}"
    assert (plural("{count} row", "{count} rows", 1), plural("{count} row", "{count} rows", 2)) == ("1 row", "2 rows")
    assert mark("row") == "row"
    assert _("") == ""
    assert named({"row": "Row"}) == {"row": "Row"}


@pytest.mark.usefixtures("unasked")
def test_later_messages_are_english_until_they_are_shown() -> None:
    with speaking(PSEUDO):
        said = later("Row {row:,}: {why}", row=1200, why=later("no text"))
        error = TextError(said)
        assert said == "Row 1,200: no text"
        assert _(said) == str(error) == "⟦Row 1,200: ⟦no text⟧⟧"
    assert _(said) == str(error) == "Row 1,200: no text"
    assert later("{as it stands}") == "{as it stands}"


@pytest.mark.usefixtures("unasked")
def test_each_thread_speaks_its_own_language() -> None:
    heard: list[str] = []
    with speaking(PSEUDO):
        assert _("{count} rows", count=2) == "⟦2 rows⟧"
        thread = threading.Thread(target=lambda: heard.append(current()))
        thread.start()
        thread.join()
    assert heard == ["en"]
    assert current() == "en"


@pytest.mark.usefixtures("unasked")
def test_what_follows_the_visitor_gives_way_to_what_was_said_aloud() -> None:
    follow(lambda: "ko")
    assert current() == "ko"
    with speaking("en"):
        assert current() == "en"


def test_a_language_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match=", ".join(LANGUAGES)), speaking("de"):
        pass


@pytest.mark.parametrize("code", OTHERS)
def test_every_message_is_translated(code: str) -> None:
    known = translated(code)
    missing = sorted(f"{file.relative_to(ROOT)}: {message}" for file, message in spoken() if message not in known)
    assert not missing, f"{len(missing)} messages lack {code}; see python -m scripts.words\n" + "\n".join(missing[:20])


@cache
def functions() -> dict[tuple[str, str], tuple[set[str], set[tuple[str, str]]]]:
    """The functions of the library by module and name: their decorators, and what they call."""
    found = {}
    for file in sources():
        module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        tree = ast.parse(file.read_text("utf-8"))
        imported = {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                named = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
                called = {imported.get(name, (module, name)) for name in named}
                found[module, node.name] = {ast.unparse(each) for each in node.decorator_list}, called
    return found


def test_nothing_that_is_kept_for_all_visitors_is_translated() -> None:
    """What is computed once for everybody would be in the language of whoever came first."""
    cached = {
        place for place, (marks, _called) in functions().items() if any(re.match(r"(lru_)?cache", m) for m in marks)
    }
    assert len(cached) > 20
    for place in sorted(cached):
        reached, waiting = set[tuple[str, str]](), [place]
        while waiting:
            if (one := waiting.pop()) not in reached:
                reached.add(one)
                waiting += functions().get(one, (set(), set()))[1]
        translated_by = {name for module, name in reached if module == "bartviz.language"}
        assert translated_by.isdisjoint({"_", "plural", "named", "fill"}), place


def test_the_texts_of_measures_are_messages() -> None:
    """A text without a mark would stay English on every page, and no other test would ask for its translation."""
    said = {message for _file, message in spoken()}
    for measure in head_measures.MEASURES.values():
        texts = [measure.named, measure.meaning, measure.measured_in, measure.over]
        texts += [text for text in (measure.computed, measure.article) if re.search(r"\b[a-z]{4,}\b", text)]
        assert not [text for text in texts if text not in said], measure.name


def test_a_percentage_is_written_in_one_way() -> None:
    """As Python formats it: "57%"."""
    texts = {str(message): str(message) for _file, message in spoken()}
    for code in LANGUAGES:
        texts |= {f"{code} {'/'.join(name)}": section.text for name, section in written(code).items()}
    for code in OTHERS:
        texts |= {f"{code} {message}": " ".join(strings) for message, (_file, strings) in translated(code).items()}
    assert [name for name, text in texts.items() if re.search(r"[\d}] %(?!\w|[{(])", text)] == []


def test_where_messages_are_looked_up_nothing_else_has_that_name() -> None:
    """Python 3.12 takes ``_`` in one comprehension for a loop's variable of another."""
    speaks = 0
    for file in (file for file in sources() if file.suffix == ".py"):
        text = file.read_text("utf-8")
        if not re.search(r"\b_\b", text):
            continue
        nodes = list(ast.walk(ast.parse(text)))
        if any(isinstance(node, ast.alias) and node.name == "_" for node in nodes):
            speaks += 1
            stored = (node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
            assert "_" not in {node.id for node in stored}, file
    assert speaks


@pytest.mark.parametrize("code", OTHERS)
def test_no_message_is_translated_that_nothing_says(code: str) -> None:
    said = {message for _file, message in spoken()}
    assert not [
        f"{file.name}: {message}" for message, (file, _strings) in translated(code).items() if message not in said
    ]


def homes() -> dict[Message, Path]:
    """Message -> the innermost folder with all the code that says it. A line of the menu belongs to its feature."""
    menu = {
        text: {HOME / "features" / page.word for page in page_list.PAGES if text in (page.label, page.title)}
        for text in MENU
    }
    found: dict[Message, set[Path]] = {message: set(folders) for message, folders in menu.items()}
    for file, message in spoken():
        if file != Path(page_list.__file__) or message not in menu:
            deep = 2 if file.is_relative_to(HOME / "features") else 1
            inside = file.parent.relative_to(HOME).parts if file.is_relative_to(HOME) else ()
            found.setdefault(message, set()).add(HOME.joinpath(*inside[:deep]))
    return {message: Path(os.path.commonpath(folders)) for message, folders in found.items() if folders}


@pytest.mark.slow  # not among the quick tests that scripts/without.py runs: of what two say, one is left
@pytest.mark.parametrize("code", OTHERS)
def test_a_translation_is_in_the_innermost_folder_with_all_that_says_its_message(code: str) -> None:
    """So that it is found beside the code, and a feature deleted with its translations and nobody else's."""
    at = homes()
    assert [
        f"{file.relative_to(ROOT)}: {message}: {home.relative_to(ROOT)}"
        for message, (file, _strings) in translated(code).items()
        if file.parent != (home := at.get(message, HOME))
    ] == []


@pytest.mark.parametrize("code", OTHERS)
def test_a_translation_has_the_places_of_its_message(code: str) -> None:
    for message, (file, strings) in translated(code).items():
        for translation in strings:
            forms = message if isinstance(message, tuple) else (message,)  # a language may have the places of either
            assert places(translation) in [places(form) for form in forms], f"{file.name}: {message}"
    english = written("en")
    for name, section in written(code).items():
        assert places(section.text) == places(english[name].text), name


# Said otherwise once, beside the word that counts: the reader of one page must know a thing again on the next.
REJECTED = {
    "ko": {
        "바이어스": "편향",
        "나트": "내트",
        "옌센": "젠슨",
        "페널티": "벌점",
        "퍼플렉서티": "퍼플렉시티",
        "빔 서치": "빔 탐색",
        "문턱": "기준값",
        "윈도": "창",
        "프리픽스": "접두부",
        "왼쪽 창": "사이드바",
        "카탈로그": "목록",
        "이어쓰기": "이어 쓰기",
        "마디": "노드",
        "포스트 노름": "post-norm",
        "바이트 수준": "바이트 단위",
        "닷 프로덕트": "내적",
        "레이어": "층",
        "웨이트": "가중치",
        "스텝": "단계",
    }
}


@pytest.mark.slow
@pytest.mark.parametrize("code", OTHERS)
def test_a_term_has_one_word(code: str) -> None:
    rejected = REJECTED.get(code, {})
    messages = [(file.name, said) for file, forms in translated(code).values() for said in forms]
    sections = [(file, section.text) for (file, _name), section in written(code).items()]
    found = [
        f"{file}: {bad}, not {rejected[bad]}: {said[:60]}"
        for file, said in [*messages, *sections]
        for bad in rejected
        if bad in said
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("code", OTHERS)
def test_a_label_is_the_same_with_a_capital_and_without(code: str) -> None:
    """Short names of things, such as columns, tabs and terms; a sentence may be said in several ways."""
    said: dict[str, set[str]] = {}
    for message, (_file, forms) in translated(code).items():
        if isinstance(message, str) and len(message) < 30 and not message.endswith("."):
            said.setdefault(message.lower().replace("-", " "), set()).add(forms[0].lower())
    for term, entry in glossary.entries(code).items():
        said.setdefault(term.lower().replace("-", " "), set()).add(entry["name"].lower())
    different = {label for label, names in said.items() if len(names) > 1}
    # a column and a verdict; a button and a column; a heading and the choice under it; a number and the things; a
    # button and a state
    assert different <= {"found", "share", "search", "side", "beams", "links", "open"}


def places(text: str) -> set[str]:
    """The names in braces, with how they are written; none where the braces are not meant to be filled (formulas)."""
    text = re.sub(r"\$[^$]*\$", "", text.replace("$$", "$"))
    try:
        return {
            f"{name}:{spec}" for _text, name, spec, _conversion in string.Formatter().parse(text) if name is not None
        }
    except ValueError:
        return set()


def test_the_catalogue_that_is_read_holds_all_areas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\nPlural-Forms: nplurals=1; plural=0;\\n"\n\n'
    (tmp_path / "run").mkdir()
    (tmp_path / "ko.po").write_text(head + 'msgid "row"\nmsgstr "행"\n', "utf-8")
    (tmp_path / "run" / "ko.po").write_text(
        head + 'msgid "{count} head"\nmsgid_plural "{count} heads"\nmsgstr[0] "헤드 {count}개"\n', "utf-8"
    )
    (tmp_path / "features" / "spread").mkdir(parents=True)
    (tmp_path / "features" / "spread" / "ko.po").write_text(head + 'msgid "spread"\nmsgstr "퍼짐"\n', "utf-8")
    monkeypatch.setattr(language, "HOME", tmp_path)
    language._catalogue.cache_clear()
    try:
        with speaking("ko"):
            assert _("row") == "행"
            assert _("spread") == "퍼짐"
            assert plural("{count} head", "{count} heads", 3) == "헤드 3개"
            assert _("not there") == "not there"
    finally:
        language._catalogue.cache_clear()
