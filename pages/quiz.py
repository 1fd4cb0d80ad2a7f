"""What have you understood? Questions made from the current text and model, one at a time."""

from bartviz.features.quiz import page

page.main()
