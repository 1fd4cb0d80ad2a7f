"""Models that run in a page, without a network: typed texts, silenced heads, gaps, saved records, links, faults."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import bartviz
from bartviz.analysis import start, word_colors
from bartviz.drawing.colors import word_places
from bartviz.explorer import live
from bartviz.models.model import Model
from bartviz.record.attention import Head
from tests.browser.axe import AXE, RUN
from tests.support import engine

TEXT = "The teacher wrote a letter to his friend."
LIMIT = 60_000  # milliseconds


@pytest.fixture(scope="module")
def translator() -> Model:
    return engine.shipped("bart-tiny-en-de")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("live") / "live.html"
    live.save([bartviz.load("bart-tiny-en-de"), bartviz.load("bert-tiny-en")], path)
    return path


@pytest.fixture
def opened(chrome: Browser, file: Path) -> Iterator[Page]:
    context = chrome.new_context(viewport={"width": 1366, "height": 900}, reduced_motion="reduce", offline=True)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page, wrong = context.new_page(), list[str]()
    page.set_default_timeout(LIMIT)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith(("file:", "blob:")) else wrong.append(asked.url))
    page.goto(file.as_uri())
    page.locator("html[data-ready]").wait_for(state="attached")
    yield page
    context.close()
    assert not wrong, wrong


def part(page: Page, name: str) -> Locator:
    return page.locator(f":light([data-is={name}])")


def run(page: Page, text: str) -> None:
    part(page, "text").fill(text)
    part(page, "run").click()
    expect(part(page, "source")).to_have_text(text, timeout=LIMIT)
    expect(part(page, "state")).to_have_text("", timeout=LIMIT)


def test_a_typed_text_is_translated_with_the_weights_of_python(opened: Page, translator: Model) -> None:
    run(opened, TEXT)
    record = bartviz.decode(translator, TEXT)
    expect(part(opened, "target")).to_have_text(str(record.target_text))
    found = opened.evaluate("""async () => {
        const record = await (await bartviz.model).capture("The teacher wrote a letter to his friend.");
        return [record.written, record.steps.length, await record.head("cross", 2, 5)]; }""")
    assert found[:2] == [record.target_text, len(record.steps)]
    assert np.abs(np.array(found[2]) - record.attention("cross").head(2, 5)).max() < 1e-4


def test_a_head_is_silenced_and_used_again(opened: Page, translator: Model) -> None:
    run(opened, TEXT)
    part(opened, "silence").click()
    expect(part(opened, "changed")).to_contain_text("Without cross L3H1")
    record = bartviz.decode(translator, TEXT, ablate=["cross L3H1"])
    expect(part(opened, "target")).to_have_text(str(record.target_text))
    part(opened, "restore").click()
    expect(part(opened, "restore")).to_be_disabled()
    expect(part(opened, "target")).to_have_text(str(bartviz.decode(translator, TEXT).target_text))


def test_all_heads_are_ranked(opened: Page, translator: Model) -> None:
    run(opened, TEXT)
    part(opened, "rank").click()
    first = part(opened, "ranking").locator("li button").first
    expect(first).to_be_visible(timeout=LIMIT)
    record = bartviz.decode(translator, TEXT)
    sweep = bartviz.ablate_sweep(translator, record)
    worst = sweep.heads[int(np.argmin(sweep.values("log_probability")))]
    assert first.inner_text() == str(worst)
    first.click()
    expect(part(opened, "silence")).to_contain_text(first.inner_text())


@pytest.mark.thorough
def test_a_gap_is_filled(opened: Page) -> None:
    part(opened, "records").get_by_role("button").nth(1).click()
    run(opened, "The man went to the [MASK] to buy bread.")
    guess = part(opened, "gaps").get_by_role("button").first
    word = guess.inner_text().split()[0]
    guess.click()
    expect(part(opened, "source")).to_have_text(f"The man went to the {word} to buy bread.")


def test_the_ribbons_are_those_of_the_head_that_is_shown(opened: Page, translator: Model) -> None:
    run(opened, TEXT)
    record = bartviz.decode(translator, TEXT)
    found = start.simple(start.ribbons(record, head=Head("cross", 3, 1)))
    ribbons = part(opened, "ribbons")
    expect(ribbons.locator(".below .word")).to_have_count(len(found.below))
    expect(ribbons.locator("path")).to_have_count(len(found.edges()))
    assert ribbons.locator(".above .word").all_inner_texts() == ["\n".join(word.pieces) for word in found.above]
    colors = word_colors.of(record, Head("cross", 3, 1)).sides("cross")
    for line, words, numbers in zip((".below", ".above"), (found.below, found.above), colors, strict=True):
        places = word_places(numbers[word.start] for word in words)
        shown = ribbons.locator(f"{line} .word").evaluate_all("all => all.map((word) => word.style.cssText)")
        assert shown == ["" if place < 0 else f"--word: var(--bv-word{place});" for place in places]
    opened.goto(opened.url.replace("layer=3", "layer=2"))
    other = start.simple(start.ribbons(record, head=Head("cross", 2, 1)))
    expect(ribbons.locator("path")).to_have_count(len(other.edges()))


def test_a_word_that_is_touched_is_changed(opened: Page) -> None:
    run(opened, "I want to buy a car.")
    part(opened, "ribbons").locator(".above").get_by_role("button", name="car", exact=True).click()
    expect(part(opened, "word")).to_have_value("car")
    part(opened, "word").fill("house")
    part(opened, "word").press("Enter")
    expect(part(opened, "source")).to_have_text("I want to buy a house.", timeout=LIMIT)
    expect(part(opened, "text")).to_have_value("I want to buy a house.")
    expect(part(opened, "target")).to_contain_text("Haus")


def test_a_word_is_touched_before_anything_was_run(opened: Page) -> None:
    part(opened, "records").get_by_role("button").nth(1).click()
    part(opened, "ribbons").locator(".above .word", has_text="want").click()
    expect(part(opened, "word")).to_have_value("want", timeout=LIMIT)
    expect(part(opened, "canvas").locator(".said")).to_contain_text("“want”")


def test_a_word_that_was_written_is_exchanged_for_a_candidate(opened: Page, translator: Model) -> None:
    run(opened, TEXT)
    before = part(opened, "target").inner_text()
    part(opened, "ribbons").locator(".below .word").first.click()
    others = part(opened, "others").get_by_role("button")
    expect(others.first).to_have_attribute("aria-pressed", "true")
    others.nth(1).click()
    expect(part(opened, "target")).not_to_have_text(before, timeout=LIMIT)
    step = bartviz.decode(translator, TEXT).steps[1]  # the first one is set by a rule: it is no word
    forced = bartviz.decode(translator, TEXT, force={1: step.candidates[1].token_id})
    expect(part(opened, "target")).to_have_text(str(forced.target_text))


def test_bert_reads_two_texts_and_a_word_becomes_a_gap(opened: Page) -> None:
    part(opened, "records").get_by_role("button").nth(1).click()
    part(opened, "more-said").click()
    part(opened, "text").fill("The man went home.")
    part(opened, "pair").fill("He was tired.")
    part(opened, "run").click()
    expect(part(opened, "source")).to_have_text("The man went home. · He was tired.", timeout=LIMIT)
    record = bartviz.capture(engine.shipped("bert-tiny-en"), "The man went home.", pair="He was tired.")
    weights = opened.evaluate("""async () => (await (await bartviz.load(1)).capture("The man went home.",
        { pair: "He was tired." })).head("encoder", 1, 0)""")
    assert np.abs(np.array(weights) - record.attention("encoder").head(1, 0)).max() < 1e-4
    part(opened, "ribbons").locator(".below .word", has_text="tired").click()
    part(opened, "mask-word").click()
    expect(part(opened, "source")).to_have_text("The man went home. · He was [MASK].", timeout=LIMIT)
    expect(part(opened, "gaps").get_by_role("button").first).to_be_visible()
    assert "pair=He+was" in opened.url


def test_a_saved_record_opens_in_python(opened: Page, translator: Model, tmp_path: Path) -> None:
    run(opened, TEXT)
    with opened.expect_download() as download:
        part(opened, "save").click()
    download.value.save_as(tmp_path / "saved.safetensors")
    record = bartviz.open(tmp_path / "saved.safetensors")
    assert record.sound
    assert record.target_text == bartviz.decode(translator, TEXT).target_text


def test_a_link_has_the_text_and_what_was_silenced(opened: Page, chrome: Browser) -> None:
    run(opened, TEXT)
    part(opened, "silence").click()
    expect(part(opened, "restore")).to_be_enabled()
    opened.wait_for_url("**without=cross+L3H1**")
    link, target = opened.evaluate("location.href"), part(opened, "target").inner_text()
    again = opened.context.new_page()
    again.goto(link)
    expect(part(again, "source")).to_have_text(TEXT, timeout=LIMIT)
    expect(part(again, "target")).to_have_text(target)
    expect(part(again, "restore")).to_be_enabled()


@pytest.mark.some("reads at most 128")
@pytest.mark.parametrize(("text", "said"), [(" ", "Type a text first."), ("word " * 200, "reads at most 128")])
def test_a_text_that_cannot_be_read_is_refused(text: str, said: str, opened: Page) -> None:
    run(opened, TEXT)
    part(opened, "text").fill(text)
    part(opened, "run").click()
    expect(part(opened, "state")).to_contain_text(said, timeout=LIMIT)
    expect(part(opened, "source")).to_have_text(TEXT)


def test_a_file_that_was_cut_says_so_and_shows_what_was_recorded(chrome: Browser, file: Path, tmp_path: Path) -> None:
    whole = file.read_bytes()
    cut = tmp_path / "cut.html"
    cut.write_bytes(whole[: whole.index(b'id="model-0"') + 4_000_000])
    page = chrome.new_page()
    page.goto(cut.as_uri())
    expect(part(page, "state")).to_contain_text("damaged", timeout=LIMIT)
    expect(part(page, "source")).to_have_text("I want to buy a car.")
    page.close()


@pytest.mark.some(1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_on_a_phone(scheme: str, chrome: Browser, file: Path) -> None:
    context = chrome.new_context(
        viewport={"width": 390, "height": 844},
        color_scheme="dark" if scheme == "dark" else "light",
        offline=True,
        bypass_csp=True,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(file.as_uri())
    page.locator("html[data-ready]").wait_for(state="attached")
    run(page, TEXT)
    part(page, "rank").click()
    expect(part(page, "ranking").locator("li").first).to_be_visible(timeout=LIMIT)
    page.add_script_tag(path=AXE)
    found = page.evaluate(RUN)
    assert found == [], found
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


STRANGE = """<!doctype html><html lang="ko"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none';
 script-src 'self' 'nonce-own' 'wasm-unsafe-eval'; worker-src blob:; connect-src 'self'; style-src 'nonce-own'">
