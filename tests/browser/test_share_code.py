"""The code that fills the screen: a camera at the back of a room reads it, and Escape closes it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, Playwright, expect

from scripts.serving import CHROMIUM, QUIET, free_port, health, running
from scripts.settled import settle

pytestmark = pytest.mark.thorough
NAME = "room.test"  # a name that others could open: there is no code for an address of this computer alone


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory, stand_in_file: str) -> Iterator[str]:
    log: Path = tmp_path_factory.mktemp("room") / "server.log"
    port = free_port()
    command = [sys.executable, "-m", "bartviz", "app", "--port", str(port), "--allow", NAME]
    environment = {"HF_HUB_OFFLINE": "1", "BARTVIZ_RECORD": stand_in_file}
    with running(command, lambda: health(f"http://127.0.0.1:{port}", 2) is not None, log, environment=environment):
        yield f"http://{NAME}:{port}"


@pytest.fixture(scope="module")
def outside(playwright: Playwright) -> Iterator[Browser]:
    """A browser for which that name is this computer."""
    rules = f"--host-resolver-rules=MAP {NAME} 127.0.0.1"
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*QUIET.split(), rules])
    yield browser
    browser.close()


def photograph(page: Page, *, away: int = 1) -> tuple[str, float]:
    """What a camera reads from the screen, made smaller by ``away``, and the height of the code's modules as a share of
    the screen's."""
    import zxingcpp  # of developers alone: without it this fails, and no other test

    shot = Image.open(BytesIO(page.screenshot())).convert("L")
    [code] = zxingcpp.read_barcodes(shot.reduce(away))
    corners = code.position
    return code.text, (corners.bottom_left.y - corners.top_left.y) * away / shot.height


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1920, 1080)])
@pytest.mark.parametrize(("path", "opens"), [("heads?layer=2&head=3", "share"), ("quiz?quiz_seed=12", "quiz_class")])
def test_the_code_fills_the_screen_and_is_the_link(
    outside: Browser, room: str, path: str, opens: str, width: int, height: int
) -> None:
    with outside.new_context(viewport={"width": width, "height": height}, color_scheme="dark") as context:
        page = context.new_page()
        page.goto(f"{room}/{path}")
        settle(page)
        if opens == "share":
            page.get_by_role("button", name="Share").click()
        else:
            page.get_by_role("button", name="For a class").click()
        shown = page.get_by_role("textbox", name="Link to this page")
        expect(shown).to_be_visible()
        settle(page)
        link = shown.input_value()
        page.locator(f".st-key-{opens}_large button").click()
        code = page.locator(".bv-code")
        expect(code).to_be_visible()
        settle(page)
        for away in (1, 2):
            text, share = photograph(page, away=away)
            assert text == link
            assert share >= 0.6
        page.keyboard.press("Escape")
        expect(code).to_be_hidden()
