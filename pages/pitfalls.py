"""How can attention fool us? Five pitfalls, each computed from the current text."""

from bartviz.features.pitfalls import page

page.main()
