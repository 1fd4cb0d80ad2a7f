"""BERT and BART side by side: numbers, and the page."""
