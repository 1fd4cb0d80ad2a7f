"""The parts of the page alignment."""
