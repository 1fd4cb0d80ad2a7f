"""Patterns of attention: a small language for which token looks at which, and its masks. NumPy alone.

``grammar`` reads a pattern, ``nodes`` are what it is made of, and ``pair`` is what it knows of the tokens of a text.
docs/patterns.md describes the language; ``analysis.pattern_masks`` applies a pattern to a record.
"""
