"""The parts of the page compare."""