<style nonce="own">html { font-size: 40px; } * { color: red !important; font-family: serif; letter-spacing: 9px; }
 header, main, div { display: inline !important; background: yellow; } body { line-height: 3; }</style></head>
<body><header>Mine</header><main><div id="picture"></div></main><script type="module" nonce="own">
import { load, names, show } from "./site/bartviz.js";
const model = await load("bart-tiny-en-de"), element = document.getElementById("picture");
const record = await model.capture("The teacher wrote a letter to his friend.", { ablate: ["cross L3H1"] });
globalThis.chosen = [];
element.addEventListener("bartviz", ({ detail }) => chosen.push(detail));
globalThis.view = show(record, element, { kind: "cross", layer: 2, head: 5 });
await view.drawn;
globalThis.made = { names, rows: await record.head("cross", 2, 5), written: record.written };
document.body.dataset.ready = "yes";
</script></body></html>"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A host of static files, with a folder of models and a page that is not ours."""
    folder = tmp_path_factory.mktemp("host")
    bartviz.load("bart-tiny-en-de").save(folder / "site")
    (folder / "strange.html").write_text(STRANGE, "utf-8")
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def strange(chrome: Browser, host: str) -> Iterator[Page]:
    page, wrong = chrome.new_page(viewport={"width": 1000, "height": 900}), list[str]()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.goto(f"{host}/strange.html")
    page.locator("body[data-ready]").wait_for(state="attached", timeout=LIMIT)
    yield page
    page.close()
    assert [one for one in wrong if "favicon" not in one] == []


