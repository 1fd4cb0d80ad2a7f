"""A picture that moves: the steps of a decoding, one after the other, from the running app."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser

from scripts.settled import settle

STEPS = 8  # of the sentence that the app begins with
PACE, REST = 1100, 2600  # milliseconds of a step, and of the last one
LEFT, TOP, WIDTH, HEIGHT = 345, 236, 957, 492  # pixels: the player, without what stands around it


def steps(browser: Browser, address: str, file: Path) -> None:
    """Write an animated WebP without loss, which begins again at its end."""
    pictures = []
    for step in range(1, STEPS + 1):
        page = browser.new_page(viewport={"width": 1366, "height": 768}, reduced_motion="reduce")
        page.goto(f"{address}/decoding?step={step}")
        settle(page)
        shot = page.screenshot(clip={"x": LEFT, "y": TOP, "width": WIDTH, "height": HEIGHT})
        pictures.append(Image.open(BytesIO(shot)).convert("RGB"))
        page.close()
    durations = [PACE] * (STEPS - 1) + [REST]
    first, *others = pictures
    first.save(
        file, save_all=True, append_images=others, duration=durations, loop=0, lossless=True, quality=100, method=6
    )
