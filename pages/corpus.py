"""What does each head do over a corpus of texts? Every head: interval, distribution, examples, passport."""

from bartviz.features.corpus import page

page.main()
