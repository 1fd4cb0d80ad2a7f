"""A training that is over, moment by moment, for any host: maps, curves, and what the model writes."""
