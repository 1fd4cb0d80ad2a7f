"""The controls shared by all pages: model, text, second sentence or given output, decoding settings, Run."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from textwrap import shorten
from typing import TYPE_CHECKING, Literal

import streamlit as st

from bartviz.app.controls import expander, pick, show
from bartviz.app.frame import (
    levels,
    listeners,
    menu,
    page_hooks,
    page_list,
    scroll_to,
    settings,
    status,
    theme,
    uploads,
)
from bartviz.app.frame.examples import Example, examples
from bartviz.app.state import session
from bartviz.errors import BartvizError, ModelError, NotFetched, SettingError, TextError, TooLong, choices
from bartviz.families import config
from bartviz.families.catalogue import CATALOGUE, entry
from bartviz.families.registry import FAMILIES
from bartviz.language import _, later, mark, named
from bartviz.models.files import unfit
from bartviz.models.location import find
from bartviz.models.roots import default_roots, listed
from bartviz.reading.encodings import ENCODINGS, EncodingError
from bartviz.record.vocabulary import GIVEN_TARGET
from bartviz.serving import first_record
from bartviz.serving.limits import TYPED
from bartviz.serving.request import Request
from bartviz.serving.search import SEED, Search
from bartviz.text.capitals import IN_CAPITALS, IN_LOWER_CASE
from bartviz.text.clean import Truncate
from bartviz.text.labels import MASKS

if TYPE_CHECKING:
    from bartviz.families.catalogue import Entry
    from bartviz.families.family import ModelKind
    from bartviz.record.record import ModelInfo, Record

TOO_LONG: dict[str, Truncate | None] = {"refuse": None, "first": "first", "last": "last"}
TOO_LONG_NAMES = {"refuse": mark("refuse it"), "first": mark("keep its beginning"), "last": mark("keep its end")}
CUTS = {"first": mark("Read only its first {limit:,} tokens"), "last": mark("Read only its last {limit:,} tokens")}
CAPITALS = {"lower": mark("read it in lower case"), "typed": mark("read it as typed")}
READING = ("too_long", "capitals", "special")
_OPENED, _DRAW = "_opened_file", "_draw"
_KEPT = "_kept_text"
OLDER_TARGET = "_older_target"  # whether the given output is that of the text before
# which typed special tokens are read as such
SPECIAL = {"gaps": mark("masks, in models that fill them"), "true": mark("all"), "false": mark("none: as plain text")}
_SPECIAL = re.compile(r"\[[A-Z]+\]|</?[a-z]+>")  # what looks like a special token
LINKED = ("model", "text", "pair", "target", *READING, *settings.KEYS)


@dataclass(frozen=True, slots=True)
class Opened:
    """What is shown instead of the visitor's own text, and what was there before: the record, if any, and the controls.

    ``shown`` is the record of ``file``, or the request for a text that the page of the word ``page`` has run; ``left``:
    whether the visitor has seen another page since.
    """

    shown: Record | Request
    before: Record | None
    controls: Mapping[str, str]
    file: str = ""
    page: str = ""
    left: bool = False

    @property
    def texts(self) -> dict[str, str]:
        """Its text, second sentence and given output, as the controls show them."""
        shown = self.shown
        if isinstance(shown, Request):
            return {"text": shown.text, "pair": shown.pair or "", "target": shown.target or ""}
        given = shown.target_text if shown.provenance.mode == GIVEN_TARGET else None
        return {"text": shown.source_text, "pair": shown.pair_text or "", "target": given or ""}


@dataclass(frozen=True, slots=True)
class _Draw:
    """A text that a button drew at random: the settings before, and those of the draw."""

    before: Mapping[str, str | float]
    settings: Mapping[str, str | float]


def draw(shows_run: bool, section: str = "") -> None:
    """Draw the sidebar; if the visit begins with a link, start the link's request. ``section``: that of the open page.

    On a page that shows no run its controls are hidden (style.css), not left out: their values are kept.
    """
    if "_source" not in st.session_state:
        _begin()
    _echo()
    with st.sidebar:
        with st.container(key="run_controls" if shows_run else "unused_run_controls"):
            kind = st.session_state["_kind"] = _model()
            with st.form("request", border=False):
                _text()
                st.form_submit_button(
                    _("Run"),
                    type="primary",
                    width="stretch",
                    shortcut="ctrl+enter",
                    on_click=_press,
                    disabled=st.session_state["_unfit"],
                )
                if st.session_state.get("_bare"):
                    show.note(_("This link had no text, so its settings are applied to the example."))
                _examples(kind)
            with st.expander(_("More"), expanded=any(st.session_state.get(key) for key in ("pair", "target"))):
                st.fragment(_other_text)(kind)
                st.fragment(uploads.draw)(_show, page=uploads.HERE if shows_run else page_list.PAGES[0].word)
                st.fragment(_reading)()
                settings.draw(kind)
        theme.watch()
        own = _to_keep()
        listeners.begin(own, asks=own is None and _is_new() and _KEPT not in st.session_state, on_kept=_remember)
        menu.draw(section)
    if st.session_state["_linked"] or session.came_back():
        _run()  # the flag is cleared last: the script run may be interrupted in between
        st.session_state[session.LINKED], st.session_state["_linked"] = st.session_state.get(session.ASKED), False
        if session.engine().ready:
            session.begin()  # show the link's result first, if it takes only a moment


def start_with_own(key: str) -> None:
    """Run the text of a field outside the sidebar, with the sidebar's other settings: a callback."""
    scroll_to.top()
    again("text", st.session_state[key])


