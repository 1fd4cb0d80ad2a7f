"""One folder for each thing that a reader meets: its numbers, figures, page, explanation, messages and style."""
