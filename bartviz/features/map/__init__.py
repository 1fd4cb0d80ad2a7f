"""The map of the model: numbers, and the page."""
