"""The parts of the page models."""
