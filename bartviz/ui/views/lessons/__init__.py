"""The parts of the page lessons."""
