"""The parts of the page parameters."""
