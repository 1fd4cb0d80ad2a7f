"""One module uses what Streamlit does not promise, and each such part is still what that module relies on."""

from __future__ import annotations

import ast
import asyncio
import inspect
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
import streamlit as st
from packaging.requirements import Requirement
from packaging.version import Version
from streamlit import delta_generator, env_util
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.runtime import Runtime, RuntimeConfig
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.testing.v1 import AppTest
from streamlit.web.cli import main

from bartviz.app import streamlit_internals
from bartviz.app.state import clicks
from bartviz.app.streamlit_internals import MemoryUploadedFileManager
from scripts.layers import ROOT, imports
from scripts.visitor import wait_for

HOME = Path(st.__file__).parent
# What Streamlit's reference names; in all other modules of it, what is there may go with any release.
PUBLIC = {"streamlit", "streamlit.starlette", "streamlit.testing", "streamlit.testing.v1"}
# Which other file uses private parts, and why. Take from this list, do not add to it.
OTHERS = {
    "scripts/visitor.py": "is the browser's side of a visit and speaks in Streamlit's messages",
    "tests/app/frame/test_server.py": "lets a script fail as the server does",
    "tests/app/state/test_clicks.py": "sends messages in the middle of a script run",
    "tests/app/state/test_session.py": "interrupts a script run at each access to the session",
    "tests/app/test_streamlit_internals.py": "compares the parts with what we rely on",
    "tests/features/test_nothing_is_fetched.py": "names the type of a button",
    "tests/fuzz/addresses.py": "looks for components once, as tests/support/pages.py does",
    "tests/support/deltas.py": "reads messages as a browser does",
    "tests/support/pages.py": "repairs what AppTest does unlike a server",
    "tests/support/seen.py": "reads the texts of every element of a page",
}
# A file that imports one of these may have objects of Streamlit.
TOUCHING = ("streamlit", "bartviz.app", "tests.support.pages", "tests.support.visits")
NAMED_TUPLES = {"_replace", "_asdict", "_fields", "_make"}  # are public


def module_of(name: str) -> str:
    """The module in a dotted name, such as ``streamlit.runtime`` in ``streamlit.runtime.exists``."""
    parts = name.split(".")
    there = [
        end
        for end in range(1, len(parts) + 1)
        if (HOME.joinpath(*parts[1:end]).with_suffix(".py")).is_file() or HOME.joinpath(*parts[1:end]).is_dir()
    ]
    return ".".join(parts[: max(there)])


def private_names(path: Path, ours: list[Path]) -> set[str]:
    """The private modules of Streamlit that a file imports or names, and the private attributes that it touches: those
    that our code does not define in ``ours``, some files."""
    text, imported_names = path.read_text("utf-8"), names_in(path)
    touching = any(name.startswith(TOUCHING) for name in imported_names)
    if not touching and "streamlit" not in text:
        return set()  # most files: no need to look at each of their nodes
    nodes = list(ast.walk(ast.parse(text)))
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    names = imported_names | {text for text in texts if text.replace(".", "_").isidentifier()}
    modules = {module_of(name) for name in names if name.split(".")[0] == "streamlit"} - PUBLIC
    if not touching and not any(name.startswith(TOUCHING) for name in names):
        return modules
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return modules | {one for one in attributes - defined(ours) if one.startswith("_") and not one.startswith("__")}


@cache
def names_in(path: Path) -> frozenset[str]:
    """What one file imports."""
    return frozenset(imports(path))


def defined(files: list[Path]) -> set[str]:
    """The names that these files define: functions, classes, variables, attributes and fields."""
    return NAMED_TUPLES.union(*map(defined_in, files))


