"""Sites that may show the app in a frame."""

from __future__ import annotations

import pytest

from bartviz.errors import SettingError
from bartviz.serving import framing


def test_no_other_site_may_frame_the_app_unless_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BARTVIZ_FRAME_ANCESTORS", raising=False)
    assert framing.headers(framing.sites()) == {
        "X-Frame-Options": "SAMEORIGIN",
        "Content-Security-Policy": "frame-ancestors 'self'",
    }


def test_sites_that_are_named_join_the_policy_and_the_old_header_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BARTVIZ_FRAME_ANCESTORS", " https://course.example,HTTPS://*.School.example:8443 ")
    assert framing.headers(framing.sites()) == {
        "Content-Security-Policy": "frame-ancestors 'self' https://course.example https://*.school.example:8443"
    }


@pytest.mark.parametrize(
    "value",
    [
        "course.example",
        "https://course.example/path",
        "*",
        "https://*",
        "'none'",
        "https://a.example; script-src *",
        "https://a.example\nSet-Cookie:x",
    ],
)
def test_what_is_no_site_is_refused_by_the_name_of_the_setting(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BARTVIZ_FRAME_ANCESTORS", value)
    with pytest.raises(SettingError, match="BARTVIZ_FRAME_ANCESTORS"):
        framing.sites()
