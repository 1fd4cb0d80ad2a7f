"""A page in a browser that has come to rest."""

from __future__ import annotations

from playwright.sync_api import Page

# Nothing more will change by itself: the script has run (what every page has is there) and no run is on its way, no
# work that could be cancelled goes on, nothing waits to be said, controls and fonts have come, every component's script
# has run, and pictures have their size. All in the page's own time: a rest of 400 ms ends after every timer of ours
# that was set before, however slow the page is (the player's is the longest, 350 ms); and when the server answers for
# the second time it has heard all that was said to it before.
STILL = """(app) => {
    const has = (name) => document.querySelector(`[data-testid=${name}]`) !== null;
    const begun = () => [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")].every(
        ({ shadowRoot }) => shadowRoot?.childElementCount && !shadowRoot.querySelector("[aria-busy=true]"));
    return app?.isConnected && app.dataset.testConnectionState === "CONNECTED" &&
        app.dataset.testScriptState === "notRunning" && document.fonts.status === "loaded" &&
        (has("stBidiComponentIsolated") || has("stException")) && begun() && !has("stSkeleton") &&
        document.querySelector("[class*=st-key-cancel]") === null;
}"""
SETTLED = """async () => {
    const rest = (time) => new Promise((done) => setTimeout(done, time)), still = STILL;
    const places = () => JSON.stringify([...document.querySelectorAll(".js-plotly-plot .nsewdrag, iframe")].map(
        (picture) => picture.getBoundingClientRect()));
    const settled = async () => {
        const app = document.querySelector("[data-testid=stApp]"), before = places(), runs = [];
        if (!still(app)) return false;
        const watch = new MutationObserver(() => runs.push(app.dataset.testScriptState));
        watch.observe(app, { attributes: true, attributeFilter: ["data-test-script-state"] });
        await rest(400);
        for (const time of [0, 50]) await rest(time).then(() => fetch("/_stcore/health", { cache: "no-store" }));
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        watch.disconnect();
        return still(app) && runs.length === 0 && places() === before;
    };
    while (!(await settled())) await rest(30);  // here: Playwright asks an async function once, and takes any answer
    return true;
}""".replace("STILL", STILL)


def settle(page: Page) -> None:
    """Wait until the server sends nothing more, and assert that it sent no error."""
    page.wait_for_function(SETTLED)
    assert page.get_by_test_id("stException").count() == 0, page.get_by_test_id("stException").all_inner_texts()