@cache
def defined_in(path: Path) -> frozenset[str]:
    """The names that one file defines."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_self(node.value):
            found.add(node.attr)
    return frozenset(found)


def is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def imported(file: Path) -> list[Path]:
    """The files of ours that a file imports."""
    paths = [ROOT.joinpath(*name.split(".")) for name in names_in(file)]
    return [path for place in paths for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()]


@pytest.mark.slow
def test_private_parts_of_streamlit_are_used_in_one_module() -> None:
    folders = [ROOT / name for name in ("bartviz", "pages", "scripts", "benchmarks", "training", "tests")]
    files = [ROOT / "app.py", *(file for folder in folders for file in folder.rglob("*.py"))]
    using = {}
    for file in files:
        # A test may touch what the modules that it imports define, and every other file what it defines itself.
        tested = imported(file) if ROOT / "tests" in file.parents else []
        if names := private_names(file, [file, *tested]):
            using[file.relative_to(ROOT).as_posix()] = names
    assert using.pop("bartviz/app/streamlit_internals.py") > {"streamlit.runtime", "_send_query_param_msg"}
    assert {name: using[name] for name in using.keys() - OTHERS} == {}
    assert using.keys() == OTHERS.keys()


def test_private_parts_are_found(tmp_path: Path) -> None:
    file = tmp_path / "page.py"
    file.write_text(
        "import streamlit as st\nimport streamlit.testing.v1\nfrom streamlit import runtime\n"
        "from streamlit.runtime.scriptrunner import get_script_run_ctx\nfrom streamlit.starlette import App\n"
        "patch('streamlit.elements.widgets.slider.marshall')\npatch('streamlit.download_button')\n"
        "class Own:\n    def __init__(self):\n"
        "        self._own = st.session_state._state\n        self._own._replace()\n"
    )
    modules = {"streamlit.runtime", "streamlit.runtime.scriptrunner", "streamlit.elements.widgets.slider"}
    assert private_names(file, [file]) == modules | {"_state"}


def test_the_package_admits_the_installed_minor_release_alone() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needs = [Requirement(text) for text in project["optional-dependencies"]["app"]]
    (streamlit,) = (need for need in needs if need.name == "streamlit")
    here = Version(st.__version__)
    assert here in streamlit.specifier
    assert f"{here.major}.{here.minor}.{here.micro + 1}" in streamlit.specifier
    assert f"{here.major}.{here.minor + 1}.0" not in streamlit.specifier


def script() -> None:
    import streamlit as st

    from bartviz.app import streamlit_internals

    st.session_state["run"] = (
        streamlit_internals.session_id(),
        streamlit_internals.open_page(),
        streamlit_internals.in_fragment(),
    )

    @st.fragment
    def part() -> None:
        st.session_state["in_fragment"] = streamlit_internals.in_fragment()
        st.button("again")

    part()


def test_a_script_run_has_a_session_and_a_page_and_knows_a_fragment() -> None:
    assert streamlit_internals.session_id() is None
    assert streamlit_internals.open_page() == ("", False)
    assert streamlit_internals.in_fragment() is False
    page = AppTest.from_function(script, default_timeout=120).run()
    session, (opened, back), in_fragment = page.session_state["run"]
    assert session
    assert opened
    assert (back, in_fragment) == (False, False)
    assert page.session_state["in_fragment"] is False
    page.button[0].click().run()
    assert page.session_state["run"] == (session, (opened, back), False)


def writer() -> None:
    import streamlit as st

    from bartviz.app import streamlit_internals

    number = st.number_input("number", value=1, key="number", bind="query-params")
    st.session_state["seen"] = number
    st.session_state["before"] = streamlit_internals.write_query({"number": ["7"], "words": ["a", "b"], "old": []})


def test_words_are_written_in_one_message_also_those_of_bound_widgets(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    enqueue = ScriptRunContext.enqueue

    def noted(context: ScriptRunContext, message: Any) -> None:
        if message.HasField("page_info_changed"):
            sent.append(message.page_info_changed.query_string)
        enqueue(context, message)

    monkeypatch.setattr(ScriptRunContext, "enqueue", noted)
    page = AppTest.from_function(writer, default_timeout=120)
    page.query_params["number"], page.query_params["old"] = "3", "x"
    page.run()
    assert not page.exception
    assert page.session_state["seen"] == 3  # a bound widget begins with the address
    assert page.session_state["before"] == {"number": ("3",), "words": (), "old": ("x",)}
    assert sent == ["number=7&words=a&words=b"]


def beginner() -> None:
    import streamlit as st

    from bartviz.app import streamlit_internals

    st.session_state["words"] = [streamlit_internals.first_words(key) for key in ("number", "other", "none")]
    streamlit_internals.drop_from_address("number")
    streamlit_internals.drop_from_address("other")
    streamlit_internals.write_query({"other": ["4"]})
    streamlit_internals.begin_with_address("other")
    st.session_state["after"] = [streamlit_internals.first_words(key) for key in ("number", "other")]
    for key in ("number", "other"):
        st.number_input(key, value=1, key=key, bind="query-params")


def test_a_bound_widget_begins_with_the_first_words_of_its_key() -> None:
    page = AppTest.from_function(beginner, default_timeout=120)
    page.query_params["number"], page.query_params["other"] = "inf", "3"
    page.run()
    assert not page.exception
    assert page.session_state["words"] == [("inf",), ("3",), ()]
    assert page.session_state["after"] == [(), ("4",)]
    assert [page.number_input(key=key).value for key in ("number", "other")] == [1, 4]
    assert "number" not in page.query_params


def checked_uploads() -> Any:
    manager = MemoryUploadedFileManager("/upload")
    streamlit_internals.check_uploads(manager, lambda _session, _file: None)
    return lambda _manager, *given, **named: inspect.signature(manager.add_file).bind(*given, **named)


@pytest.mark.parametrize(
    ("replaced", "own"),
    [
        (streamlit_internals.apply_message, clicks._uninterrupted),
        (streamlit_internals.register_widget, clicks._drawn),
        (streamlit_internals.newer_message, clicks._check_later),
    ],
)
def test_a_method_is_replaced_by_one_that_accepts_the_same_calls(replaced: Any, own: Any) -> None:
    accepts_the_same(replaced, inspect.signature(own).bind)


def test_an_upload_is_checked_by_a_method_that_accepts_the_same_calls() -> None:
    accepts_the_same(MemoryUploadedFileManager.add_file, checked_uploads())


def accepts_the_same(replaced: Any, bind: Callable[..., object]) -> None:
    """Call ``bind`` as Streamlit may call the method: by position where it can, and by name."""
    given = [one for one in inspect.signature(replaced).parameters.values() if one.name != "self"]
    by_position = [one.name for one in given if one.kind is one.POSITIONAL_OR_KEYWORD]
    bind(None, *by_position, **{one.name: None for one in given if one.name not in by_position})
    bind(None, **{one.name: None for one in given})


class Storage(MemorySessionStorage):
    """Notes the sessions that are deleted."""

    def __init__(self, seconds: int) -> None:
        super().__init__(ttl_seconds=seconds)
        self.deleted: list[str] = []

    def delete(self, session_id: str) -> None:
        self.deleted.append(session_id)
        super().delete(session_id)


@pytest.mark.parametrize("seconds", [120, 0], ids=["kept", "expired"])
def test_a_server_knows_its_sessions_and_closes_one_that_was_left(
    seconds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Runtime, "_instance", None)
    assert not streamlit_internals.is_alive("any")  # no server
    streamlit_internals.close("any")
    assert streamlit_internals.uploads() is None
    (tmp_path / "app.py").write_text("")
    storage, files = Storage(seconds), MemoryUploadedFileManager("/upload")

    async def visit() -> None:
        runtime = Runtime(
            RuntimeConfig(str(tmp_path / "app.py"), MemoryMediaFileStorage("/media"), files, session_storage=storage)
        )
        assert await streamlit_internals.is_ready() == (False, "unavailable")
        await runtime.start()
        assert await streamlit_internals.is_ready() == (True, "ok")
        assert streamlit_internals.uploads() is files
        one, other = (runtime.connect_session(MagicMock(), {}) for _ in range(2))
        left = runtime.get_app_session(one)
        assert left is not None
        left.session_state["record"] = "large"
        assert streamlit_internals.is_alive(one)
        streamlit_internals.close(one)  # it is there, and so it stays
        await asyncio.sleep(0)
        assert streamlit_internals.is_alive(one)
        runtime.disconnect_session(one)
        assert not streamlit_internals.is_alive(one)
        assert not storage.deleted
        await asyncio.to_thread(streamlit_internals.close, one)
        await asyncio.sleep(0.1)
        assert storage.deleted == [one]
        assert ("record" in left.session_state) == (seconds == 0)
        assert streamlit_internals.is_alive(other)
        assert streamlit_internals.serve_files("bartviz", "1", "own", tmp_path) == "_stcore/bidi-components/bartviz.own"
        assert get_bidi_component_manager().get_component_asset_root("bartviz.own") == tmp_path.resolve()
        runtime.stop()
        await runtime.stopped

    wait_for(visit())


def test_a_server_can_be_started_from_python() -> None:
    assert "run" in main.commands
    options = {name for option in main.commands["run"].params for name in option.opts}
    assert {"--server.address", "--server.port", "--server.allowedHosts", "--server.maxUploadSize"} <= options


def test_no_element_looks_for_a_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def ask() -> bool:
        asked.append(True)
        return False

    monkeypatch.setattr(env_util, "is_repl", ask)
    monkeypatch.setattr(delta_generator, "_use_warning_has_been_displayed", False)
    st.container().text("first")
    assert asked == [True]
    monkeypatch.setattr(delta_generator, "_use_warning_has_been_displayed", False)
    streamlit_internals.skip_prompt_check()
    st.container().text("second")
    assert asked == [True]


def test_scripts_of_elements_are_where_the_server_serves_them() -> None:
    assert list(streamlit_internals.SCRIPTS.glob("Html.*.js"))
