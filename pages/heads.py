"""Where does each word look? Every layer and head of the text, one of them large."""

from bartviz.features.heads import page

page.main()
