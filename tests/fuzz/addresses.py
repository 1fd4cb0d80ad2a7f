"""Pages opened by addresses that no clicks produce."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random

from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from bartviz.app.frame import page_list
from bartviz.serving import first_record, torch_import
from tests.support import stand_in

ROOT = Path(__file__).parents[2]
SAID = (
    *("", " ", "x" * 5000, "9" * 400, "\0", "\u2028", "<script>alert(1)</script>", "한글", "%00", "👩\u200d👧"),
    *(
        "0",
        "1",
        "-1",
        "3",
        "99",
        "2.5",
        "1e999",
        "-inf",
        "nan",
        "true",
        "False",
        "{}",
        "None",
        "../../etc",
        "a,b",
        "0-0",
    ),
    *("encoder", "decoder", "cross", "reads", "predicts", "weights", "matrix", "model", "head", "all", "words", "ko"),
    *("cross L0H0", "cross L99H99", "L1H2", "0-0 1-1 3-9", "1?2", "I want to buy a car.", "beginner", "advanced"),
)
KEY = re.compile(r'\bkey="([a-z_]+)"|query_params\.get(?:_all)?\("([a-z_]+)"|^[A-Z_]+ = "([a-z_]+)"', re.MULTILINE)


class Visits:
    """A visitor with a record, at whatever address."""

    def __init__(self) -> None:
        torch_import.warm_up = lambda *_given: None
        torch_import.imported = lambda: False
        found = cache(manifest_scanner.scan_component_manifests)
        manifest_scanner.scan_component_manifests = found
        record = stand_in.record()
        first_record.record = lambda: record
        source = "".join(
            file.read_text("utf-8")
            for room in ("app", "features")
            for file in sorted((ROOT / "bartviz" / room).rglob("*.py"))
        )
        words = KEY.findall(source)
        self.keys = sorted({word for found in words for word in found if word})
        self.words = sorted(set(re.findall(r'"([a-z][a-z-]{1,20})"', source)))

    def visit(self, random: Random) -> None:
        """Open a page, and go on to another. Raises what the page raised."""
        page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
        for _ in range(random.choice((1, 3, 10, len(self.keys)))):
            said = random.choice(SAID) if random.random() < 0.7 else random.choice(self.words)
            page.query_params[random.choice(self.keys)] = [said, random.choice(SAID)] if random.random() < 0.1 else said
        page.query_params.pop("model", None)  # another model would be looked for in the network
        for entry in random.sample(page_list.PAGES, 2):
            page.switch_page(str(entry.file)).run()
            if page.exception:
                raise AssertionError(f"{entry.file}: {page.exception[0].value} {page.exception[0].stack_trace}")
