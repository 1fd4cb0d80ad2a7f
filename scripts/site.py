"""``make docs``: the documentation site, from docs/, the app's own explanations and the docstrings.

What is written once stays where it is: a page of a view is its question, its picture and the explanation that the app
shows, the glossary is the app's, the reference is made of docstrings. They are put together in build/docs/source.
``--fast`` leaves out what the notebooks print and draw.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from plotly.offline import get_plotlyjs

import bartviz
from bartviz import figures
from bartviz.app.frame import page_list
from bartviz.families.catalogue import EMBEDDED
from bartviz.teaching import explanations
from bartviz.teaching.glossary import glossary

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "docs"
# Documents of the repository that are pages, too.
DOCUMENTS = {
    "CONTRIBUTING.md": "contributing.md",
    ".github/SECURITY.md": "security.md",
    "benchmarks/RESULTS.md": "results.md",
}
# Page -> the record of its explorer, and what that shows first.
EXPLORERS = {
    "heads": ("start", "kind=encoder&layer=1&head=2"),
    "decoding": ("start", "kind=cross&step=5"),
    "alignment": ("start", "kind=cross&view=lines"),
    "denoising": ("repair", "kind=cross&step=3"),
}
ALIVE = ("bart-tiny-en-de", "bert-tiny-en", "bart-tiny-denoise")  # models that run in the site
# What every notebook runs first: its figures take plotly's script from the site.
STARTUP = """
def _drawn(figure):
    return figure.to_html(full_html=False, include_plotlyjs="../plotly.min.js")

