"""What happens inside one head? One query token, every number from its query to what the head adds."""

from bartviz.features.inside import page

page.main()
