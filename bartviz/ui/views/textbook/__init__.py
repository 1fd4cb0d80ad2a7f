"""The parts of the page textbook."""