def _fetch(model: str) -> None:
    """Run with a model that is to be downloaded: a callback."""
    session.ask_for(model)
    again("model", model)


def again(key: str, value: str) -> None:
    """Run with one of the sidebar's settings changed: a callback."""
    _set(**{key: value})
    if key == "model":
        st.session_state["_kind"] = kind_of(value)
    _run(with_file=key == "encoding")


def draw_again(seed: int, **chosen: float) -> None:
    """Sample the text once more, with the seed after this one, and ``chosen`` settings of sampling: a callback."""
    before, drawn = {**settings.of_draw(), **_before_draw()}, settings.are_drawn()
    _set(search="sampling", seed=seed + 1 if seed < SEED[1] else SEED[0], **chosen)
    st.session_state[_DRAW] = _Draw(before, settings.of_draw())
    if not drawn:
        settings.link_draw()
    _run()


def most_likely() -> None:
    """Write the text again, with the most probable token at each step: a callback."""
    _set(**settings.GREEDY)
    _run()


def _before_draw() -> Mapping[str, str | float]:
    """The settings before a button drew a text; empty where it did not, or somebody has changed its settings since."""
    draw: _Draw | None = st.session_state.get(_DRAW)
    return draw.before if draw is not None and draw.settings == settings.of_draw() else {}


def has_older_target() -> bool:
    """Whether the text of the last run is new and the output given for it is not."""
    return bool(st.session_state.get(OLDER_TARGET))


def remedies(error: BartvizError) -> dict[str, Callable[[], None]]:
    """Remedies for an error: button label -> callback."""
    if isinstance(error, TooLong) and error.can_cut:
        return {_(label, limit=error.limit): partial(again, "too_long", word) for word, label in CUTS.items()}
    if isinstance(error, EncodingError):
        names = {name: _(ENCODINGS[name]) for name in error.encodings[:3]}
        return {
            _("Read it as {encoding}", encoding=label): partial(again, "encoding", name)
            for name, label in names.items()
        }
    chosen = st.session_state["model"]
    if isinstance(error, NotFetched):
        return {_("Download {name}", name=show.plain(error.model)): partial(_fetch, error.model)}
    if isinstance(error, ModelError):
        record, known = session.current_record(), models()
        fallback = record.model.name if record is not None and record.model.name in known else known[0]
        return {} if fallback == chosen else {_("Use {name}", name=fallback): partial(again, "model", fallback)}
    if isinstance(error, TextError) and not str(st.session_state["text"] or "").strip():
        example = examples(chosen, st.session_state["_kind"])[0]
        return {show.plain(shorten(example.text, 66, placeholder=" …")): partial(take, example)}
    return {}


