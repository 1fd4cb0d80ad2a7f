"""Where do I begin? Guided tours over the pages of the app."""

from bartviz.features.lessons import page

page.main()
