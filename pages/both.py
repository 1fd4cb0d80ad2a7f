"""BERT and BART side by side: the same text in an encoder, and in an encoder with a decoder."""

from bartviz.features.both import page

page.main()
