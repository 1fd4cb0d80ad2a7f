"""The corpus page: every head over a corpus, and the passport of one of them."""
