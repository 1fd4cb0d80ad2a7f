"""One HTML file with a model in it, alive: ``model.save("x.html")`` and ``bartviz alive``.

The page is the explorer's, with a record of one text that is drawn at once, and an engine that runs the model on any
other text in a worker of its own (``engine``). It loads nothing: its policy allows its own script and styles, by their
hashes, and the worker, which is made from a text in the page.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from bartviz.browser.canvas.data import Picture, Shown
from bartviz.browser.scripts import bundle
from bartviz.errors import SettingError
from bartviz.explorer import live_messages, markup
from bartviz.explorer.data import empty, encode
from bartviz.explorer.data import first as first_of
from bartviz.explorer.engine import model as networks
from bartviz.explorer.engine.packed import packed
from bartviz.explorer.engine.supported import LARGEST, TEXT
from bartviz.language import LANGUAGES, later, speaking
from bartviz.models.model import Model
from bartviz.record import store
from bartviz.record.record import PAGES, Record
from bartviz.run.forward import capture
from bartviz.run.generate import decode
from bartviz.version import __version__

FIRST = "I want to buy a car."
GAP = "I want to {mask} a car."  # for a model that fills gaps
MODEL = "model-{number}.bin"  # a model beside the page of a folder
MODULE = "bartviz.js"  # beside it: the script for pages of others
TYPES = "bartviz.d.ts"  # its types, for editors
_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; script-src {scripts} 'wasm-unsafe-eval'; "
    "worker-src blob:; style-src {styles}; connect-src {models}"
)
_PARTS = ("canvas", "player")
_PAGE = (*_PARTS, "ribbons")
_HERE = Path(__file__).parent


def save(models: Model | Sequence[Model], path: str | PathLike[str], *, text: str | None = None) -> None:
    """Write one HTML file in which the models run, in any browser and without a network.

    A name that does not end in .html is a folder, for any host of static files: its index.html reads the models beside
    it in parts, which is what large ones need, and its bartviz.js is for pages of others (docs/guides/alive.md).
    text: what the page shows at first.
    Raises ModelError, with the reason, for a model that cannot run in a page; SettingError without models, and for a
    file of more than 200 MB; OSError.

    >>> bartviz.load("bart-tiny-en-de").save("translator.html")
    """
    shown = [models] if isinstance(models, Model) else list(models)
    if not shown:
        raise SettingError(later("There is no model: give at least one."))
    target = Path(path)
    if target.suffix.lower() in PAGES:
        store.replace(target, one_file(shown, text=text, folder=target.with_suffix("").name))
        return
    if target.suffix:
        raise SettingError(later('Give the name of a file that ends in ".html", or of a folder.'))
    target.mkdir(parents=True, exist_ok=True)
    for number, model in enumerate(shown):
        store.replace(target / MODEL.format(number=number), packed(model))
    store.replace(target / "index.html", page(shown, None, text=text))
    store.replace(target / MODULE, module(shown))
    store.replace(target / TYPES, (_HERE / TYPES).read_bytes())


def one_file(models: Sequence[Model], *, text: str | None = None, folder: str = "site") -> bytes:
    """The page with the models in it. ``folder``: the name that is advised instead of a page that is too large.

    Raises ModelError for a model that cannot run in a page, and SettingError for a page of more than 200 MB.
    """
    data = [packed(model) for model in models]
    size = round(sum(map(len, data)) * TEXT)
    if size > LARGEST:
        raise SettingError(
            later(
                "The page would have {size} MB; browsers open pages of {limit} MB. Give a folder instead, such as "
                "“{folder}”, and put it on a web host.",
                size=size // 10**6,
                limit=LARGEST // 10**6,
                folder=folder,
            )
        )
    return page(models, data, text=text)


def page(models: Sequence[Model], data: Sequence[bytes] | None, *, text: str | None = None) -> bytes:
    """The page of the models. ``data``: those that stand in it; None if they are files beside it."""
    texts = [_text(model) if text is None else text for model in models]
    samples = [_samples(*one) for one in zip(models, texts, strict=True)]
    records = [next(iter(sample.values())) for sample in samples]
    names = [model.info.name for model in models]
    styles = {name: markup.inline(markup.style(name)) for name in (*_PAGE, "explorer")}
    styles["live"] = markup.inline((_HERE / "live.css").read_text("utf-8"))
    script = markup.script(_HERE / "live.js", _PAGE)
    sources = " ".join(map(markup.source, styles.values()))
    scripts = f"{markup.source(markup.guard())} {markup.source(script)}"
    policy = _POLICY.format(scripts=scripts, styles=sources, models="'none'" if data else "'self'")
    encoded = [base64.b64encode(one).decode() for one in data or ()]
    known = _known(models, samples, texts, encoded)
    live = _json({"models": known, "words": _words(), "version": __version__}).replace("<", "\\u003c")
    before = (
        f"{markup.opening(' · '.join(names), policy, [styles['explorer'], styles['live']])}"
        f"{(_HERE / 'live.html').read_text('utf-8')}\n{markup.read('explorer', '.html')}\n"
        f"{markup.templates(styles | {'explorer': markup.pixels(styles['explorer'])}, (*_PAGE, 'explorer'))}"
        f'<script type="module">{script}</script>\n'
        f'<script type="text/plain" id="worker">{_worker()}</script>\n'
        f'<script type="application/json" id="live">{live}</script>\n'
        f'<script type="text/plain" id="data">{encode(records, names, None)}</script>\n'
    )
    parts = "".join(f'<script type="text/plain" id="model-{i}">{one}</script>\n' for i, one in enumerate(encoded))
    return f"{before}{parts}{markup.END}".encode("utf-8", "replace")


def module(models: Sequence[Model]) -> bytes:
    """The script that pages of others import: the models beside it, and the explorer in any element."""
    texts = [_text(model) for model in models]
    samples = [_samples(*one) for one in zip(models, texts, strict=True)]
    parts = {
        name: {"style": markup.pixels(markup.style(name)), "markup": markup.read(name, ".html")}
        for name in (*_PARTS, "explorer")
    }
    made = {
        "live": {"models": _known(models, samples, texts, ())},
        "header": empty(),
        "worker": _worker(),
        "parts": parts,
    }
    script = markup.module(_HERE / "module.js", _PARTS, _json(made), ("names", "load", "show"))
    return f"// bartviz {__version__}: models that run in a page, and what they look at.\n{script}".encode()


def _worker() -> str:
    return markup.inline(bundle(_HERE / "engine" / "worker.js"))


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _known(
    models: Sequence[Model], samples: Sequence[dict[str, Record]], texts: Sequence[str], encoded: Sequence[str]
) -> list[dict[str, Any]]:
    """What the scripts know of each model. ``encoded``: those that stand in the page."""
    return [
        _live(model, sample, shown)
        | {"size": len(encoded[number]) if encoded else 0, "address": None if encoded else MODEL.format(number=number)}
        for number, (model, sample, shown) in enumerate(zip(models, samples, texts, strict=True))
    ]


def _text(model: Model) -> str:
    mask = model.tokenizer.mask_token
    return GAP.format(mask=mask) if model.info.kind == "encoder" and mask else FIRST


def _samples(model: Model, text: str) -> dict[str, Record]:
    """Records of a text, by how they are made: what a page's words are taken from."""
    if model.info.kind == "encoder":
        mask = model.tokenizer.mask_token
        return {"read": capture(model, text, allow_special=bool(mask and mask in text))}
    decoded = decode(model, text)
    if model.info.kind == "decoder":
        return {"decoded": decoded, "given": capture(model, text)}
    return {"decoded": decoded, "given": capture(model, text, target=decoded.target_text or text)}


