"""What a browser loads first: pages with our style, scripts compressed once, and the rest as Streamlit answers it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from bartviz.app.frame import assets, levels, page_hooks, page_list
from bartviz.app.frame.assets import Assets
from bartviz.drawing import colors
from bartviz.lazy import FEATURES
from scripts.visitor import wait_for

SCRIPT = b"let long = 1;\n" * 500
BROWSER = {"accept": "text/html,application/xhtml+xml", "accept-encoding": "gzip, br"}


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def app(tmp_path: Path, asked: list[str]) -> Assets:
    (tmp_path / "style.css").write_text(".bv-lead { margin: 0; }", "utf-8")
    (tmp_path / "long.js").write_bytes(SCRIPT)

    async def page(_: Request) -> Response:
        return HTMLResponse("<html><head></head><body>a page</body></html>", headers={"etag": '"1"'})

    async def script(request: Request) -> Response:
        asked.append(request.url.path)
        return FileResponse(tmp_path / "long.js", media_type="text/javascript")

    async def short(_: Request) -> Response:
        return Response("1", media_type="text/javascript")

    async def missing(_: Request) -> Response:
        return HTMLResponse("<html><head></head>no</html>", 404)

    async def data(_: Request) -> Response:
        return JSONResponse({"well": True})

    routes = [
        Route("/", page),
        Route("/media/figure.html", page),
        Route("/static/long.js", script),
        Route("/static/short.js", short),
        Route("/static/none.js", missing),
        Route("/data", data),
    ]
    return Assets(Starlette(routes=routes), [tmp_path / "style.css"])


def get(app: Any, path: str, headers: dict[str, str]) -> httpx.Response:
    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
            return await client.get(path, headers=headers)

    return wait_for(ask())


def test_the_place_of_the_sidebar_is_kept_only_where_it_opens() -> None:
    state = pytest.importorskip("bartviz.features.lessons.parts_lesson_state")
    assert state.LESSON == page_hooks.LED
    script = Assets(Starlette())._locate("/heads")
    opens = json.loads(script[script.index("[") : script.index(".includes")])
    assert "" in opens  # the start page's address
    assert all((page.word in opens) <= page.run for page in page_list.PAGES)


def test_a_page_is_a_beginners_until_its_address_asks_for_more() -> None:
    script = Assets(Starlette())._locate("/heads")
    asked = script[script.index("bv-levelled") :]
    above = json.loads(asked[asked.index("[") : asked.index(".includes")])
    assert [levels.DEFAULT, *above] == list(levels.LEVELS)
    assert f"get({json.dumps(levels.KEY)})" in asked


def test_what_features_show_first_stands_before_the_style_of_all_pages() -> None:
    first, *of_features, style, last = assets.STYLES
    assert [first.name, style.name, last.name] == ["first.css", "style.css", "levels.css"]
    assert set(of_features) == set(FEATURES.glob("*/first.css")) != set()


def test_the_style_stands_at_the_end_of_a_page_and_its_tag_is_gone(app: Assets) -> None:
    answer = get(app, "/", BROWSER | {"if-none-match": '"1"'})
    assert answer.status_code == 200
    style = f"<style>{colors.variables()}\n.bv-lead {{ margin: 0; }}</style>"
    assert answer.text.endswith(f"<body>a page{style}</body></html>")
    assert "etag" not in answer.headers
    assert int(answer.headers["content-length"]) == len(answer.content)


@pytest.mark.parametrize(
    ("base", "path", "page"),
    [
        ("", "/", '"/"'),
        ("", "/heads", '"/heads"'),
        ("bart", "/bart/", '"/"'),
        ("/a/b/", "/a/b/heads", '"/heads"'),
        ("", "/no/page", None),
        ("bart", "/heads", None),
        ("", "/</script>", None),
    ],
)
def test_a_page_says_where_the_server_is(
    base: str, path: str, page: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(assets, "get_option", {"server.baseUrlPath": base}.__getitem__)
    (tmp_path / "style.css").touch()
    every = Route("/{path:path}", lambda _: HTMLResponse("<html><head></head><body></body></html>"))
    text = get(Assets(Starlette(routes=[every]), [tmp_path / "style.css"]), path, BROWSER).text
    assert text.count("<script>") == text.count("BACKEND_BASE_URL") == (page is not None)
    assert page is None or f"const page = {page}," in text


def test_every_element_that_comes_early_is_a_script_that_streamlit_has(app: Assets) -> None:
    from bartviz.app.streamlit_internals import SCRIPTS

    links = get(app, "/", BROWSER).text.split('href="./static/js/')[1:]
    names = [link.split('"')[0] for link in links]
    assert {name.split(".")[0] for name in names} >= {"Html", "PageLink", "BidiComponent"}
    assert all((SCRIPTS / name).is_file() for name in names)


def test_a_script_is_compressed_once(app: Assets, asked: list[str]) -> None:
    first, second = (get(app, "/static/long.js", {"accept-encoding": "gzip"}) for _ in range(2))
    assert first.content == second.content == SCRIPT  # as the client unpacks it
    assert first.headers["content-encoding"] == "gzip"
    assert int(first.headers["content-length"]) == len(gzip.compress(SCRIPT, 6, mtime=0)) < len(SCRIPT) / 10
    assert first.headers["vary"] == "Accept-Encoding"
    assert asked == ["/static/long.js"]


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/static/long.js", {"accept-encoding": "identity"}),
        ("/static/short.js", {"accept-encoding": "gzip"}),
        ("/static/none.js", {"accept-encoding": "gzip"}),
        ("/data", BROWSER),
        ("/", {"accept": "*/*"}),
        ("/media/figure.html", BROWSER),
    ],
)
def test_everything_else_is_as_it_was_answered(app: Assets, path: str, headers: dict[str, str]) -> None:
    answer, plain = get(app, path, headers), get(app.app, path, headers)
    assert (answer.status_code, answer.content) == (plain.status_code, plain.content)
    assert "content-encoding" not in answer.headers
    assert answer.headers["content-type"] == plain.headers["content-type"]


@pytest.mark.parametrize("path", ["/static/long.js", "/"])
def test_a_browser_that_leaves_early_does_not_cut_what_others_get(app: Assets, path: str) -> None:
    """What is answered to the first is kept for all."""
    sent: list[bytes] = []

    async def leave() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))

    headers = [(name.encode(), value.encode()) for name, value in BROWSER.items()]
    scope = {"type": "http", "method": "GET", "path": path, "headers": headers, "query_string": b""}
    wait_for(app({**scope, "asgi": {"spec_version": "2.0"}, "scheme": "http", "server": ("here", 80)}, leave, send))
    answer = get(app, path, BROWSER)
    assert answer.content == SCRIPT if path != "/" else answer.text.endswith("</html>")
    whole = b"".join(sent)
    assert gzip.decompress(whole) == SCRIPT if path != "/" else whole.endswith(b"</html>")
