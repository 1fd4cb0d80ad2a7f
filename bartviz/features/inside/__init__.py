"""Inside: numbers, figures, and the page."""
