"""How are heads born? A small network that learns before the reader's eyes."""

from bartviz.features.born import page

page.main()
