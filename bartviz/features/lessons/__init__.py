"""The lessons: their steps, and the facts in them computed from records."""
