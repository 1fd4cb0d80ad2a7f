"""Settings from the environment: used, or refused with their name."""

from __future__ import annotations

import pytest

from bartviz.errors import SettingError
from bartviz.serving.limits import Limits, device

NAMES = ("BARTVIZ_MODEL_MB", "BARTVIZ_RECORD_MB")


def test_ours_where_nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    assert Limits.read() == Limits()


def test_what_is_set_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in zip(NAMES, ("500", " 64 "), strict=True):
        monkeypatch.setenv(name, value)
    found = Limits.read()
    assert found == Limits(model_mb=500, record_mb=64)
    assert (found.upload_mb, found.uploads_mb) == (2, 32)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", ["-1", "0", "abc", "1e12", "1000000000000", "1.5", "٣", "NaN"])
def test_a_senseless_value_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingError, match=f"{name} must be a whole number from 1 to 1,000,000") as told:
        Limits.read()
    assert "abc" not in str(told.value)


def test_models_compute_on_the_device_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BARTVIZ_DEVICE", raising=False)
    assert device() == "cpu"
    monkeypatch.setenv("BARTVIZ_DEVICE", " cuda:1 ")
    assert device() == "cuda:1"
