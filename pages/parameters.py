"""Where are the parameters? From its configuration alone: every matrix, and what length costs."""

from bartviz.features.parameters import page

page.main()
