"""Which word became which? Word links read from cross-attention, judged by hand, and the heads that align."""

from bartviz.features.alignment import page

page.main()
