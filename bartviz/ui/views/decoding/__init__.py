"""The parts of the page decoding."""