def test_a_page_of_others_runs_a_model_and_shows_its_explorer(strange: Page, translator: Model) -> None:
    record = bartviz.decode(translator, TEXT, ablate=["cross L3H1"])
    made = strange.evaluate("made")
    assert made["names"] == ["bart-tiny-en-de"]
    assert made["written"] == record.target_text
    assert np.abs(np.array(made["rows"]) - record.attention("cross").head(2, 5)).max() < 1e-4
    picture = strange.locator("#picture")
    expect(picture.locator("[data-is=target]")).to_have_text(str(record.target_text))
    expect(picture.locator("article")).to_have_attribute("lang", "ko")
    strange.evaluate("view.go({ kind: 'encoder', layer: 1, head: 2, row: 3 })")
    expect(picture.locator("[data-is=kinds] [aria-pressed=true]")).to_have_attribute("value", "encoder")
    chosen = strange.evaluate("chosen.at(-1)")
    assert {name: chosen[name] for name in ("kind", "layer", "head", "row")} == {
        "kind": "encoder",
        "layer": 1,
        "head": 2,
        "row": 3,
    }
    strange.evaluate("view.end()")
    assert picture.inner_html() == ""


def test_styles_of_a_page_of_others_and_of_the_picture_do_not_meet(strange: Page) -> None:
    looks = """(node) => { const { color, fontFamily, letterSpacing, fontSize, display } = getComputedStyle(node);
        return { color, fontFamily, letterSpacing, fontSize, display }; }"""
    title = strange.locator("#picture [data-is=kind-said]").evaluate(looks)
    assert title["color"] != "rgb(255, 0, 0)"
    assert title["letterSpacing"] == "normal"
    assert title["fontSize"] == "15px"
    assert "serif" not in title["fontFamily"].replace("sans-serif", "")
    own = strange.locator("body > header").evaluate(looks)
    assert own["display"] == "inline"
    assert own["fontSize"] == "40px"
    assert strange.evaluate("[document.title, location.hash, document.documentElement.dataset.theme ?? '']") == [""] * 3


