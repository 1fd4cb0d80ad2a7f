"""The web app: page title, navigation, and the sidebar that all pages share."""

from bartviz.ui import lessons, page, sidebar

navigation = page.frame()
sidebar.draw()
navigation.run()
lessons.drawn()