def offers(record: Record) -> dict[str, Callable[[], None]]:
    """What the visitor can do about a notice on the text of this record: button label -> callback."""
    said = {getattr(notice, "message", None) for notice in record.provenance.notices}
    if IN_LOWER_CASE in said:
        return {_("Read it as typed"): partial(again, "capitals", "typed")}
    if IN_CAPITALS in said:
        return {_("Read it in lower case"): partial(again, "capitals", "lower")}
    return {}


def _begin() -> None:
    """Initialise the controls of a visit: from the saved record, or from the link.

    The first script run may be interrupted by the browser's next message; the run after it does the rest.
    """
    record = session.current_record()
    st.session_state["_link"] = any(key in st.query_params for key in settings.TEXTS)
    st.session_state["_linked"] = linked = any(key in st.query_params for key in LINKED)
    st.session_state["_bare"], st.session_state[session.FRESH] = linked and "text" not in st.query_params, not linked
    st.session_state["_source"] = record.source_text if record is not None else ""


def _set(**values: str | bool | float) -> None:
    """Set controls to new values; call it in a callback."""
    st.session_state["_echo"] = values
    st.session_state.update(values)


def _echo() -> None:
    """Resend the values set by a callback until their run has ended.

    Streamlit sends a value to the browser with one script run only; a slow browser may see only the next one.
    """
    st.session_state.update(st.session_state.get("_echo", {}))
    if session.running() is None:
        st.session_state["_echo"] = {}


def models() -> list[str]:
    """Model names: embedded ones, then folders, then those of the hub."""
    embedded = [known.name for known in CATALOGUE if known.source == "embedded"]
    hub = [known.name for known in CATALOGUE if known.source == "hub"]
    return [*embedded, *listed(default_roots()), *hub]


def _model() -> ModelKind:
    names = models()
    first = first_record.record()  # the same for every visit, because links leave out the default
    index = names.index(first.model.name) if first is not None and first.model.name in names else 0
    reasons = _reasons()
    chosen = st.selectbox(
        _("Model"),
        names,
        index=index,
        format_func=lambda name: _("{name} (cannot be opened)", name=name) if name in reasons else name,
        key="model",
        bind="query-params",
        accept_new_options=True,
        on_change=_named,
        help=_("Choose one, or type the id of any model of the Hugging Face hub, such as facebook/bart-base.")
        if levels.at_least("intermediate")
        else None,
    )
    record = session.current_record()
    loaded = record.model if record is not None and status.names(chosen, record.model) else None
    folder = chosen in names or (loaded is not None and loaded.source == "folder") or chosen.startswith(os.sep)
    st.session_state["_unfit"] = chosen in reasons
    if chosen in reasons:
        st.warning(show.plain(str(reasons[chosen])))
    else:
        show.note(_about(entry(chosen), loaded, is_folder=folder))
    return kind_of(chosen, loaded)


def _named() -> None:
    """The visitor has chosen or typed the model: a callback. That an address names it is not their wish.

    A model that ships runs at once: the old picture would be taken for its own.
    """
    name = st.session_state["model"]
    session.ask_for(name)
    known = entry(name)
    if known is not None and known.source == "embedded":
        again("model", name)


def _reasons() -> dict[str, ModelError]:
    """Why folders of the list cannot be opened, by name; a model that ships precedes a folder of its name."""
    roots = default_roots()
    found = {name: unfit(name, roots) for name in listed(roots) if entry(name) is None}
    return {name: reason for name, reason in found.items() if reason is not None}


def kind_of(name: str, loaded: ModelInfo | None = None) -> ModelKind:
    """The kind of a model if known before it is loaded; else the most common one, encoder-decoder."""
    known = entry(name)
    kind = known.kind if known is not None else loaded.kind if loaded is not None else _kind_of_folder(name)
    return kind or "encoder-decoder"


