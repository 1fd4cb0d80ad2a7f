"""What does a translating model look at? A saved record, drawn at once."""

from bartviz.ui import page

record = page.begin("start", needs_record=False)