def _live(model: Model, samples: dict[str, Record], text: str) -> dict[str, Any]:
    sample = next(iter(samples.values()))
    picture = Picture(sample.attention(sample.kinds[0]), Shown())
    canvas = {
        name: value
        for name, value in picture.fixed[0].items()
        if name in ("small", "span", "alone", "label", "beside", "steps", "hidden", "renormalised", "ramps", "palette")
    }
    g = model.generation
    words = {}
    for language in LANGUAGES:
        with speaking(language):
            words[language] = live_messages.of_model(
                model.info.name, samples, (g.no_repeat_ngram_size or 0, g.encoder_no_repeat_ngram_size or 0)
            )
    mask = model.tokenizer.mask_token
    return {
        "name": model.info.name,
        "kind": model.info.kind,
        "mask": mask,
        "text": text,
        "width": model.info.width,
        "first": {name: value for name, value in first_of(sample).items() if name != "row"},
        "heads": {kind: sample.attention(kind).shape[:2] for kind in sample.kinds},
        "predicts": networks.predicts(model),
        "canvas": canvas,
        "player": live_messages.of_player(sample) if sample.steps else None,
        "words": words,
    }


def _words() -> dict[str, dict[str, str]]:
    words = {}
    for language in LANGUAGES:
        with speaking(language):
            words[language] = live_messages.page()
    return words
