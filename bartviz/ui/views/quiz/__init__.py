"""The parts of the page quiz."""
