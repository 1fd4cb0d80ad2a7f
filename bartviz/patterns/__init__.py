"""Patterns of attention: a small language for which token looks at which, and its masks. NumPy alone.

``grammar`` reads a pattern, ``nodes`` are what it is made of, ``pair`` is what it knows of the tokens of a text, and
``evidence`` says how sure it is that a head follows it. docs/patterns.md describes the language.
"""