def test_another_token_in_a_page_of_others_is_another_record(strange: Page) -> None:
    before = strange.evaluate("view.record.written")
    other = strange.evaluate("view.record.steps[1].best[1].label")  # a rule sets the first one
    strange.locator("#picture [data-is=bars] li").nth(1).click()
    strange.wait_for_function("(before) => view.record.written !== before", arg=before)
    assert strange.evaluate("view.record.steps[1].label") == other


def test_a_model_that_is_not_there_is_refused_with_the_choices(opened: Page) -> None:
    said = opened.evaluate("Promise.resolve().then(() => bartviz.load('gpt')).catch(String)")
    assert said == 'RangeError: There is no model "gpt" here. Choose 0 or "bart-tiny-en-de", 1 or "bert-tiny-en".'


def test_a_second_text_is_refused_by_a_model_that_reads_one(opened: Page) -> None:
    said = opened.evaluate("""async () => (await bartviz.model).capture("A dog sleeps.", { pair: "It is late." })
        .catch(String)""")
    assert said == 'RangeError: bart-tiny-en-de reads one text: leave out "pair", which BERT and its relatives read.'


def test_a_record_of_a_script_is_shown_in_the_file(opened: Page) -> None:
    opened.evaluate("""async () => {
        const model = await bartviz.load("bart-tiny-en-de");
        globalThis.mine = await model.capture("A dog sleeps.", { beams: 2 });
        bartviz.show(mine); }""")
    expect(part(opened, "source")).to_have_text("A dog sleeps.")
    expect(part(opened, "text")).to_have_value("A dog sleeps.")
    run(opened, TEXT)
    assert opened.evaluate("mine.head('cross', 0, 0).then((rows) => rows.length)") > 2  # it is still the script's
    opened.evaluate("""() => { const element = document.createElement("div");
        document.body.append(element); return bartviz.show(mine, element).drawn; }""")
    expect(opened.locator("article.explorer h1 [data-is=source]")).to_have_text("A dog sleeps.")


def test_a_folder_reads_its_model_from_a_host(chrome: Browser, host: str) -> None:
    page = chrome.new_page()
    page.goto(f"{host}/site/")
    page.locator("html[data-ready]").wait_for(state="attached")
    run(page, "A dog sleeps.")
    page.close()


def test_silenced_heads_are_said_for_the_next_text_and_of_a_link(opened: Page, translator: Model) -> None:
    run(opened, TEXT)
    expect(part(opened, "silenced")).to_be_hidden()
    part(opened, "silence").click()
    expect(part(opened, "silenced")).to_contain_text("cross L3H1")
    run(opened, "I want to buy a car.")
    expect(part(opened, "silenced")).to_contain_text("cross L3H1")
    expect(part(opened, "changed")).to_contain_text(
        str(bartviz.decode(translator, "I want to buy a car.").target_text), timeout=LIMIT
    )
    opened.goto(opened.url.replace("without=cross+L3H1", "without=cross+L3H2,nonsense"))
    expect(part(opened, "silenced")).to_contain_text("cross L3H2", timeout=LIMIT)
    expect(part(opened, "state")).to_contain_text("nonsense", timeout=LIMIT)
    part(opened, "restore").click()
    expect(part(opened, "silenced")).to_be_hidden(timeout=LIMIT)


