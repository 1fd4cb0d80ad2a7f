"""The web app: page title, navigation, and the sidebar that all pages share."""

from bartviz.ui import page

navigation = page.frame()
navigation.run()
