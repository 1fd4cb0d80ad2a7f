"""How is each word chosen? The steps of one output, played in the browser."""

from bartviz.features.decoding import page

page.main()
