"""What stands around every page: navigation, sidebar, level, language, status, the lessons' strip."""