def _about(known: Entry | None, loaded: ModelInfo | None, *, is_folder: bool) -> str:
    """A model's title, its size and whether it looks trained, as far as known before it is loaded.

    A beginner is told only if it does not.
    """
    unknown = _("A folder on this machine") if is_folder else _("A model from the hub")
    title = _(known.title) if known is not None else unknown
    if loaded is not None:
        trained = _("weights look trained") if loaded.trained else _("weights look untrained")
        size = _("{count:.1f} M parameters", count=loaded.parameters / 1e6)
        told = [] if loaded.trained and not levels.at_least("intermediate") else [trained]
        return " · ".join((title, *told, size)).replace(" ·", "\u00a0·")  # no line begins with a dot
    return f"{title}. {_(known.note)}" if known is not None else f"{title}."


def _kind_of_folder(name: str) -> ModelKind | None:
    """The kind of a model in a folder of the model roots, from its configuration; None if there is none."""
    try:
        folder = find(name, default_roots())
        return None if folder is None else FAMILIES[str(config.read(folder).get("model_type"))].kind
    except (ModelError, KeyError):
        return None


def reads_special(kind: ModelKind, text: str, pair: str = "") -> bool:
    """Whether special tokens typed in these texts are read as such, by the sidebar's setting."""
    chosen = st.session_state.get("special", "gaps")
    if chosen not in SPECIAL:
        raise SettingError(later("Special tokens in the text: {choices}.", choices=choices(SPECIAL)))
    return chosen == "true" or (chosen == "gaps" and has_masks(kind, text, pair))


def has_masks(kind: ModelKind, text: str, pair: str) -> bool:
    """Whether an encoder's texts hold mask tokens, and nothing else that looks like a special token."""
    found = set(_SPECIAL.findall(f"{text} {pair}"))
    return kind == "encoder" and bool(found) and found <= set(MASKS)


def linked() -> bool:
    """Whether the visitor's texts are in the address."""
    return bool(st.session_state.get("link", st.session_state["_link"]))


def _text() -> None:
    bind: Literal["query-params"] | None = "query-params" if linked() else None
    st.text_area(
        _("Text: type your own"),
        st.session_state["_source"],
        key="text",
        height=96,
        max_chars=TYPED,
        bind=bind,
        persist_state="session",
    )


def _other_text(kind: ModelKind) -> None:
    """The text that some runs have besides: a second sentence, or a given output."""
    bind: Literal["query-params"] | None = "query-params" if linked() else None
    if kind == "encoder":
        st.text_input(
            _("Second sentence"),
            key="pair",
            max_chars=TYPED,
            placeholder=_("optional"),
            bind=bind,
            persist_state="session",
        )
    else:
        _given(kind, bind)


def _given(kind: ModelKind, bind: Literal["query-params"] | None) -> None:
    """The given output. Each kind of model keeps its own: a translation does not fit a continuation."""
    held: dict[str, str] = st.session_state.setdefault("_given", {})  # the current kind, and the text of each kind
    if held.get("kind", kind) != kind:
        st.session_state["target"] = held.get(kind, "")
    text = st.text_input(
        _("Given output"),
        key="target",
        max_chars=TYPED,
        placeholder=_("optional"),
        bind=bind,
        persist_state="session",
        help=_(
            "Teacher forcing: the model reads this output and reports how likely each word was. If this is "
            "empty, it writes its own."
        ),
    )
    held |= {"kind": kind, kind: text}  # last: the script run may be interrupted before
    if not text and any(kept for name, kept in held.items() if name != "kind"):
        show.note(_("Your inputs for the other kind of model are kept."))


def _examples(kind: ModelKind) -> None:
    with st.container(key="examples", gap="small"):
        show.note(_("Or try:"))
        for number, example in enumerate(examples(st.session_state["model"], kind)):
            label = shorten(f"{example.text} {example.pair}", 66, placeholder=" …")
            st.form_submit_button(
                show.plain(label),
                key=f"example_{number}",
                width="stretch",
                on_click=take,
                args=(example,),
                disabled=st.session_state["_unfit"],
            )