def test_the_first_picture_answers_to_a_candidate(opened: Page) -> None:
    expect(opened.locator(".bars li[role=button]").first).to_be_visible()
    before = part(opened, "target").inner_text()
    opened.locator(".bars li[role=button]:not(.chosen)").first.click()
    expect(part(opened, "target")).not_to_have_text(before, timeout=LIMIT)


def test_map_and_player_show_one_row_after_a_run(opened: Page, translator: Model) -> None:
    run(opened, TEXT)
    record = bartviz.decode(translator, TEXT)
    assert record.output is not None
    opened.wait_for_url("**row=**")
    row = int(parse_qs(urlsplit(opened.url).fragment)["row"][0])
    expect(opened.locator(".frame.current .name")).to_have_text(record.output.labels[row])


@pytest.mark.parametrize("height", [650, 800])
def test_no_part_of_the_player_lies_on_another(opened: Page, height: int) -> None:
    opened.set_viewport_size({"width": 1366, "height": height})
    run(opened, TEXT)
    over = opened.locator(".player .panel").evaluate_all(
        "all => all.filter((one) => one.scrollHeight > one.clientHeight + 6).map((one) => one.className)"
    )
    assert over == []


def test_a_given_output_that_cannot_be_read_is_what_is_named(opened: Page) -> None:
    run(opened, TEXT)
    part(opened, "more-said").click()
    for given, said in (("x " * 300, "The given output has"), (" \n", "Type a given output")):
        part(opened, "given").fill(given)
        part(opened, "run").click()
        expect(part(opened, "state")).to_contain_text(said, timeout=LIMIT)


def test_an_output_that_the_model_did_not_end_is_said_to_be_cut_off(opened: Page) -> None:
    """A text in a language that it has not learnt: it repeats itself."""
    text = "مرحبا يا صديقي 안녕하세요 😀"
    part(opened, "text").fill(text)
    part(opened, "run").click()
    expect(part(opened, "source")).to_have_text(text, timeout=LIMIT)
    expect(part(opened, "stop")).to_be_hidden(timeout=LIMIT)
    stopped, steps = opened.evaluate(f"""bartviz.model.then((model) => model.capture("{text}")).then(
        ({{ found, steps }}) => [found.stopped, steps.length])""")
    assert stopped == "length limit"
    assert steps == 127
    expect(part(opened, "state")).to_contain_text("after 127 tokens")


def test_a_link_in_an_open_page_fills_the_box(opened: Page) -> None:
    run(opened, TEXT)
    opened.evaluate("location.hash = '#text=It+is+late.'")
    expect(part(opened, "source")).to_have_text("It is late.", timeout=LIMIT)
    expect(part(opened, "text")).to_have_value("It is late.")


IN_VAIN = {
    'capture("It is late.", { ablate: ["cross L9H9"] })': "RangeError: There is no cross L9H9 in bart-tiny-en-de",
    'capture("It is late.", { ablate: "cross L2H5" })': "TypeError: ablate is a list of heads",
    'capture("It is late.", { beam: 3 })': 'TypeError: There is no option "beam"',
    'capture("It is late.", { beams: 0 })': "RangeError: beams is a whole number",
    "capture(5)": "TypeError: capture(text, options)",
    'capture("It is late.").then((one) => one.inside("cross", 2, 5, 99))': "RangeError: There is no row 99",
    'capture("It is late.").then((one) => (one.forget(), one.head("cross", 2, 5)))': "Error: This record was",
}


def test_what_a_script_asks_in_vain_is_answered(opened: Page) -> None:
    for asked, said in IN_VAIN.items():
        found = opened.evaluate(f"bartviz.model.then((model) => model.{asked}).then(() => '', String)")
        assert found.startswith(said), asked


def test_a_model_without_an_output_layer_says_so(chrome: Browser, tmp_path: Path) -> None:
    model = bartviz.load("bert-tiny-en")
    headless = bartviz.wrap(model.network.base_model, model.tokenizer, name="encoder")
    live.save([headless], tmp_path / "encoder.html")
    context = chrome.new_context(viewport={"width": 1366, "height": 900}, offline=True)
    page, wrong = context.new_page(), list[str]()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto((tmp_path / "encoder.html").as_uri())
    page.locator("html[data-ready]").wait_for(state="attached")
    run(page, "The man went home.")
    expect(part(page, "silence-said")).to_contain_text("predicts no tokens")
    expect(part(page, "rank")).to_be_disabled()
    part(page, "silence").click()
    expect(part(page, "silenced")).to_contain_text("encoder L", timeout=LIMIT)
    assert not wrong
    context.close()
