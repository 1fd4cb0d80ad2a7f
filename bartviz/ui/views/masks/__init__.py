"""The parts of the page masks."""
