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

# What a notebook gives a widget: values, and listeners of their changes. ``python`` sets values as a kernel does.
NOTEBOOK = """
<div id="cell"></div>
<script type="module">
const values = VALUES, listeners = {};
globalThis.saved = [];
globalThis.model = {
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
    values = {name: getattr(shown, name) for name in (*NAMES, "_page", "_name", "_height")}
    script = base64.b64encode(str(shown._esm).encode()).decode()
    text = json.dumps(values).replace("</", "<\\/")
    page.set_content(NOTEBOOK.replace("VALUES", text).replace("SCRIPT", json.dumps(script)).replace("EARLY", early))
    frame = page.frame_locator("iframe")
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


def test_what_python_sets_before_the_frame_is_there_is_shown(page: Page, record: Record) -> None:
    frame = begun(page, record, "python('kind', 'encoder'); python('layer', 1); python('head', 2);")
    expect(frame.locator("[data-is=canvas] [data-is=name]")).to_have_text("Encoder L1H2")
    assert page.evaluate("[model.get('kind'), model.get('layer'), model.get('head')]") == ["encoder", 1, 2]
