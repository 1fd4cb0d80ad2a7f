"""Why this word? From a word that a model writes, or fills in, back to the tokens that it reads, by several methods."""