def _reading() -> None:
    with expander.section(_("Text settings"), key="reading") as opened:
        if not (opened or expander.requested("reading", READING)):
            return
        pick.select(_("A text that is too long"), named(TOO_LONG_NAMES), key="too_long")
        show.note(_longest())
        pick.select(
            _("A text in capitals"),
            named(CAPITALS),
            key="capitals",
            hint=_("Where a model has seen few words in capitals, such a text falls into single letters."),
        )
        pick.select(
            _("Special tokens in the text"),
            named(SPECIAL),
            key="special",
            hint=_(
                "Whether a typed <mask> or [SEP] is read as the special token or as plain text. A model such "
                "as BERT fills masks: its [MASK] is one unless you choose otherwise."
            ),
        )


def _longest() -> str:
    """The longest text that the chosen model reads, as far as known before it is loaded."""
    chosen = st.session_state["model"]
    known, loaded = entry(chosen), session.engine().about(chosen)
    if known is None and loaded is None:
        return _("The limit is known once the model is loaded.")
    limit = loaded.info.positions if loaded is not None else config.sizes(known.config).positions if known else None
    if limit is None:
        return _("This model has no length limit except memory.")
    return _("This model reads at most {limit:,} tokens.", limit=limit)


def take(example: Example) -> None:
    """Run an example, without what a button drew before: a callback."""
    st.session_state["_bare"] = False
    special = "true" if example.special else "gaps"
    _set(text=example.text, pair=example.pair, target="", special=special, **_before_draw())
    _run()


def run_text(model: str, text: str, target: str = "", pair: str = "", *, page: str) -> None:
    """Run a text of the page of that word with a model, without what a button drew before: a callback."""
    st.session_state["_bare"] = False
    before, controls = _own()
    _set(model=model, text=text, pair=pair, target=target, special="gaps", **_before_draw())
    st.session_state["_kind"] = kind_of(model)
    request = _run()
    if request is not None:
        st.session_state[_OPENED] = Opened(request, before, controls, page=page)


def opened() -> Opened | None:
    """What is shown instead of the visitor's own text, if it is a file or a text of a page."""
    held: Opened | None = st.session_state.get(_OPENED)
    now = [st.session_state.get(key) for key in (session.RECORD, session.ASKED)]
    return held if held is not None and any(held.shown is one for one in now) else None


def _own() -> tuple[Record | None, Mapping[str, str]]:
    """The visitor's own record, if any, and its controls, also while a file or a text of a page is shown."""
    held = opened()
    if held is not None:
        return held.before, held.controls
    controls = {key: st.session_state.get(key) or "" for key in ("model", "text", "pair", "target")}
    return st.session_state.get(session.RECORD), controls | {"special": st.session_state.get("special", "gaps")}


def come_back(word: str) -> None:
    """On the page that has run a text of its own, show the visitor's again once they return from another page.

    Call it with the word of the open page, before the sidebar is drawn.
    """
    held = opened()
    if held is None or not held.page:
        return
    if held.page != word:
        st.session_state[_OPENED] = replace(held, left=True)
    elif held.left:
        back_to_own()


def _to_keep() -> dict[str, str] | None:
    """The text of their own that the visitor has run last, with its model, for the browser to keep while its tab is
    open; None where there is no such text."""
    asked: Request | None = st.session_state.get(session.ASKED)
    if asked is None or asked is st.session_state.get(session.LINKED) or opened() is not None or _is_led():
        return None
    if any(asked.text == example.text for example in examples(asked.model, kind_of(asked.model))):
        return None
    return {"model": asked.model, "text": asked.text, "pair": asked.pair or "", "target": asked.target or ""}


def _is_new() -> bool:
    """Whether the visitor has run no text in this visit, and its address had none."""
    state = st.session_state
    begun = state.get(session.ASKED) is None and state.get(session.RECORD) is None
    return bool(begun or state.get("_bare")) and not _is_led()


