"""Inputs: numbers, figures, and the page."""

# What is looked at -> the word of its explanation.
EXPLAINED = {
    "pieces": "inputs",
    "sum": "sum",
    "positions": "positions",
    "tokenizers": "tokenizers",
    "contexts": "contexts",
}
