"""Who may see whom? The model's own masks for this text, a padded batch, other patterns, about 0 or exactly 0."""

from bartviz.features.masks import page

page.main()
