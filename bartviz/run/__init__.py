"""A text through a model: one pass or a decoding, and the Record of it. Imports models and the rooms below."""
