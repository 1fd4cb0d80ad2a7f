"""The public names: there, lazy, and callable whatever was imported before."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from PIL import Image

import bartviz
from tests.support.process import printed

ROOT = Path(__file__).parents[1]


FUNCTIONS = [name for name in dir(bartviz) if name not in {"__version__", "errors", "figures", "paper"}]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_name_is_a_documented_function(name: str) -> None:
    function = getattr(bartviz, name)
    assert callable(function)
    assert function.__doc__


def test_a_public_name_that_is_a_folder_too_is_the_public_one_whatever_was_imported() -> None:
    code = """
import sys, bartviz
assert "torch" not in sys.modules
import bartviz.corpus.read
from bartviz.corpus import schema
import bartviz.corpus as again
print(callable(bartviz.corpus), again is bartviz.corpus, schema.__name__, sys.modules["bartviz.corpus"].__name__)
"""
    assert printed(code) == "True True bartviz.corpus.schema bartviz.corpus\n"


def test_the_figures_are_explained_in_the_docstring_of_their_package() -> None:
    explained = set(re.findall(r"\b(\w+)\(", str(bartviz.figures.__doc__)))
    assert {*dir(bartviz.figures)} - explained == set()


def test_the_package_alone_imports_nothing_heavy() -> None:
    heavy = {"torch", "transformers", "streamlit", "plotly", "pandas", "numpy"}
    code = f"import sys, bartviz; print(sorted({heavy!r} & set(sys.modules)))"
    assert printed(code).strip() == "[]"


WITHOUT_EXTRAS = """
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""


def blocked(code: str) -> str:
    """What the code prints where the package was installed without its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {Requirement(line).name for lines in project["optional-dependencies"].values() for line in lines}
    modules = sorted(module for module, names in packages_distributions().items() if (extras - {"bartviz"}) & {*names})
    assert {"torch", "transformers", "streamlit", "pyarrow"} <= {*modules}
    script = f"BLOCKED = {modules!r}\n{WITHOUT_EXTRAS}\n{code}"
    return printed(script)


@pytest.mark.slow
def test_a_record_opens_and_figures_are_drawn_without_the_extras() -> None:
    record = ROOT / "bartviz" / "embedded" / "records" / "start.safetensors"
    code = f"""
import bartviz
record = bartviz.open({str(record)!r})
assert record.sound
heads = bartviz.figures.heads(record.cross, layer=2)
ribbons = bartviz.figures.ribbons(record)
print(type(heads).__name__, type(ribbons).__name__, len(bartviz.parameters("facebook/bart-base")) > 9)
"""
    assert blocked(code) == "Figure Figure True\n"


@pytest.mark.slow
def test_what_needs_an_extra_names_it() -> None:
    code = """
import bartviz
from bartviz.commands.cli import main
try:
    bartviz.load("bart-tiny-en-de")
except bartviz.errors.BartvizError as error:
    assert isinstance(error, ModuleNotFoundError) and error.name
    print(error)
sys.stderr = sys.stdout
print(main(["app", "--port", "1"]))
"""
    library, *_, app, status = blocked(code).splitlines()
    assert re.match(r"bartviz\.load needs \w+, which is not installed\. .*pip install '\.\[models\]'", library)
    assert app.startswith("bartviz: This command needs streamlit, which is not installed.")
    assert "pip install '.[app]'" in app
    assert status == "2"


@pytest.mark.slow
def test_names_are_listed_and_described_where_their_packages_are_missing() -> None:
    code = """
import pydoc, rlcompleter, bartviz
print("load" in rlcompleter.Completer({"bartviz": bartviz}).attr_matches("bartviz.lo")[0])
page = pydoc.plain(pydoc.render_doc(bartviz))
print("load(" in page, "pip install" in page, "from_attentions(" in page)
"""
    assert blocked(code) == "True\nTrue True True\n"


def test_dir_shows_the_public_names_and_nothing_else() -> None:
    code = """
import bartviz
before = dir(bartviz)
bartviz.parameters, bartviz.figures, bartviz.open  # what is loaded is listed once
assert dir(bartviz) == before
print(*before)
from bartviz import *
print(open is __builtins__.open, "capture" in globals(), "Path" in globals())
"""
    names, star = printed(code).splitlines()
    assert names.split() == dir(bartviz)
    assert "capture" in names.split()
    assert star == "True True False"


def test_help_shows_no_address_of_a_default() -> None:
    shown = {name: str(inspect.signature(getattr(bartviz, name))) for name in FUNCTIONS}
    assert {name for name, text in shown.items() if " at 0x" in text} == set()
    assert "cancelled: 'Callable[[], bool]' = never" in shown["capture"]


@pytest.mark.slow
def test_a_type_checker_knows_the_names_and_refuses_others(tmp_path: Path) -> None:
    code = tmp_path / "user.py"
    code.write_text(
        "import bartviz\n"
        "record = bartviz.open('x.safetensors')\n"
        "reveal_type(record)\n"
        "bartviz.captur\n"
        "bartviz.figures.heeds\n"
        "bartviz.load(3.5, roots=1)\n"
        "record.head('cross L2H5').sum()\n"
        "bartviz.figures.heads(record.attention('cross'), layer=2)\n"
    )
    options = ["--strict", "--cache-dir", str(tmp_path / "cache"), "--follow-imports", "silent", "--no-error-summary"]
    options += ["--no-site-packages", "--ignore-missing-imports"]  # the package's own types are enough
    found = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(code)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    lines = {line.split(":")[1]: line for line in found.stdout.splitlines()}
    assert set(lines) == {"3", "4", "5", "6"}
    assert 'Revealed type is "bartviz.record.record.Record"' in lines["3"]
    assert 'Module has no attribute "captur"' in lines["4"]
    assert 'Module has no attribute "heeds"' in lines["5"]
    assert "arg-type" in lines["6"]


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_like_this"):
        getattr(bartviz, "nothing_like_this")  # noqa: B009


def test_the_readme_gives_both_commands_and_is_short() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make run" in text
    assert "make test" in text
    assert text.count("\n") <= 120


def test_the_readme_has_a_picture_that_moves_and_is_small() -> None:
    (name,) = re.findall(r"\]\((docs/\w+\.webp)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert (ROOT / name).stat().st_size < 1_000_000
    with Image.open(ROOT / name) as picture:
        assert getattr(picture, "n_frames", 1) >= 5


def test_the_library_page_shows_every_public_name() -> None:
    text = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    code = text.split("```python")[1].split("```")[0]
    for name in dir(bartviz):
        if name not in {"__version__", "capture_batch"}:
            assert f"bartviz.{name}" in code
