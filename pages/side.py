"""BERT and BART side by side: the same text in an encoder, and in an encoder with a decoder."""

from bartviz.features.side import page

page.main()
