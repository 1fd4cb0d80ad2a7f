"""Bounded memory, the logger, and errors of other libraries as our own. Imports only errors and language."""
