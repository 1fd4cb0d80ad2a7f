"""A text through a model again, changed: heads silenced, tokens exchanged, weights untrained. Imports run."""
