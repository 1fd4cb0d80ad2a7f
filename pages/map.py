"""The whole model as a map: where each part is, and what leaves it for the text at hand."""

from bartviz.features.map import page

page.main()
