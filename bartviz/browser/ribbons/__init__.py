"""Two lines of words with ribbons between them, for any host; the start page shows them first."""
