"""Why this word? The numbers of a word that was written or filled in, and the page."""
