"""Network addresses, the hub's among them. The hub's library cannot be imported while HF_ENDPOINT is not an address."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from bartviz.errors import ModelError
from bartviz.language import later


def host_port(url: str) -> tuple[str, int] | None:
    """Host and port of an address, or None if it is invalid."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:  # a port beyond 65535, a bracket that is not closed
        return None
    return None if not parts.hostname else (parts.hostname, port)


def check_hub() -> None:
    """Raise ModelError for an HF_ENDPOINT with which the hub's library cannot be imported."""
    address = os.environ.get("HF_ENDPOINT", "")
    if "//" in address and host_port(address) is None:
        raise no_hub()


def no_hub() -> ModelError:
    """The error for an HF_ENDPOINT that is not an address."""
    return ModelError(later("HF_ENDPOINT must be the hub's address, beginning with https:// or http://."))
