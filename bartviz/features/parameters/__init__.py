"""Parameters: numbers, figures, and the page."""
