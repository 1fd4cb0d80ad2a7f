"""The state of a session, its address, and a cache of computed values. Imports serving and below."""
