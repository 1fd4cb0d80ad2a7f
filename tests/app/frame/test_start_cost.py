"""The cost of the first picture, in its own process: imports and memory."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support import stand_in
from tests.support.process import printed

SCRIPT = """
import json, sys
from pathlib import Path
from streamlit.testing.v1 import AppTest
from bartviz.serving import torch_import

torch_import.warm_up = lambda delay: None  # it would begin only after the first picture had its time
page = AppTest.from_file("app.py", default_timeout=120).run()
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
heavy = sorted({"torch", "transformers", "pandas", "pyarrow", "plotly.graph_objs._figure"} & set(sys.modules))
print(json.dumps({"errors": len(page.exception), "titles": [title.value for title in page.title],
                  "pictures": len(page.get("bidi_component")), "heavy": heavy, "peak": status["VmHWM"]}))
"""
MOST = 150  # MB


@pytest.mark.slow
def test_the_first_picture_needs_no_torch_and_little_memory(tmp_path: Path) -> None:
    file = tmp_path / "start.safetensors"
    stand_in.record().save(file)
    found = json.loads(printed(SCRIPT, os.environ | {"BARTVIZ_RECORD": str(file)}).splitlines()[-1])
    assert found["errors"] == 0
    assert found["titles"] == ["What does a language model look at?"]
    assert found["pictures"] >= 1
    assert found["heavy"] == []
    assert int(found["peak"].split()[0]) / 1024 <= MOST
