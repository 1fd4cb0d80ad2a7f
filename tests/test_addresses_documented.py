"""docs/addresses.md lists what the code writes to the address of each page, by the calls that bind a control to it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from types import ModuleType

from bartviz.app.frame import page_list

ROOT = Path(__file__).parent.parent
APP, FEATURES = ROOT / "bartviz" / "app", ROOT / "bartviz" / "features"
PICKERS = {"one_of", "select", "or_typed", "several", "tabs", "index", "slider", "switch"}
WRITERS = {"publish", "keep", "asked", "choose"}  # of url_state, and anything that Streamlit binds by ``bind``
PAIRS = {"linked": 1, "publish": 0}  # of the canvas: which argument has the names of rows and columns
COMPUTED = {"compare": {"a", "b"}, "side": {"left", "right"}}  # named by a loop over both of them
EVERYWHERE = "every page"
UNNAMED = {"key"}  # parameters that hand a name on: the callers are looked at


def name_of(node: ast.expr, module: ModuleType) -> str | None:
    """The word that an expression stands for: a text, a constant, or a pattern such as ``share_...``; None for none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "..." for part in node.values)
    if isinstance(node, ast.Name):
        found = getattr(module, node.id, None)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        found = getattr(getattr(module, node.value.id, None), node.attr, None)
    else:
        return None
    return found if isinstance(found, str) else None


def called(node: ast.Call) -> tuple[str, str]:
    """What a call calls: the name before the dot, if there is one, and the name."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return (function.value.id if isinstance(function.value, ast.Name) else ""), function.attr
    return "", function.id if isinstance(function, ast.Name) else ""


def argument(node: ast.Call, name: str, place: int) -> ast.expr | None:
    given = next((word.value for word in node.keywords if word.arg == name), None)
    return given if given is not None else node.args[place] if place < len(node.args) else None


def bound(path: Path) -> set[str]:
    """The names that a module binds to the address."""
    module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    tree = ast.parse(path.read_text("utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    keys: list[ast.expr | None] = []
    for node in calls:
        before, function = called(node)
        if before == "pick" and function in PICKERS:
            keys.append(argument(node, "key", 9))
        elif before == "url_state" and function in WRITERS:
            keys.append(argument(node, "key", 0))
        elif before == "canvas" and function in PAIRS:
            pair = argument(node, "names", PAIRS[function])
            names = getattr(module, pair.id, ()) if isinstance(pair, ast.Name) else getattr(pair, "elts", ())
            keys += [ast.Constant(one) if isinstance(one, str) else one for one in names]
        elif isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value).endswith("query_params"):
            asked = argument(node, "key", 0)
            keys.append(None if isinstance(asked, ast.Name) and asked.id.islower() else asked)  # of a loop
        elif any(word.arg == "bind" for word in node.keywords):
            keys.append(argument(node, "key", 9))
    for defined in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        parameters = [one.arg for one in [*defined.args.posonlyargs, *defined.args.args, *defined.args.kwonlyargs]]
        passed = {node.id for key in keys if key is not None for node in ast.walk(key) if isinstance(node, ast.Name)}
        for place, name in enumerate(parameters):
            if name in UNNAMED & passed:
                keys += [argument(node, name, place) for node in calls if called(node)[1] == defined.name]
    found = {name_of(key, module) for key in keys if key is not None}
    return {name for name in found if name is not None and not name.startswith("_")}


def in_code() -> dict[str, set[str]]:
    """Page -> the names of its address that only it has; those of the frame under ``EVERYWHERE``."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(APP.rglob("*.py")):
        if path.name != "pick.py":
            found[EVERYWHERE] |= bound(path)
    shared = {"kind", "layer", "head", "row", "words"}  # bound by ``pick`` itself, for whichever page asks for them
    found[EVERYWHERE] |= shared
    for path in sorted(FEATURES.rglob("*.py")):
        page = path.relative_to(FEATURES).parts[0]
        found[page] |= bound(path) - found[EVERYWHERE]
    for page, names in COMPUTED.items():
        found[page] |= names
    return {page: names for page, names in found.items() if names}


def documented() -> dict[str, set[str]]:
    """The same, as the tables of the document have it."""
    text = (ROOT / "docs" / "addresses.md").read_text("utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    found = {}
    for section in sections:
        word = re.search(r"^`/(\w*)`", section, re.MULTILINE)
        names = re.findall(r"^\| `([\w.]+)` \|", section, re.MULTILINE)
        if names:
            found[word[1] or "start" if word else EVERYWHERE] = set(names)
    return found


def test_every_choice_of_a_page_is_documented_and_no_other() -> None:
    code, told = in_code(), documented()
    lacking = {page: names - told.get(page, set()) for page, names in code.items() if names - told.get(page, set())}
    more = {page: names - code.get(page, set()) for page, names in told.items() if names - code.get(page, set())}
    assert not lacking, f"docs/addresses.md lacks {lacking}"
    assert not more, f"docs/addresses.md has what no code writes: {more}"


def test_every_page_is_listed_by_its_address() -> None:
    text = (ROOT / "docs" / "addresses.md").read_text("utf-8")
    listed = set(re.findall(r"`/(\w+)`", text)) - {"healthz", "readyz", "metrics"}
    assert listed == {entry.word for entry in page_list.PAGES} - {"start"}
