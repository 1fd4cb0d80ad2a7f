"""Can it repair what was lost? The five noise functions of BART, and how a model repairs a corrupted text."""

from bartviz.features.denoising import page

page.main()
