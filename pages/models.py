"""How do the models differ? Sizes, architecture, input and training side by side, from their configurations."""

from bartviz.features.models import page

page.main()
