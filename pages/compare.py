"""Which heads do the same, which differ? All heads by any two measures, and two of them side by side."""

from bartviz.features.compare import page

page.main()
