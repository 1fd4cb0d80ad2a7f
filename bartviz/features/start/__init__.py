"""Start: numbers, figures, and the page."""
