"""Which sentences of the textbooks hold? Every statement of the source articles, next to computed numbers."""

from bartviz.features.textbook import page

page.main()
