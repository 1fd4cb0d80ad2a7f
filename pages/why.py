"""Why this word? From a word that the model writes or fills in back to the words that it read, by several methods."""

from bartviz.features.why import page

page.main()
