"""Run a text again with a change: heads silenced, tokens replaced, weights untrained. Imports run."""
