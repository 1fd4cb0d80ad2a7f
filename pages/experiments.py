"""What changes if ...? Silence heads, change a token, and follow how far a change reaches in one step."""

from bartviz.features.experiments import page

page.main()
