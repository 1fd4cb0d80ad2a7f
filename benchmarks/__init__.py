"""Ratios against the peers, side by side in one run. Not a test: figures, printed."""
