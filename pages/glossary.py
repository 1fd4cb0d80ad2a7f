"""What do these words mean? Every term that the pages use, to look up."""

from bartviz.features.glossary import page

page.main()
