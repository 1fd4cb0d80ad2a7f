"""A test in a browser that fails is tried once more; if it passes then, the summary names it as flaky."""

from __future__ import annotations

import pytest
from _pytest.runner import runtestprotocol

FLAKY = "flaky"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    if item.get_closest_marker("browser") is None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    if any(report.failed for report in reports):
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        if not any(report.failed for report in reports):
            reports[-1].user_properties.append((FLAKY, item.nodeid))  # which xdist hands on
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for reports in terminalreporter.stats.values():
        for report in reports:
            name = dict(getattr(report, "user_properties", ())).get(FLAKY)
            if name:
                terminalreporter.write_line(f"flaky: {name} (passed on the second try)", yellow=True)
