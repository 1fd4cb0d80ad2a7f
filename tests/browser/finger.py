"""Real touches in a browser: the browser itself decides whether a finger scrolls the page."""

from __future__ import annotations

from collections.abc import Sequence

from playwright.sync_api import Locator, Page

SCROLLED = "document.querySelector('[data-testid=stMain]').scrollTop"
RESTS = f"""() => new Promise((done) => {{
    let at = {SCROLLED}, still = 0;
    const look = () => {{
        still = {SCROLLED} === at ? still + 1 : 0;
        at = {SCROLLED};
        still < 12 ? requestAnimationFrame(look) : done(null);
    }};
    look();
}})"""
PRESS = 400  # milliseconds, longer than any press that a component waits for


def place_in(target: Locator, across: float, down: float) -> tuple[float, float]:
    """A place of the page, as shares of an element's width and height; the element is brought to the middle."""
    target.evaluate("node => node.scrollIntoView({ block: 'center' })")
    box = target.bounding_box()
    assert box is not None
    return box["x"] + box["width"] * across, box["y"] + box["height"] * down


def drag(page: Page, way: Sequence[tuple[float, float]], *, press: int = 0) -> None:
    """A finger that goes down at the first place, rests for milliseconds, and is lifted at the last."""
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        told = [{"x": x, "y": y} for x, y in points]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": told})

    touch("touchStart", way[0])
    page.wait_for_timeout(press)
    for place in way[1:]:
        touch("touchMove", place)
    touch("touchEnd")
    session.detach()


def swipe(page: Page, at: tuple[float, float], *, up: float) -> None:
    """A finger that goes up by so many pixels at once, as one that scrolls."""
    drag(page, [(at[0], at[1] - up * step / 10) for step in range(11)])
    page.evaluate(RESTS)  # it goes on for a moment, and what is touched next would not be where it was
