"""The parts of the page classic."""
