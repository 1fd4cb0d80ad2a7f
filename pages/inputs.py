"""What does the model get to see? From text to ids, and to the sum that the first layer reads."""

from bartviz.features.inputs import page

page.main()
