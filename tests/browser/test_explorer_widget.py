"""The explorer's widget in a real browser, between a notebook's model (a plain one here) and the frame."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

import bartviz
from bartviz.record.record import Record
from bartviz.serving import first_record

NAMES = ("kind", "layer", "head", "row")
SIGNED = (*NAMES, "_signed")

# What a notebook gives a widget: values, and listeners of their changes. ``python`` sets values as a kernel does.
NOTEBOOK = """
<div id="cell"></div>
<script type="module">
const values = VALUES, listeners = {};
globalThis.saved = [];
const model = globalThis.model = {
  get: (name) => values[name],
  set: (name, value) => { values[name] = value; },
  save_changes: () => saved.push({ ...values, _page: undefined }),
  on: (event, call) => (listeners[event] ??= []).push(call),
  off: (event, call) => { listeners[event] = listeners[event].filter((one) => one !== call); },
};
globalThis.python = (name, value) => {
  values[name] = value;
  for (const call of listeners[`change:${name}`] ?? []) call();
};
const widget = (await import("data:text/javascript;base64," + SCRIPT)).default();
globalThis.end = () => ended();
const ended = widget.render({ model, el: document.getElementById("cell") });
EARLY
</script>
"""


@pytest.fixture(scope="module")
def record() -> Record:
    found = first_record.record()
    assert found is not None
    return found


@pytest.fixture
def page(chrome: Browser) -> Iterator[Page]:
    context = chrome.new_context(viewport={"width": 1000, "height": 900}, offline=True)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    yield page
    assert wrong == []
    context.close()


def begun(page: Page, record: Record, early: str = "") -> FrameLocator:
    shown = bartviz.explore(record)
    values = {name: getattr(shown, name) for name in (*SIGNED, "_page", "_name", "_height")}
    script = base64.b64encode(str(shown._esm).encode()).decode()
    text = json.dumps(values).replace("</", "<\\/")
    page.set_content(NOTEBOOK.replace("VALUES", text).replace("SCRIPT", json.dumps(script)).replace("EARLY", early))
    frame = page.frame_locator("#cell iframe")
    frame.locator("html[data-ready]").wait_for(state="attached")
    return frame


def saved(page: Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate("saved")
    return found


def test_a_click_in_the_frame_is_saved_for_python(page: Page, record: Record) -> None:
    frame = begun(page, record)
    frame.locator("[data-is=kinds] button[value=decoder]").click()
    expect(frame.locator("[data-is=canvas] [data-is=name]")).to_contain_text("Decoder L")
    page.wait_for_function("saved.length > 0")
    assert saved(page)[-1]["kind"] == "decoder"
    page.evaluate("end()")
    frame.locator("[data-is=kinds] button[value=encoder]").click()
    expect(frame.locator("[data-is=canvas] [data-is=name]")).to_contain_text("Encoder L")
    assert saved(page)[-1]["kind"] == "decoder"  # nobody listens any more


def test_what_python_sets_one_after_the_other_is_shown_and_not_undone(page: Page, record: Record) -> None:
    frame = begun(page, record)
    page.evaluate("for (const [name, value] of [['kind', 'encoder'], ['layer', 1], ['head', 2]]) python(name, value)")
    expect(frame.locator("[data-is=canvas] [data-is=name]")).to_have_text("Encoder L1H2")
    assert page.evaluate("[model.get('kind'), model.get('layer'), model.get('head')]") == ["encoder", 1, 2]


# A notebook that sends back what it was given, as marimo does: late, and an older state after a newer one.
ECHOES = """
let turn = 0;
const keep = model.save_changes;
model.save_changes = () => {
  keep();
  const sent = Object.fromEntries(SIGNED.map((name) => [name, model.get(name)]));
  setTimeout(() => {
    for (const name of SIGNED) model.set(name, sent[name]);
    for (const name of SIGNED) for (const call of listeners[`change:${name}`] ?? []) call();
  }, turn++ % 2 ? 100 : 700);
};
"""


def chosen(page: Page) -> list[Any]:
    found: list[Any] = page.evaluate("[...'kind layer head row'.split(' ')].map((name) => model.get(name))")
    return found


@pytest.mark.thorough
def test_echoes_of_a_notebook_move_nothing(page: Page, record: Record) -> None:
    """Clicks one after the other, each echoed when the frame has moved on: then nothing is sent for three seconds."""
    frame = begun(page, record, ECHOES.replace("SIGNED", json.dumps(SIGNED)))
    name = frame.locator("[data-is=canvas] [data-is=name]")
    for kind in ("decoder", "encoder", "cross", "decoder"):
        frame.locator(f"[data-is=kinds] button[value={kind}]").click()
    expect(name).to_contain_text("Decoder L")
    page.wait_for_timeout(1500)  # echoes
    before, shown = len(saved(page)), name.inner_text()
    assert saved(page)[-1]["kind"] == "decoder"
    assert before <= 12  # a click is a state or two
    page.wait_for_timeout(3000)
    assert len(saved(page)) == before
    assert name.inner_text() == shown
    for head in (2, 1, 2):  # what Python sets is no echo, also when it sets back what was chosen before
        page.evaluate(f"python('kind', 'encoder'); python('layer', 1); python('head', {head})")
        expect(name).to_have_text(f"Encoder L1H{head}")
        page.wait_for_timeout(900)
        assert chosen(page)[:3] == ["encoder", 1, head]
    before = len(saved(page))
    page.wait_for_timeout(1500)
    assert len(saved(page)) == before


def test_what_python_sets_before_the_frame_is_there_is_shown(page: Page, record: Record) -> None:
    frame = begun(page, record, "python('kind', 'encoder'); python('layer', 1); python('head', 2);")
    expect(frame.locator("[data-is=canvas] [data-is=name]")).to_have_text("Encoder L1H2")
    assert page.evaluate("[model.get('kind'), model.get('layer'), model.get('head')]") == ["encoder", 1, 2]