def _is_led() -> bool:
    return page_hooks.current().leads()


def _remember(found: object) -> None:
    """Note the text that the browser has kept of an earlier visit in its tab, to offer it: a callback."""
    texts = found if isinstance(found, Mapping) else {}
    values = {key: texts.get(key) for key in ("model", "text", "pair", "target")}
    fit = all(isinstance(value, str) and len(value) <= TYPED for value in values.values())
    st.session_state[_KEPT] = values if fit and str(values["text"]).strip() else None


def kept() -> Mapping[str, str] | None:
    """The own text of an earlier visit in this tab, with its model, until a text is run; None if there is none."""
    found: Mapping[str, str] | None = st.session_state.get(_KEPT)
    return found if _is_new() else None


def take_kept() -> None:
    """Run the own text of the earlier visit: a callback."""
    found = kept()
    if found is not None:
        st.session_state["_bare"] = False
        _set(**found)
        st.session_state["_kind"] = kind_of(found["model"])
        _run()


def back_to_own() -> None:
    """Show what was there before a file or a text of a page: a callback."""
    held = opened()
    if held is not None:
        _set(**held.controls)
        st.session_state["_kind"] = kind_of(st.session_state["model"])
        session.show(held.before)


def run_file() -> None:
    """Run the text of the file, without what belongs to a record that was opened before: a callback."""
    if opened() is not None:
        _set(pair="", target="")
    st.session_state["_bare"] = False
    _run(with_file=True)


def _show(record: Record, file: str) -> None:
    """Show a record that was opened, with its texts, and its model if it is listed, in the controls: a callback."""
    before, controls = _own()
    st.session_state[_OPENED] = held = Opened(record, before, controls, file=file)
    model = {"model": record.model.name} if record.model.name in models() else {}
    _set(**held.texts, **model)
    st.session_state["_bare"], st.session_state["_kind"] = False, kind_of(st.session_state["model"], record.model)
    session.show(record)
    scroll_to.top()


def _press() -> None:
    st.session_state["_echo"] = {}  # the typed values take precedence
    held, typed = opened(), st.session_state.get
    if held is not None and typed("text") != held.texts["text"]:
        _set(**{key: "" for key in ("pair", "target") if typed(key) and typed(key) == held.texts[key]})
    st.session_state["_bare"] = False
    _run(with_file=True)


def _run(*, with_file: bool = False) -> Request | None:
    """Start the request and return it, None if it is refused; ``with_file`` puts the file's text into the text field
    first, if it is new."""
    try:
        text = uploads.text() if with_file else None
        if text is not None:
            _set(text=text)
        request, before = _request(), st.session_state.get(session.ASKED)
        if before is not None and (request.text, request.target) != (before.text, before.target):
            st.session_state[OLDER_TARGET] = request.target is not None and request.target == before.target
        session.submit(request)
    except BartvizError as error:
        session.refuse(error)
        return None
    return request


def _request() -> Request:
    """The controls' values as a request. Checks each, as they may come from a link."""
    value, kind = st.session_state.get, st.session_state["_kind"]
    too_long = value("too_long", "refuse")
    if too_long not in TOO_LONG:
        raise SettingError(later("A text that is too long: {choices}.", choices=choices(TOO_LONG)))
    capitals = value("capitals", "lower")
    if capitals not in CAPITALS:
        raise SettingError(later("A text in capitals: {choices}.", choices=choices(CAPITALS)))
    most, kept = settings.limits()
    target = (value("target") or None) if kind != "encoder" else None
    text, pair = value("text") or "", (value("pair") or None) if kind == "encoder" else None
    return Request(
        model=str(value("model") or ""),
        text=text,
        pair=pair,
        target=target,
        max_new_tokens=most,
        top_k=kept,
        truncate=TOO_LONG[too_long],
        allow_special=reads_special(kind, text, pair or ""),
        search=Search() if kind == "encoder" or target is not None else settings.read(),
        lower=capitals == "lower",
    )
