"""Bounded memory, the one logger, and faults of other libraries as our errors. Imports errors and language alone."""
