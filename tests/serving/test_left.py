"""What visitors have left behind is let go when others need the room, in a real server."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from scripts.serving import served
from scripts.visitor import visitor, wait_for

PROBE = """
import sys, weakref
sys.path.insert(0, {root!r})
from bartviz.serving import engine
if not hasattr(engine, "made"):
    engine.made, record = [], engine.record
    def watched(*given, **named):
        made = record(*given, **named)
        engine.made.append(weakref.ref(made))
        return made
    engine.record = watched
import streamlit as st
exec(compile(open({app!r}).read(), "app.py", "exec"))
alive = sum(one() is not None for one in engine.made)
st.html(f"<p>made {{len(engine.made)}}, alive {{alive}}</p>")
"""
ROOT = Path(__file__).parents[2]
VISITORS = 8


async def _all(address: str) -> list[tuple[int, int]]:
    found = []
    for number in range(VISITORS):
        query = f"text=I+have+{number}+books+and+a+dog.&model=bart-tiny-en-de"
        async with visitor(address, query=query) as one:
            await one.until(lambda said: "class='bv-status'" in said)
            said = re.search(r"made (\d+), alive (\d+)", (await one.run()).text)
            assert said is not None
            found.append((int(said[1]), int(said[2])))
        await asyncio.sleep(0.3)
    return found


@pytest.mark.thorough
@pytest.mark.slow
def test_records_of_visitors_who_left_are_evicted(tmp_path: Path) -> None:
    script = tmp_path / "probe.py"
    script.write_text(PROBE.format(root=str(ROOT), app=str(ROOT / "app.py")), encoding="utf-8")
    with served(script=str(script), BARTVIZ_RECORD_MB="1") as (address, _process):
        found = wait_for(_all(address))
    assert [made for made, _alive in found] == list(range(1, VISITORS + 1))
    assert max(alive for _made, alive in found) <= 4  # two or three in a megabyte, and the one that is new
