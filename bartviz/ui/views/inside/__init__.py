"""The parts of the page inside."""
