"""The fixtures of pages."""

from tests.support.pages import app, in_order, no_legacy_pages, nothing_kept, one_scan, own_main, there

__all__ = ["app", "in_order", "no_legacy_pages", "nothing_kept", "one_scan", "own_main", "there"]