get_ipython().display_formatter.formatters["text/html"].for_type_by_name("plotly.graph_objs._figure", "Figure", _drawn)
"""
BEFORE = "## What can be done there"  # the section of the guide that comes after the models
LEVELS = (("beginner", "In short"), ("intermediate", "How it works"), ("expert", "Exactly"))


def assemble(source: Path) -> None:
    """Write the sources of the site into a folder that is not there yet."""
    shutil.copytree(ROOT / "docs", source)
    for name, page in DOCUMENTS.items():
        (source / page).write_text((ROOT / name).read_text("utf-8"), "utf-8")
    for file in source.rglob("*.md"):
        file.write_text(_linked(file.read_text("utf-8"), file.parent == source), "utf-8")
    (source / "views").mkdir()
    for entry in page_list.PAGES:
        (source / "views" / f"{entry.word}.md").write_text(_view(entry), "utf-8")
    (source / "views" / "index.md").write_text(_views(), "utf-8")
    (source / "glossary.md").write_text(_glossary(), "utf-8")
    (source / "reference.md").write_text(_reference(), "utf-8")
    explorers = source / "extra" / "explorer"
    explorers.mkdir(parents=True)
    for name in sorted({record for record, _ in EXPLORERS.values()}):
        bartviz.open(EMBEDDED / "records" / f"{name}.safetensors").save(explorers / f"{name}.html")
    alive = source / "extra" / "alive"
    alive.mkdir()
    for name in ALIVE:
        bartviz.load(name).save(alive / f"{name}.html")
    guide = source / "guides" / "alive.md"
    guide.write_text(guide.read_text("utf-8").replace(BEFORE, f"{_alive()}\n\n{BEFORE}", 1), "utf-8")
    (source / "extra" / "plotly.min.js").write_text(get_plotlyjs(), "utf-8")


def build(folder: Path = FOLDER, *, execute: bool = True) -> Path:
    """Rebuild the site, with its notebooks executed; the folder of its pages.

    Raises CalledProcessError for a warning of Sphinx.
    """
    source, pages, home = folder / "source", folder / "html", folder / "ipython"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    assemble(source)
    startup = home / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "figures.py").write_text(STARTUP, "utf-8")
    # A kernel warns that it listens on this machine, without encryption; the notebooks are ours, and so is the machine.
    (startup.parent / "ipython_kernel_config.py").write_text("c.IPKernelApp.log_level = 40\n", "utf-8")
    options = ["-W", "--keep-going", "-q", "-b", "html", "-d", str(folder / "doctrees")]
    options += [] if execute else ["-D", "nb_execution_mode=off"]
    environment = {**os.environ, "IPYTHONDIR": str(home), "PLOTLY_RENDERER": "plotly_mimetype", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", "sphinx", *options, str(source), str(pages)]
    subprocess.run(command, check=True, cwd=ROOT, env=environment)
    for page in pages.rglob("*.html"):
        if page.parent.name not in ("explorer", "alive"):
            page.write_text(_accessible(page.read_text("utf-8")), "utf-8")
    return pages


def _accessible(text: str) -> str:
    """Additions that the theme needs: the level of its captions, and code that scrolls by keys."""
    return text.replace('role="heading"', 'role="heading" aria-level="2"').replace("<pre>", '<pre tabindex="0">')


def _linked(text: str, top: bool) -> str:
    """Links between documents, as they are in the repository, lead to the pages of the site."""
    for name, page in DOCUMENTS.items():
        text = re.sub(rf"\]\((?:\.\./)*{re.escape(name)}", f"]({'' if top else '../'}{page}", text)
    text = re.sub(r"\]\((?:\.\./)*docs/", "](", text)
    return re.sub(r"\[([^\]]+)\]\((?:\.\./)*(?:CITATION\.cff|\.github/CODE_OF_CONDUCT\.md)\)", r"`\1`", text)


def _view(entry: page_list.Page) -> str:
    """The page of a view."""
    words = explanations.parts(entry.word)
    pictures = [word for word in (entry.word, *words) if (ROOT / "docs" / f"{word}.png").is_file()]
    parts = [f"# {entry.label}", f"*{entry.title}*"]
    parts += [f"![{word}: the page in the app](../{word}.png)" for word in dict.fromkeys(pictures)]
    parts.append(f"In the app: `/{'' if entry is page_list.PAGES[0] else entry.word}`.")
    if entry.word in EXPLORERS:
        record, place = EXPLORERS[entry.word]
        parts += [
            "## Try it here",
            "The explorer of a saved record. It is one file, made by `record.save(...)`, and runs in your browser.",
            _frame(f"The explorer: {entry.label}", f"../explorer/{record}.html#{place}", 720),
        ]
    for word in words:
        told = explanations.explanation(word)
        level = "##" if len(words) == 1 else "###"
        if len(words) > 1:
            parts.append(f"## {word.capitalize()}")
        parts += [f"{level} {heading}\n\n{getattr(told, name)}" for name, heading in LEVELS]
        terms = ", ".join(f"[{glossary()[term].name}](../glossary.md#{_anchor(term)})" for term in told.terms)
        parts += [f"{level} With the library\n\n```python\n{told.code}\n```", f"Terms: {terms}."]
    return "\n\n".join(parts) + "\n"


def _alive() -> str:
    """The shipped models, which run in the page: the first one at once, the others in windows of their own."""
    first, *others = ALIVE
    links = " and ".join(f'<a href="../alive/{name}.html">{name}</a>' for name in others)
    return "\n\n".join(
        [
            "## Try it here",
            "One of the models that ship with bartviz, as `bartviz alive` makes it: type a text of your own.",
            _frame(first, f"../alive/{first}.html", 900),
            f"<p>The others that ship: {links}.</p>",
        ]
    )


def _frame(title: str, address: str, height: int) -> str:
    return (
        f'<iframe class="explorer" title="{title}" loading="lazy" width="100%" height="{height}" '
        f'style="border:1px solid #8888;border-radius:6px" src="{address}"></iframe>\n\n'
        f'<p><a href="{address}">Open it in a window of its own</a></p>'
    )


def _views() -> str:
    parts = ["# The views", "Each page of the app answers a question."]
    for section in page_list.SECTIONS:
        lines = "\n".join(f"{entry.label} <{entry.word}>" for entry in section.pages)
        parts.append(f"```{{toctree}}\n:caption: {section.label or 'Start'}\n\n{lines}\n```")
    return "\n\n".join(parts) + "\n"


def _anchor(term: str) -> str:
    return re.sub(r"[^a-z0-9-]", "", term.lower().replace(" ", "-"))


def _glossary() -> str:
    parts = ["# Glossary"]
    for name, term in sorted(glossary().items()):
        parts += [f"## {name}", term.text]
        parts += [f"$$\n{term.formula}\n$$"] if term.formula else []
        if page_list.has(term.page):
            parts.append(f"Shown by [{page_list.page(term.page).label}](views/{term.page}.md).")
    return "\n\n".join(parts) + "\n"


def _reference() -> str:
    """Every public name with its docstring."""
    parts = ["# Library", "What `import bartviz` gives. Docstrings state shapes, units and errors.", "## bartviz"]
    public = [getattr(bartviz, name) for name in dir(bartviz)]
    parts += [_described("function", value) for value in public if callable(value) and not isinstance(value, type)]
    own = [value for value in public if isinstance(value, type)]
    parts += ["## Types", *(_described("class", value, ":members:") for value in dict.fromkeys([*own, *_classes()]))]
    parts += ["## bartviz.errors", "Every error is a `BartvizError`; its message says what to do next."]
    parts += ["```{eval-rst}\n.. automodule:: bartviz.errors\n   :members:\n   :show-inheritance:\n```"]
    parts += ["## bartviz.figures", "Arrays and records to plotly figures; each takes `dark=True`."]
    parts += [_described("function", getattr(figures, name)) for name in dir(figures)]
    return "\n\n".join(parts) + "\n"


def _classes() -> list[type]:
    from bartviz.analysis.attribution import Attribution
    from bartviz.analysis.measures import Measured
    from bartviz.analysis.own_measures import BothTokens, Labelled
    from bartviz.record.attention import Attention
    from bartviz.record.steps import Step
    from bartviz.text.tokens import Tokens

    return [Attention, Step, Tokens, Measured, BothTokens, Labelled, Attribution]


def _described(kind: str, value: object, *options: str) -> str:
    name = f"{getattr(value, '__module__')}.{getattr(value, '__qualname__')}"  # noqa: B009
    lines = "\n   ".join(options)
    return f"```{{eval-rst}}\n.. auto{kind}:: {name}\n   {lines}\n```"


if __name__ == "__main__":
    print((build(execute="--fast" not in sys.argv[1:]) / "index.html").relative_to(ROOT))
