"""What does a language model look at? The saved record at once, or the visitor's own run."""

from bartviz.features.start import page

page.main()
